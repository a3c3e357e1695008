"""The sentences that are stored by their ids: in rows, traces and run files.

``english.json`` holds the English of every id. `make texts` brings it up to date, and never takes
an id out of it or changes its placeholders: something stored could no longer be said. A sentence
that the code no longer says is moved by hand from ``said`` to ``retired`` (docs/adr/0044).
``of_0_1.json`` has the templates of engine 0.1.0, which rows from then have in place of an id.
It never changes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from scheduler_core.wording import Text, Values, filled, unpacked

ENGLISH: Final = Path(__file__).with_name("english.json")
OF_0_1: Final = ENGLISH.with_name("of_0_1.json")
MOST_CHARS: Final = 10_000
MOST_ITEMS: Final = 1_000
"""Bounds of a sentence of a file, whose values may be made up."""


def stored() -> dict[str, dict[str, str]]:
    """Return what the file holds: the English by id, of those `said` and those `retired`."""
    found: dict[str, dict[str, str]] = json.loads(ENGLISH.read_bytes())
    return found


@cache
def english() -> Mapping[str, str]:
    """Return the English of every id."""
    found = stored()
    return {**found["retired"], **found["said"]}


@cache
def ids_of_0_1() -> Mapping[str, str]:
    """Return the id of every template that engine 0.1.0 had."""
    found: dict[str, str] = json.loads(OF_0_1.read_bytes())
    return found


def said(value: object) -> object:
    """Return a document of what `packed` made of it, with its sentences as texts."""
    return unpacked(value, text)


def text(id: str, values: Values) -> str:
    """Return a stored sentence; one that is unknown is shown as the template that it must be."""
    known = id if id in english() else ids_of_0_1().get(id)
    return filled(id, values) if known is None else Text(known, english()[known], values)


def spoken(english: str, made_of: object) -> str:
    """Return a sentence of a trace or a file: its English, as a text if its id is known.

    What a file says that it is made of may be anything.
    """
    try:
        found = unpacked(made_of, _known)
    except (LookupError, ValueError, TypeError, AttributeError, RecursionError):
        return english
    return found if isinstance(found, Text) else english


def all_spoken(english: Sequence[str], made_of: object) -> list[str]:
    """Return the same of several; `made_of` is a list of as many."""
    if not isinstance(made_of, list) or len(made_of) != len(english):
        return list(english)
    return [spoken(text, each) for text, each in zip(english, made_of, strict=True)]


def _known(id: str, values: Values) -> str:
    """Return a sentence whose id is known. Raises LookupError, and ValueError for one too long."""
    if len(values) > MOST_ITEMS:
        raise ValueError(f"{len(values)} values")
    found = Text(id, english()[id], values)
    if len(found) > MOST_CHARS:
        raise ValueError(f"{len(found)} characters")
    return found
