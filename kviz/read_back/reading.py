"""A sentence held against the templates of its sort, place by place."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from string import Formatter
from typing import Final, NamedTuple

from kviz import sentences
from kviz.read_back.grammar import SORTS, Names, Place, Said, Word
from scheduler_core.wording import Template, Text, capitalised, filled, series

TEMPLATES: Final = Path(__file__).with_name("templates.json")
MOST_CHARS: Final = 2_000
MOST_TRIES: Final = 1_000
MOST_DEEP: Final = 8
"""Bounds of what is tried for one text: those of a file from elsewhere may be made up."""


class Piece(NamedTuple):
    """What a template says before a place, and the place; its name is empty after the last."""

    words: str
    place: str
    is_number: bool


class Known(NamedTuple):
    """A template, taken apart."""

    text: str
    pieces: tuple[Piece, ...]


class _TriedEnough(Exception):
    """The text is no sentence that a reader would wait for."""


@lru_cache(maxsize=4096)
def read(place: Place, text: str) -> str:
    """Return a sentence, or what begins a line with one, as a text with its values.

    It stays as it is if it is none of those that may stand in the place.
    """
    if len(text) > MOST_CHARS:
        return text
    lower = f"{text[:1].lower()}{text[1:]}"
    try:
        found = _Reading(iter(range(MOST_TRIES))).at(place, text)
        if not isinstance(found, Text) and lower != text:
            found = _Reading(iter(range(MOST_TRIES))).at(place, lower)
            found = capitalised(found) if isinstance(found, Text) else None
    except _TriedEnough:
        return text
    return found if isinstance(found, Text) and found == text else text


class _Reading:
    """A text that is being read, and how deep inside of it what is read stands."""

    def __init__(self, tries: Iterator[int], depth: int = 0) -> None:
        self._tries = tries
        self._depth = depth

    def at(self, place: Place, text: str) -> str | None:
        """Return what stands in a place; None if nothing that may."""
        if self._depth > MOST_DEEP:
            return None
        match place:
            case Word():
                return None if " " in text else text
            case Names():
                return self._names(place, text)
            case Said():
                return self._said(place, text)

    def _said(self, place: Said, text: str) -> str | None:
        for word in place.words:
            if word == text:
                return word
        if found := self._row(place.row, place.sorts, text) or self._sentence(place.sorts, text):
            return found
        is_taken = place.or_else == "anything" or (place.or_else and " " not in text)
        return text if is_taken else None

    def _names(self, place: Names, text: str) -> str:
        if found := self._row(place.row, place.sorts, text):
            return found
        if found := self._sentence((*place.sorts, "more"), text):
            return found
        return series(text.split(_separator(place.row)), place.row)

    def _row(self, row: Template | None, sorts: Sequence[str], text: str) -> str | None:
        """Return several sentences in a row; None if one of them is none."""
        if row is None:
            return None
        parts = text.split(_separator(row))
        if len(parts) < 2:
            return None
        found = [self._sentence(sorts, part) for part in parts]
        return series(found, row) if all(found) else None

    def _sentence(self, sorts: Sequence[str], text: str) -> str | None:
        for sort in sorts:
            for template in _templates(sort):
                values = self._values(sort, template.pieces, text)
                if values is not None:
                    return sentences.text(template.text, values)
        return None

    def _values(self, sort: str, pieces: Sequence[Piece], text: str) -> dict[str, object] | None:
        """Return what of a text stands in the places of the pieces; None if it does not fit."""
        piece, after = pieces[0], pieces[1:]
        if not text.startswith(piece.words):
            return None
        rest = text[len(piece.words) :]
        if not piece.place:
            return {} if not rest else None
        for end in _ends(rest, after):
            if next(self._tries, None) is None:
                raise _TriedEnough
            value = self._value(sort, piece, rest[:end])
            others = None if value is None else self._values(sort, after, rest[end:])
            if others is not None:
                return {piece.place: value, **others}
        return None

    def _value(self, sort: str, piece: Piece, text: str) -> object:
        if piece.is_number:
            digits = text.replace(",", "")
            return int(digits) if digits.isdecimal() and digits.isascii() else None
        place = SORTS[sort].places.get(piece.place)
        if place is None:
            return text
        return _Reading(self._tries, self._depth + 1).at(place, text)


def _ends(rest: str, after: Sequence[Piece]) -> Iterator[int]:
    """Yield where a place may end: where the words that follow it stand."""
    words = after[0].words
    if not after[0].place:
        if rest.endswith(words) and len(rest) > len(words):
            yield len(rest) - len(words)
        return
    end = rest.find(words, 1)
    while end > 0:
        yield end
        end = rest.find(words, end + 1)


def _separator(row: Template) -> str:
    return filled(row.english, {"a": "", "b": ""})


@lru_cache(maxsize=len(SORTS))
def _templates(sort: str) -> tuple[Known, ...]:
    """Return the templates of a sort, those that say most themselves first."""
    known: dict[str, list[str]] = json.loads(TEMPLATES.read_bytes())
    texts = {text for module in SORTS[sort].modules for text in known[module]}
    found = [Known(text, tuple(_pieces(text))) for text in texts]
    return tuple(sorted(found, key=lambda each: (-_n_words(each), each.text)))


def _n_words(template: Known) -> int:
    return sum(len(piece.words) for piece in template.pieces)


def _pieces(template: str) -> Iterator[Piece]:
    words = ""
    for said, place, form, _ in Formatter().parse(template):
        words += said
        if place is not None:
            yield Piece(words, place, form == ",")
            words = ""
    yield Piece(words, "", False)
