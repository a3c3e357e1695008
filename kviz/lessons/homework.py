"""Homework: a lesson given by a link, and what comes back to the teacher's page."""

from __future__ import annotations

import datetime as dt
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.utils import timezone

from kviz.accounts.models import Workspace
from kviz.lessons import selectors
from kviz.lessons.library import StoredLesson
from kviz.lessons.models import HandIn, Homework, Progress
from kviz.lessons.record import COLUMNS, Answered, answered, row_of
from kviz.lessons.services import lesson_begin

DAYS: Final = 30
"""After which a link leads nowhere, and what was handed in is deleted."""
MOST: Final = 500
"""Who may take part in one."""


class Full(Exception):
    """So many take part that nobody else may."""


def homework_give(*, workspace: Workspace, stored_lesson: StoredLesson) -> Homework:
    """Give a lesson as homework."""
    late_delete()
    return Homework.objects.create(
        workspace=workspace,
        slug=stored_lesson.slug,
        sha256=stored_lesson.sha256,
        code=secrets.token_urlsafe(12),
        closes_at=timezone.now() + dt.timedelta(days=DAYS),
    )


def late_delete() -> None:
    """Delete homework whose time is over, with the names and answers."""
    Homework.objects.filter(closes_at__lte=timezone.now()).delete()


def homework_named(code: str) -> tuple[Homework, StoredLesson] | None:
    """The open homework of a link, with its lesson as it was given."""
    found = Homework.objects.filter(code=code, closes_at__gt=timezone.now()).first()
    stored_lesson = selectors.lessons().get(found.slug) if found else None
    if found is None or stored_lesson is None or stored_lesson.sha256 != found.sha256:
        return None
    return found, stored_lesson


def given_by(workspace: Workspace) -> list[tuple[Homework, str]]:
    """What a workspace has given, the latest first, each with its lesson's title."""
    late_delete()
    lessons = selectors.lessons()
    rows = Homework.objects.filter(workspace=workspace).order_by("-given_at")
    return [(row, found.lesson.title) for row in rows if (found := lessons.get(row.slug))]


def homework_begin(
    *, homework: Homework, stored_lesson: StoredLesson, workspace: Workspace, name: str
) -> HandIn:
    """Let somebody take part, and begin the lesson unless they have. Raises Full."""
    known = homework.hand_ins.filter(workspace=workspace).first()
    if known is None and homework.hand_ins.count() >= MOST:
        raise Full
    given = " ".join(name.split())[:40]
    if known is None:
        known = HandIn.objects.create(homework=homework, workspace=workspace, name=given)
    elif given:
        known.name = given
        known.save(update_fields=["name"])
    if selectors.progress_get(workspace=workspace, stored_lesson=stored_lesson) is None:
        lesson_begin(workspace=workspace, stored_lesson=stored_lesson)
    return known


def open_for(workspace: Workspace, stored_lesson: StoredLesson) -> list[HandIn]:
    """Where a workspace may hand a lesson in."""
    return list(
        HandIn.objects.filter(
            workspace=workspace,
            homework__sha256=stored_lesson.sha256,
            homework__closes_at__gt=timezone.now(),
        ).select_related("homework")
    )


def hand_in(*, entry: HandIn, progress: Progress) -> None:
    """Hand in what was answered so far; a later time replaces it."""
    entry.answers, entry.handed_at = progress.answers, timezone.now()
    entry.save(update_fields=["answers", "handed_at"])


# ---------------------------------------------------------------- the teacher's page


@dataclass(frozen=True)
class Returned:
    """What came back from somebody; `step` is where they are, 0 once they have handed in."""

    entry: HandIn
    answers: dict[int, Answered]
    """By step."""
    step: int

    @property
    def n_right(self) -> int:
        return sum(each.right for each in self.answers.values())


@dataclass(frozen=True)
class Asked:
    """A question of the lesson, how many answered it, and how many of them rightly."""

    number: int
    ask: str
    n: int
    n_right: int


def returned(homework: Homework, stored_lesson: StoredLesson) -> list[Returned]:
    """What everybody did, in the order in which they began."""
    return [_returned(entry, stored_lesson) for entry in homework.hand_ins.order_by("pk")]


def _returned(entry: HandIn, stored_lesson: StoredLesson) -> Returned:
    answers = {each.number: each for each in answered(stored_lesson, entry.answers)}
    at = None
    if entry.handed_at is None and entry.workspace is not None:
        at = selectors.progress_get(workspace=entry.workspace, stored_lesson=stored_lesson)
    return Returned(entry, answers, min(at.reached, len(stored_lesson.lesson.steps)) if at else 0)


def asked_in(stored_lesson: StoredLesson, rows: list[Returned]) -> list[Asked]:
    """The questions of a lesson, with what came of them."""
    found = []
    for number, step in enumerate(stored_lesson.lesson.steps, 1):
        if step.question is not None:
            answers = [row.answers[number] for row in rows if number in row.answers]
            right = sum(each.right for each in answers)
            found.append(Asked(number, step.question.ask, len(answers), right))
    return found


TABLE: Final = ("name", "handed in", *COLUMNS)


def table_rows(rows: list[Returned]) -> Iterator[tuple[str | int, ...]]:
    """What was handed in as a table, a row for each answer."""
    for row in rows:
        if row.entry.handed_at is not None:
            at = row.entry.handed_at.isoformat(timespec="seconds")
            for each in row.answers.values():
                yield (row.entry.name, at, *row_of(each))
