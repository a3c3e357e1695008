"""Reads: the stored lessons, and how far a workspace is in them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Final, TypeVar
from uuid import UUID

import msgspec
from django.conf import settings
from django.db.models import Q
from django.utils.translation import get_language, override, pgettext

from kviz.accounts.models import Workspace
from kviz.lessons.lesson import Step
from kviz.lessons.library import Library, StoredLesson, library
from kviz.lessons.models import Progress
from kviz.lessons.texts import TEXTS
from kviz.reference.form import Part
from kviz.runs.models import Run

# A lesson in its reader's language: what it says changes, what the engine is asked does not.

CONTEXT: Final = "lesson"
"""Of a lesson's texts in the catalogues."""

AnyPart = TypeVar("AnyPart", bound=Part)


@cache
def library_in(language: str, folder: str) -> Library:
    """The lessons in a language: by texts of their own, else by the catalogues, as far as known."""
    found = library(folder)
    with override(language):
        return Library(
            tuple(_translated_stored(each, language) for each in found.lessons), found.broken
        )


def _translated_stored(stored_lesson: StoredLesson, language: str) -> StoredLesson:
    own = dict(stored_lesson.languages).get(language)
    return replace(stored_lesson, lesson=own or translated(stored_lesson.lesson))


def translated(part: AnyPart) -> AnyPart:
    """A part of a lesson with its texts in the active language."""
    changed = {name: _in_language(name, getattr(part, name)) for name in part.__struct_fields__}
    return msgspec.structs.replace(part, **changed)


def _in_language(name: str, value: object) -> object:
    if isinstance(value, Part):
        return translated(value)
    if isinstance(value, tuple):
        return tuple(_in_language("", each) for each in value)
    if name in TEXTS and isinstance(value, str) and value.strip():
        return pgettext(CONTEXT, value.strip())
    return value


def lessons() -> Library:
    """Those that come with kviz and those of the operator's folder, in the asker's language."""
    return library_in(get_language() or settings.LANGUAGE_CODE, settings.LESSONS_DIR)


def progress_get(*, workspace: Workspace, stored_lesson: StoredLesson) -> Progress | None:
    """How far a workspace is; None if it has not begun, or has begun another version."""
    found = Progress.objects.filter(
        workspace=workspace, slug=stored_lesson.slug, sha256=stored_lesson.sha256, run__isnull=False
    )
    return found.select_related("run", "run__snapshot", "workspace").first()


def hides(step: Step) -> bool:
    """Whether a step asks or reveals something, which is shown only then."""
    return step.question is not None or step.reveal is not None


def is_shown(progress: Progress, number: int) -> bool:
    """Whether a step's question is answered, and what it hides revealed."""
    return str(number) in progress.answers


@dataclass(frozen=True)
class Entry:
    """A lesson on the list; `step` is the one to go on with, 0: not begun."""

    stored_lesson: StoredLesson
    step: int
    n_steps: int
    right: int
    asked: int

    @property
    def done(self) -> bool:
        return self.step > self.n_steps


def entries(*, workspace: Workspace) -> list[Entry]:
    """All lessons in order, each with how far the workspace is."""
    rows = Progress.objects.filter(workspace=workspace, run__isnull=False)
    known = {(row.slug, row.sha256): row for row in rows}
    return [_entry(each, known.get((each.slug, each.sha256))) for each in lessons().lessons]


def _entry(stored_lesson: StoredLesson, progress: Progress | None) -> Entry:
    steps = stored_lesson.lesson.steps
    right = sum(bool(each["right"]) for each in progress.answers.values()) if progress else 0
    asked = sum(step.question is not None for step in steps)
    return Entry(stored_lesson, progress.reached if progress else 0, len(steps), right, asked)


def attempt_run(*, progress: Progress, number: int) -> Run | None:
    """The run of the latest attempt at a step's task, if it is still there."""
    attempt = progress.attempts.get(str(number))
    if attempt is None:
        return None
    owned = Q(pk=UUID(attempt["run"]), workspace=progress.workspace)
    return Run.objects.filter(owned).select_related("snapshot").first()
