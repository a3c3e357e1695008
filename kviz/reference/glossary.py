"""The glossary: what the terms on the screens mean, and the diagrams that show them.

`glossary.yaml` is the one source of its English, for the pages here and for the Explorer, which
is built with it. A term has two sentences and an example, or a diagram in which it is a part.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final, Literal, get_args

import msgspec
from django.utils.translation import get_language, override, pgettext

from kviz.drawing_text import labelled
from kviz.reference.form import Part, read_file
from scheduler_core.releases import first_with
from scheduler_core.releases.switches import SWITCHES, Switch

Diagram = Literal["queues", "cycles", "cache", "way"]

LANGUAGE: Final = "en"
FILE: Final = Path(__file__).with_name("glossary.yaml")
DRAWINGS: Final = Path(__file__).with_name("drawings")


class Group(Part, frozen=True):
    """Terms that belong together, under a heading of the page."""

    id: str
    title: str
    picture: Diagram | None = None


class Term(Part, frozen=True):
    """`group` and `see` are ids; `plugin` has its own page.

    `switches` are what a release does otherwise (`scheduler_core.releases`), where the term would
    be misunderstood without it.
    """

    group: str
    name: str
    text: str
    example: str = ""
    picture: Diagram | None = None
    plugin: str = ""
    see: tuple[str, ...] = ()
    switches: tuple[str, ...] = ()

    def changes(self) -> list[tuple[str, Switch]]:
        """What later releases do otherwise, each with the release that did so first."""
        return [(first_with(name).name, SWITCHES[name]) for name in self.switches]


class Glossary(Part, frozen=True):
    """Groups in the order of the page; terms by their id, which is their anchor there."""

    groups: tuple[Group, ...]
    terms: dict[str, Term]

    def of_group(self, group: str) -> dict[str, Term]:
        return {key: term for key, term in self.terms.items() if term.group == group}


def glossary() -> Glossary:
    """The glossary in the active language."""
    return _in(get_language() or LANGUAGE)


@cache
def english_glossary() -> Glossary:
    return read_file(FILE, Glossary)


def drawings() -> Iterator[str]:
    """Yield the diagrams as they are drawn, labelled in English."""
    for name in get_args(Diagram):
        yield _drawing(name)


def _drawing(name: str) -> str:
    return (DRAWINGS / f"{name}.svg").read_text(encoding="utf-8")


@cache
def _in(language: str) -> Glossary:
    english = english_glossary()
    with override(language):
        groups = (
            msgspec.structs.replace(group, title=pgettext(f"group.{group.id}", group.title))
            for group in english.groups
        )
        terms = {key: _translated(key, term) for key, term in english.terms.items()}
        return Glossary(tuple(groups), terms)


def _translated(key: str, term: Term) -> Term:
    """A term in the active language. The contexts are those of the catalogue `glossary`."""
    return msgspec.structs.replace(
        term,
        name=pgettext(f"{key}.name", term.name),
        text=pgettext(f"{key}.text", term.text),
        example=pgettext(f"{key}.example", term.example) if term.example else "",
    )


def diagram(name: Diagram) -> str:
    """The SVG of a diagram, labelled in the active language.

    Its parts carry the id of their term in `data-term`.
    """
    return _drawn(name, get_language() or LANGUAGE)


@cache
def _drawn(name: Diagram, language: str) -> str:
    with override(language):
        return labelled(_drawing(name), lambda words: pgettext(f"diagram.{words}", words))
