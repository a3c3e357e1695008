"""The texts of the screens in other languages: catalogues in `locale/LANGUAGE/`, as PO files.

English is what is written in the templates, the Python code, the front end's
`frontend/src/base/text/en*.ts`, the glossary and the lessons; a catalogue holds each of these texts
and its translation. There is no other source: Django's compiled catalogue and the Explorer's texts
are made of them when kviz is set up. The catalogues of traditional Chinese are made of those of
simplified Chinese. `python -m kviz.catalogues update` brings new English texts into the written
ones; `check` says what is missing, stale or broken in any; `compile` makes the others, and what
Django reads.

A tool of the workbench: it needs Babel and OpenCC, which the running application does not.
"""
