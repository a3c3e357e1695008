"""Whether an answer is right. Pure: a page, the Explorer and a class ask the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kviz.lessons.lesson import Question
from scheduler_core.wording import say

Given = str | int | Sequence[str]


class NotAnAnswer(ValueError):
    """What was given answers no question of this kind; the text says what would."""


@dataclass(frozen=True)
class Graded:
    given: str | int | tuple[str, ...]
    right: bool


def grade(question: Question, given: object) -> Graded:
    """Return whether an answer is right. Raises NotAnAnswer."""
    match question.kind:
        case "number":
            number = _number(given)
            return Graded(number, number == question.answer)
        case "order":
            items = _order(question, given)
            return Graded(items, items == question.answer)
        case "choice":
            values = [option.value for option in question.options]
            if given not in values:
                raise NotAnAnswer(say("lesson.choose_answer", "Choose one of the answers."))
        case "node":
            if not isinstance(given, str) or not given:
                raise NotAnAnswer(say("lesson.choose_node", "Choose a node."))
    return Graded(str(given), given == question.answer)


def _number(given: object) -> int:
    text = str(given).strip()
    digits = text.removeprefix("-")
    if isinstance(given, bool) or not (digits.isascii() and digits.isdigit() and len(digits) < 16):
        raise NotAnAnswer(say("lesson.type_number", "Type a whole number."))
    return int(text)


def _order(question: Question, given: object) -> tuple[str, ...]:
    values = sorted(option.value for option in question.options)
    if not isinstance(given, list | tuple) or sorted(map(str, given)) != values:
        raise NotAnAnswer(say("lesson.distinct_places", "Give each one a different place."))
    return tuple(map(str, given))
