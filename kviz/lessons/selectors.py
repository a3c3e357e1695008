"""Reads: the stored lessons, and how far a workspace is in them."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.conf import settings
from django.db.models import Q
from django.utils.translation import get_language

from kviz.accounts.models import Workspace
from kviz.lessons.lesson import Step
from kviz.lessons.library import Library, StoredLesson
from kviz.lessons.models import Progress
from kviz.lessons.translating import library_in
from kviz.runs.models import Run


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
