"""Pages to read beside a text from elsewhere: section by section, where kviz shows it.

A page is a YAML file with rows (docs/lessons.md). `reading.py` is its form, `checking.py` holds it
against the engine, `library.py` knows which there are.
"""
