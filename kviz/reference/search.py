"""What the documents, the glossary, the plugins and the old words say about some words."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from html import unescape
from itertools import islice
from typing import Final

from django.urls import reverse
from django.utils.text import Truncator
from django.utils.translation import gettext as _

from kviz.reference import documents, then_and_now
from kviz.reference.documents import Document
from kviz.reference.glossary import glossary
from kviz.reference.plugin_guide import guides, teaching_guides

FOUND_OF_A_KIND: Final = 12
AROUND: Final = 60
"""Characters of a text that are shown before what was found."""
SHOWN: Final = 200

_HEADING: Final = re.compile(r'<h[1-6] id="([^"]+)">(.*?)</h[1-6]>', re.DOTALL)
_TAG: Final = re.compile(r"<[^>]+>")


@dataclass(frozen=True)
class Found:
    """A place that says something about the words; `name` is in `language`, "" for the reader's."""

    name: str
    url: str
    text: str
    language: str = ""


@dataclass(frozen=True)
class Kind:
    """What was found in one of the sources."""

    title: str
    found: list[Found]


def found(words: str) -> list[Kind]:
    """Each source that has all the words in one place; names that have them come first."""
    # A word is found from its beginning; Chinese has no spaces between words.
    wanted = [re.compile(rf"(?<![a-z]){re.escape(word)}") for word in words.lower().split()]
    kinds = (
        (_("Plugins"), _plugins()),
        (_("Glossary"), _terms()),
        (_("Guides"), _sections()),
    )
    answers = [
        Kind(title, list(islice(_matching(wanted, each), FOUND_OF_A_KIND))) for title, each in kinds
    ]
    rows = islice(then_and_now.table().matching(words).rows, FOUND_OF_A_KIND)
    page = reverse("then-and-now")
    old = [Found(row.then[0], f"{page}#{row.id}", row.now) for row in rows]
    return [each for each in (*answers, Kind(_("Then and now"), old)) if each.found]


def _matching(wanted: Sequence[re.Pattern[str]], places: Iterator[Found]) -> Iterator[Found]:
    def has_all(text: str) -> bool:
        return all(word.search(text.lower()) for word in wanted)

    there = [each for each in places if has_all(f"{each.name} {each.text}")]
    for each in sorted(there, key=lambda place: not has_all(place.name)):
        yield Found(each.name, each.url, _around(each.text, wanted), each.language)


def _around(text: str, wanted: Sequence[re.Pattern[str]]) -> str:
    """The part of a text that has one of the words, without half words at its start."""
    at = min((at.start() for word in wanted if (at := word.search(text.lower()))), default=0)
    start = text.rfind(" ", 0, at - AROUND) + 1 if at > AROUND else 0
    return ("… " if start else "") + Truncator(text[start:]).chars(SHOWN)


def _plugins() -> Iterator[Found]:
    for guide in (*guides(), *teaching_guides()):
        yield Found(
            guide.name, reverse("plugin-detail", args=[guide.name]), str(guide.text.purpose)
        )


def _terms() -> Iterator[Found]:
    page = reverse("glossary")
    for key, term in glossary().terms.items():
        yield Found(term.name, f"{page}#{key}", term.text)


def _sections() -> Iterator[Found]:
    for group in documents.groups():
        for document, _about in group.documents:
            yield from _sections_of(document)


@cache
def _sections_of(document: Document) -> list[Found]:
    """A document in the parts that its headings make."""
    heads = list(_HEADING.finditer(document.html))
    ends = [head.start() for head in heads[1:]] + [len(document.html)]
    return [
        Found(
            name if (name := _plain(head[2])) == document.title else f"{document.title}: {name}",
            f"{document.url}#{head[1]}",
            _plain(document.html[head.end() : end]),
            document.language,
        )
        for head, end in zip(heads, ends, strict=True)
    ]


def _plain(html: str) -> str:
    return " ".join(unescape(_TAG.sub(" ", html)).split())
