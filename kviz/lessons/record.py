"""What a learner has done: each question with the first answer, to show or to hand in."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from kviz.accounts.models import Workspace
from kviz.lessons import selectors
from kviz.lessons.documents import answer_in_words, given_in_words
from kviz.lessons.library import StoredLesson
from kviz.lessons.models import Progress


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


def answered(stored_lesson: StoredLesson, progress: Progress) -> Iterator[Answered]:
    """Yield the questions of a lesson that were answered, or shown."""
    for number, step in enumerate(stored_lesson.lesson.steps, 1):
        known, question = progress.answers.get(str(number)), step.question
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
            found.extend(answered(stored_lesson, progress))
    return found


def as_csv(rows: Iterable[Answered]) -> str:
    """The record as a table; a text that a spreadsheet would take for a formula is quoted."""
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["lesson", "step", "question", "answer", "right answer", "right", "tries"])
    for row in rows:
        cells = (row.lesson, str(row.number), row.ask, row.given, row.answer)
        writer.writerow([*map(_harmless, cells), "yes" if row.right else "no", row.tries])
    return out.getvalue()


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text
