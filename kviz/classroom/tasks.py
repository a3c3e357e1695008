"""What a step of a class is to try, and what came of the changes that the teacher ran for all."""

from __future__ import annotations

from typing import TypedDict
from uuid import UUID

from kviz.classroom.models import Room
from kviz.classroom.steps import Place
from kviz.common.wording import translated
from kviz.lessons.documents import GoalDocument, attempt_document
from kviz.lessons.marking_up import html_of
from kviz.runs.models import Run


class TriedDocument(TypedDict):
    """The latest try; `goals` is null while its run goes on, or if that failed (`error`)."""

    changes: str
    goals: list[GoalDocument] | None
    met: bool
    error: str


class TaskDocument(TypedDict):
    """`text` is HTML; `of` lists what may be changed, empty: anything."""

    text: str
    at_most: int
    of: list[str]
    tried: TriedDocument | None


class TaskOfTeacher(TypedDict):
    """`run` is that of the latest try."""

    hint: str
    run: str


def task_document(room: Room, place: Place) -> TaskDocument | None:
    """What the class may try at this step, the same for everybody."""
    task = place.step.task
    if task is None:
        return None
    return {
        "text": html_of(task.text),
        "at_most": task.at_most,
        "of": list(task.of),
        "tried": _tried(room, place),
    }


def _tried(room: Room, place: Place) -> TriedDocument | None:
    run = _run_of_try(room, place)
    if run is None or room.tried is None or place.step.task is None:
        return None
    found = translated(attempt_document(place.step.task, run, room.tried["changes"]))
    return {
        "changes": found["changes"],
        "goals": found["goals"],
        "met": found["met"],
        "error": found["error"],
    }


def _run_of_try(room: Room, place: Place) -> Run | None:
    if room.tried is None or room.tried["step"] != place.number:
        return None
    found = Run.objects.filter(pk=UUID(room.tried["run"]), workspace=room.workspace_id)
    return found.select_related("snapshot").first()


def task_of_teacher(room: Room, place: Place) -> TaskOfTeacher | None:
    task, run = place.step.task, _run_of_try(room, place)
    return None if task is None else {"hint": task.hint, "run": str(run.pk) if run else ""}
