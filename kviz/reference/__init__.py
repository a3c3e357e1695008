"""What kviz explains: plugins, terms, yesterday's words, differences, events, documents.

Texts are YAML beside these modules, read by `form.py` against a schema. What the engine knows
(points, weights, order, events, defaults) is asked of it (`plugin_facts.py`), not written again.
"""
