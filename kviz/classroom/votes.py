"""What a class answered, counted. Pure: neither who was fast nor when is known here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from kviz.lessons.documents import given_in_words
from kviz.lessons.grading import NotAnAnswer, grade
from kviz.lessons.lesson import Question

Given = str | int | tuple[str, ...]
SHOWN: Final = 12
"""Different answers of a vote that are listed; the rest is one line."""


@dataclass(frozen=True)
class Count:
    """How many gave an answer; `right` is None while that is not known or not shown."""

    text: str
    n: int
    right: bool | None


@dataclass(frozen=True)
class Gain:
    """What a second vote brought, over those who answered both."""

    n: int
    right_before: int
    right_after: int
    became_right: int
    became_wrong: int


def as_given(stored: object) -> Given:
    """An answer as it was graded, from how it is stored."""
    if isinstance(stored, list):
        return tuple(map(str, stored))
    return stored if isinstance(stored, int) else str(stored)


def is_right(question: Question, given: Given) -> bool:
    try:
        return grade(question, given).right
    except NotAnAnswer:  # the lesson's file has changed since
        return False


def counts(question: Question, answers: Sequence[Given], *, shown: bool) -> list[Count]:
    """Each answer and how many gave it: options in their order, others by how many."""
    found = Counter(answers)
    order: list[Given] = [key for key, _ in found.most_common()]
    if question.kind == "choice":
        order = [option.value for option in question.options]
    listed, rest = order[:SHOWN], order[SHOWN:]
    rows = [
        Count(
            given_in_words(question, given),
            found[given],
            is_right(question, given) if shown else None,
        )
        for given in listed
    ]
    n_rest = sum(found[given] for given in rest)
    return [*rows, Count("…", n_rest, None)] if n_rest else rows


def gain(question: Question, before: Mapping[int, Given], after: Mapping[int, Given]) -> Gain:
    """What changed between two votes, by participant."""
    both = before.keys() & after.keys()
    was = {each for each in both if is_right(question, before[each])}
    now = {each for each in both if is_right(question, after[each])}
    return Gain(len(both), len(was), len(now), len(now - was), len(was - now))
