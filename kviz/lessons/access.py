"""The lesson of an address, and the caller's progress in it."""

from __future__ import annotations

from kviz.accounts.models import Workspace
from kviz.lessons import selectors
from kviz.lessons.library import StoredLesson
from kviz.lessons.models import Progress


def lesson_named(slug: str) -> StoredLesson | None:
    return selectors.lessons().get(slug)


def begun(workspace: Workspace, slug: str) -> tuple[StoredLesson, Progress] | None:
    """A lesson that a workspace has begun; None for any other."""
    stored_lesson = lesson_named(slug)
    progress = (
        selectors.progress_get(workspace=workspace, stored_lesson=stored_lesson)
        if stored_lesson
        else None
    )
    return (stored_lesson, progress) if stored_lesson and progress else None
