"""The ids of the glossary's terms in TypeScript, so that a misspelt one does not compile."""

from __future__ import annotations

from kviz.reference.glossary import english_glossary


def typescript() -> str:
    """Return the whole of `frontend/src/base/term-ids.ts`, which `npm run wire` writes."""
    ids = "".join(f'\n  | "{key}"' for key in english_glossary().terms)
    head = "// Generated from kviz/reference/glossary.yaml by `npm run wire`. Do not edit.\n"
    return f"{head}\nexport type TermId ={ids};\n"
