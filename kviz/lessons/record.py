"""What a learner has done: each question with the first answer, to show or to hand in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kviz.accounts.models import Workspace
from kviz.lessons import selectors
from kviz.lessons.documents import answer_in_words, given_in_words
from kviz.lessons.library import StoredLesson


@dataclass(frozen=True)
class Answered:
    """A question that was reached; `given` is empty where the answer was shown unasked.

    `given` and `right` are of the last of the `tries`.
    """

    lesson: str
    slug: str
    number: int
    ask: str
    given: str
    answer: str
    right: bool
    tries: int


def answered(stored_lesson: StoredLesson, answers: Mapping[str, Any]) -> Iterator[Answered]:
    """Yield the questions of a lesson that were answered, or shown; `answers` as in Progress."""
    for number, step in enumerate(stored_lesson.lesson.steps, 1):
        known, question = answers.get(str(number)), step.question
        if known is None or question is None:
            continue
        given = known["given"]
        yield Answered(
            lesson=stored_lesson.lesson.title,
            slug=stored_lesson.slug,
            number=number,
            ask=question.ask,
            given="" if given is None else given_in_words(question, given),
            answer=answer_in_words(question),
            right=known["right"],
            tries=known.get("tries", 1),
        )


def record(workspace: Workspace) -> list[Answered]:
    """All questions that a workspace has answered, lesson by lesson."""
    found: list[Answered] = []
    for stored_lesson in selectors.lessons().lessons:
        progress = selectors.progress_get(workspace=workspace, stored_lesson=stored_lesson)
        if progress is not None:
            found.extend(answered(stored_lesson, progress.answers))
    return found


COLUMNS: Final = ("lesson", "step", "question", "answer", "right answer", "right", "tries")


def row_of(row: Answered) -> tuple[str | int, ...]:
    """A question as a row of a table."""
    right = "yes" if row.right else "no"
    return (row.lesson, row.number, row.ask, row.given, row.answer, right, row.tries)
