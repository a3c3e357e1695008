"""The sentences that are stored by their ids: in rows, traces and run files.

``english.json`` holds the English of every id. `make texts` brings it up to date, and never takes
an id out of it or changes its placeholders: something stored could no longer be said. A sentence
that the code no longer says is moved by hand from ``said`` to ``retired`` (docs/adr/0044).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from scheduler_core.wording import Text, Values, filled, unpacked

ENGLISH: Final = Path(__file__).with_name("english.json")


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
