"""The sentences that are stored by their ids: in rows, traces and run files.

``english.json`` holds the English of every id. `make texts` brings it up to date, and never takes
an id out of it or changes its placeholders: something stored could no longer be said. A sentence
that the code no longer says is moved by hand from ``said`` to ``retired`` (docs/adr/0044).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from scheduler_core.wording import Text, Values, filled, unpacked

ENGLISH: Final = Path(__file__).with_name("english.json")
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
def _ids() -> Mapping[str, str]:
    return {template: id for id, template in english().items()}


def said(value: object) -> object:
    """Return a document of what `packed` made of it, with its sentences as texts."""
    return unpacked(value, text)


def text(id: str, values: Values) -> str:
    """Return a stored sentence.

    Documents from before there were ids hold the template in place of the id: one that is known is
    the same sentence, another stays English.
    """
    if template := english().get(id):
        return Text(id, template, values)
    if known := _ids().get(id):
        return Text(known, id, values)
    return filled(id, values)


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
