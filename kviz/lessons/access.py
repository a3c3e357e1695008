"""Which lesson an address names, and how far who asks is in it."""

from __future__ import annotations

from kviz.accounts.models import Workspace
from kviz.lessons import selectors
from kviz.lessons.library import Shelved
from kviz.lessons.models import Progress


def lesson_named(slug: str) -> Shelved | None:
    return selectors.lessons().get(slug)


def begun(workspace: Workspace, slug: str) -> tuple[Shelved, Progress] | None:
    """A lesson that a workspace has begun; None for any other."""
    shelved = lesson_named(slug)
    progress = selectors.progress_get(workspace=workspace, shelved=shelved) if shelved else None
    return (shelved, progress) if shelved and progress else None
