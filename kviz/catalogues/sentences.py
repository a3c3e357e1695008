"""The file of the ids of sentences, brought up to date, and what it must not lose."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from kviz.catalogues.sources import placeholders, sentences
from kviz.sentences import ENGLISH, stored


def write() -> None:
    """Bring today's English into the file; a sentence that would be `lost` stays as it is."""
    found, today = stored(), sentences()
    kept = {id: found["said"][id] for id in lost(found["said"], today)}
    found["said"] = dict(sorted({**today, **kept}.items()))
    ENGLISH.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def problems() -> Iterator[str]:
    """Yield what is wrong with the file, a line each."""
    found, today = stored(), sentences()
    missing = lost(found["said"], today)
    yield from (f"{id}: {problem}" for id, problem in missing.items())
    for id in sorted(found["retired"].keys() & today.keys()):
        yield f"{id}: retired; a new sentence needs another id"
    if any(found["said"].get(id) != today[id] for id in today.keys() - missing.keys()):
        yield f"{ENGLISH.name}: stale, write it again: make texts"


def lost(before: Mapping[str, str], today: Mapping[str, str]) -> dict[str, str]:
    """Return the ids under which something stored could no longer be said, and why."""
    found = {}
    for id, template in before.items():
        if id not in today:
            found[id] = "no longer said: move it to `retired`"
        elif placeholders(today[id]) != placeholders(template):
            found[id] = "other placeholders: give the sentence a new id"
    return found
