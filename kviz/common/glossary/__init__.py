"""The glossary: what the terms on the screens mean, and the diagrams that show them.

`en.json` is the one source of its English, for the pages here and for the Explorer, which is built
with it. A term has two sentences and an example, or a diagram in which it is a part.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import Final, Literal

import msgspec
from django.utils.translation import get_language, override, pgettext

from kviz.drawing_text import labelled

Diagram = Literal["queues", "cycles", "cache"]

LANGUAGE: Final = "en"


class Group(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Terms that belong together, under a heading of the page."""

    id: str
    title: str
    picture: Diagram | None = None


class Term(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """`group` and `see` are ids; `plugin` has a page of its own."""

    group: str
    name: str
    text: str
    example: str = ""
    picture: Diagram | None = None
    plugin: str = ""
    see: tuple[str, ...] = ()


class Glossary(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Groups in the order of the page; terms by their id, which is their anchor there."""

    groups: tuple[Group, ...]
    terms: dict[str, Term]

    def of_group(self, group: str) -> dict[str, Term]:
        return {key: term for key, term in self.terms.items() if term.group == group}


def glossary() -> Glossary:
    """The glossary in the active language."""
    return _in(get_language() or LANGUAGE)


@cache
def _in(language: str) -> Glossary:
    text = files(__name__).joinpath(f"{LANGUAGE}.json").read_bytes()
    english = msgspec.json.decode(text, type=Glossary)
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
    svg = files(__name__).joinpath(f"{name}.svg").read_text(encoding="utf-8")
    with override(language):
        return labelled(svg, lambda words: pgettext(f"diagram.{words}", words))
