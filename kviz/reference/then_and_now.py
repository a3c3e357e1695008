"""Yesterday's words of the scheduler, and what is there today.

Names of predicates, priorities and plugins are the engine's (`old_names`), as are fields, versions
and feature gates (`old_settings`): it needs them for configurations. `then_and_now.yaml` has
everything else. All are rows of one page, of the decoder and of what the Explorer finds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import msgspec
from django.conf import settings
from django.utils.translation import get_language, override, pgettext
from django.utils.translation import gettext_lazy as _

from kviz.reference.form import Part, read_file
from scheduler_core.config.old_names import OLD_NAMES, OldName
from scheduler_core.config.old_settings import OLD_FIELDS, OLD_GATES, OLD_VERSIONS
from scheduler_core.config.types import API_VERSION
from scheduler_core.releases import RELEASES
from scheduler_core.wording import Text, say

LANGUAGE: Final = "en"
FILE: Final = Path(__file__).with_name("then_and_now.yaml")
CONTEXT: Final = "then and now"
"""Of these texts in the catalogues."""

MINORS: Final = tuple(dict.fromkeys(release.minor for release in RELEASES.values()))
"""The releases that have a column, the oldest first."""

MODEL: Final = "model"
"""The group of words that a description of the scheduler uses: not old ones."""
NAMES: Final = "names"
"""The group of rows that the engine's table makes."""
NAMES_TITLE: Final = "Predicates, priorities and plugins"

SINCE: Final = {
    "before": _("1.15 or earlier"),
    "unknown": _("not known"),
    "none": _("a word of no release"),
}
"""What is said where no release is named: so in all that the texts tell of, not found out, or a
word that no release has."""

TODAYS_WORDS: Final = {
    "schedulerName",
    "plugins",
    "pluginConfig",
    "bindTimeoutSeconds",
    "predicates",
    "priorities",
}
"""Old fields that are words for something else as well: alone they lead nowhere."""


class Group(Part, frozen=True):
    """Rows that belong together, under a heading of the page."""

    id: str
    title: str


class Row(Part, frozen=True):
    """The words of then, what is there now, and where that is explained.

    `now` is what v1.36 has, and later releases too but for those in `later`, by minor release:
    each holds until the next one there. `terms` are ids of the glossary, `plugins` names of plugins
    with a page; `gate` if it is about a feature gate, which the document about the configuration
    has. The words of `then` are not old ones before the release `until`, if there is one. `since`
    is the first release in which `now` is so by default, or one of SINCE.
    """

    id: str
    group: str
    then: tuple[str, ...]
    now: str
    since: str
    plugins: tuple[str, ...] = ()
    terms: tuple[str, ...] = ()
    gate: str = ""
    until: str = ""
    later: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def since_text(self) -> str:
        """Since when it is so, for people."""
        return str(SINCE.get(self.since, f"v{self.since}"))

    @property
    def latest(self) -> str:
        """What the newest release has."""
        return list(self.later.values())[-1] if self.later else self.now

    @property
    def cells(self) -> list[tuple[str, int, str]]:
        """The texts of the releases' columns, with how many those are, and the first of them."""
        found: list[tuple[str, int, str]] = []
        for minor in MINORS:
            text = self.later.get(minor, "")
            if not found:
                found.append((text or self.now, 1, minor))
            elif text:
                found.append((text, 1, minor))
            else:
                before, n, first = found[-1]
                found[-1] = (before, n + 1, first)
        return found


class Functions(Part, frozen=True):
    """The functions of kube-scheduler that do the work of a point: in 1.15 to 1.17, and today."""

    then: tuple[str, ...]
    now: tuple[str, ...]


class Source(Part, frozen=True):
    """What the file has: all but the rows that the engine's tables make.

    `functions` are by extension point.
    """

    groups: tuple[Group, ...]
    functions: dict[str, Functions]
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Table:
    """Groups in the order of the page, and the rows of each."""

    groups: tuple[Group, ...]
    rows: tuple[Row, ...]

    def of_group(self, group: str) -> list[Row]:
        return [row for row in self.rows if row.group == group]

    def matching(self, text: str) -> Table:
        """The rows in which all words of a text stand, whatever their case; all if it has none.

        They may stand there in any language, Chinese in either writing.
        """
        wanted = [word.strip(",;") for word in text.lower().split()]
        said = _said()
        rows = tuple(row for row in self.rows if all(word in said[row.id] for word in wanted))
        found = {row.group for row in rows}
        return Table(tuple(group for group in self.groups if group.id in found), rows)


