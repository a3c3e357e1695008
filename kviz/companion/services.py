"""Writes: the run that a place of a page opens, made when it is asked for first."""

from __future__ import annotations

import hashlib
from pathlib import Path

from kviz.accounts.models import Workspace
from kviz.lessons.enacting import cluster_text, release_of, scenario_of, scheduler_config_of
from kviz.lessons.lesson import Lesson
from kviz.lessons.library import StoredLesson
from kviz.lessons.services import lesson_run, snapshot_of
from kviz.runs.models import Run
from kviz.without_secrets import without_secrets


def run_of_place(*, workspace: Workspace, stage: Lesson) -> Run:
    """The workspace's run of a stage, an earlier one if it is the same.

    Raises ConfigError, InvalidInput, TooManyAtOnce.
    """
    digest = hashlib.sha256(cluster_text(stage)).hexdigest()
    stored = StoredLesson(slug="cluster", path=Path(), sha256=digest, lesson=stage)
    release = release_of(stage)
    same = Run.objects.filter(
        workspace=workspace,
        snapshot=snapshot_of(workspace, stored),
        scheduler_config=scheduler_config_of(stage),
        scenario=without_secrets(scenario_of(stage)),
        release=release.name,
        seed=0,
        feature_gates={},
        changes=[],
        hidden_after=None,
        tie_break=release.tie_break,
        queue_order="listed",
    ).exclude(status__in=(Run.Status.FAILED, Run.Status.CANCELLED))
    return same.first() or lesson_run(workspace=workspace, stored_lesson=stored)
