"""Yesterday's words of the scheduler, and what is there today.

Names of predicates, priorities and plugins are the engine's (`old_names`), which needs them for
configurations; `en.json` has everything else. Both are rows of one page, of the decoder and of
what the Explorer finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

import msgspec

from scheduler_core.config.old_names import OLD_NAMES, OldName

LANGUAGE: Final = "en"
NAMES: Final = "names"
"""The group of rows that the engine's table makes."""


class Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Rows that belong together, under a heading of the page."""

    id: str
    title: str


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The words of then, what is there now, and where that is explained.

    `terms` are ids of the glossary, `plugins` names of plugins with a page.
    """

    id: str
    group: str
    then: tuple[str, ...]
    now: str
    plugins: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()


class _Source(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    groups: tuple[Group, ...]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """Groups in the order of the page, and the rows of each."""

    groups: tuple[Group, ...]
    rows: tuple[Row, ...]

    def of_group(self, group: str) -> list[Row]:
        return [row for row in self.rows if row.group == group]

    def matching(self, text: str) -> Table:
        """The rows in which a text stands, whatever its case; all of them if it is empty."""
        wanted = text.strip().lower()
        rows = tuple(row for row in self.rows if _stands_in(wanted, row))
        found = {row.group for row in rows}
        return Table(tuple(group for group in self.groups if group.id in found), rows)


@cache
def table() -> Table:
    text = files(__name__).joinpath(f"{LANGUAGE}.json").read_bytes()
    source = msgspec.json.decode(text, type=_Source)
    names = Group(NAMES, "Predicates, priorities and plugins")
    return Table((names, *source.groups), (*_name_rows(), *source.rows))


def old_words_in(text: str) -> list[Row]:
    """The rows whose words stand in a text, such as a pasted message, in the table's order."""
    return [row for row in table().rows if _pattern(row).search(text)]


def rows_about(term: str) -> list[Row]:
    """The rows that lead to a term of the glossary."""
    return [row for row in table().rows if term in row.terms]


def _name_rows() -> Iterator[Row]:
    by_meaning: dict[OldName, list[str]] = {}
    for name, old in OLD_NAMES.items():
        by_meaning.setdefault(old, []).append(name)
    for old, names in by_meaning.items():
        sentence = old.sentence.removesuffix(".") + "."
        yield Row(names[0], NAMES, tuple(names), sentence, plugins=old.now)


@cache
def _pattern(row: Row) -> re.Pattern[str]:
    return re.compile("|".join(map(_bounded, row.then)))


def _bounded(word: str) -> str:
    """The word as such, not within another one; in Chinese words are not set apart."""
    return rf"(?<!\w){re.escape(word)}(?!\w)" if word.isascii() else re.escape(word)


def _stands_in(wanted: str, row: Row) -> bool:
    return any(wanted in said.lower() for said in (*row.then, row.now, *row.plugins))