def table() -> Table:
    """The table in the active language; words of then are what they were."""
    return _in(get_language() or LANGUAGE)


@cache
def _in(language: str) -> Table:
    english = english_table()
    with override(language):
        groups = (
            msgspec.structs.replace(group, title=pgettext(CONTEXT, group.title))
            for group in english.groups
        )
        rows = (
            msgspec.structs.replace(row, now=_now(row), later=_later(row)) for row in english.rows
        )
        return Table(tuple(groups), tuple(rows))


def _now(row: Row) -> str:
    """What is there now in the active language, as a whole sentence."""
    from kviz.common.wording import translated  # needs a server's settings, the rows do not

    if not isinstance(row.now, Text):
        return pgettext(CONTEXT, row.now)
    text = translated(row.now)
    return text if text.endswith((".", "。")) else text + pgettext("punctuation", ".")


def _later(row: Row) -> dict[str, str]:
    return {minor: pgettext(CONTEXT, text) for minor, text in row.later.items()}


@cache
def english_rows() -> Source:
    return read_file(FILE, Source)


@cache
def english_table() -> Table:
    source = english_rows()
    order = {group.id: number for number, group in enumerate(source.groups)}
    names = Group(id=NAMES, title=NAMES_TITLE)
    rows = sorted((*source.rows, *_setting_rows()), key=lambda row: order[row.group])
    return Table((names, *source.groups), (*_name_rows(), *rows))


def old_words_in(text: str) -> list[Row]:
    """The rows whose words stand in a text, such as a pasted message, in the table's order.

    Words that a release kviz follows still says are none of them, nor those of the model.
    """
    rows = (row for row in table().rows if not row.until and row.group != MODEL)
    return [row for row in rows if _pattern(row.then).search(text)]


def rows_about(term: str) -> list[Row]:
    """The rows that lead to a term of the glossary."""
    return [row for row in table().rows if term in row.terms]


def _name_rows() -> Iterator[Row]:
    by_meaning: dict[OldName, list[str]] = {}
    for name, old in OLD_NAMES.items():
        by_meaning.setdefault(old, []).append(name)
    for old, names in by_meaning.items():
        yield Row(
            id=names[0],
            group=NAMES,
            then=tuple(names),
            now=old.sentence,
            since=old.since,
            plugins=old.now,
        )


def _setting_rows() -> Iterator[Row]:
    for name, old in OLD_FIELDS.items():
        then = f"{name} at the root of a file" if name in TODAYS_WORDS else name
        yield Row(
            id=f"field-{name}",
            group="configuration",
            then=(then,),
            now=old.now,
            since=old.since,
            plugins=old.plugins,
            terms=("profile",),
        )
    now = say(
        "config.version_since",
        "{version}, since 1.25. Where a file says that, each field that is gone is named.",
        version=API_VERSION,
    )
    yield Row(
        id="versions",
        group="configuration",
        then=tuple(OLD_VERSIONS),
        now=now,
        since="1.25",
        terms=("profile",),
    )
    for name, old in OLD_GATES.items():
        yield Row(
            id=f"gate-{name}",
            group="gates",
            then=(name,),
            now=old.now,
            since=old.since,
            plugins=old.plugins,
            terms=("feature-gate",),
        )


@cache
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_bounded, words)))


def _bounded(word: str) -> str:
    """The word as such, not within another one; in Chinese words are not set apart."""
    return rf"(?<!\w){re.escape(word)}(?!\w)" if word.isascii() else re.escape(word)


@cache
def _said() -> dict[str, str]:
    """What a row says in all languages, in small letters, by its id."""
    found: dict[str, str] = {}
    for language, _name in settings.LANGUAGES:
        in_language = _in(language)
        titles = {group.id: group.title for group in in_language.groups}
        for row in in_language.rows:
            texts = (*row.then, row.now, *row.later.values(), *row.plugins, titles[row.group])
            found[row.id] = "\n".join((found.get(row.id, ""), *texts)).lower()
    return found
