"""The templates of the sentences that are read back, as `kviz/read_back` has them in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator

from kviz.catalogues.sources import CHECKOUT, said
from kviz.read_back.grammar import MODULES
from kviz.read_back.reading import TEMPLATES


def templates() -> str:
    """Return what the file has to hold: for each module the templates of its sentences."""
    found = {
        module: sorted(set(dict(said((CHECKOUT / module).read_text(encoding="utf-8"))).values()))
        for module in MODULES
    }
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def write() -> None:
    TEMPLATES.write_text(templates(), encoding="utf-8")


def differences() -> Iterator[str]:
    """Yield that the file is stale, if it is."""
    if not TEMPLATES.is_file() or TEMPLATES.read_text(encoding="utf-8") != templates():
        yield f"{TEMPLATES.relative_to(CHECKOUT)}: stale, the engine says other sentences now"
