"""Reads: the experiments of a workspace, how far they are, and their results."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from kviz.accounts.models import Workspace
from kviz.experiments.models import Experiment, Result


def experiments_visible(*, workspace: Workspace) -> QuerySet[Experiment]:
    """Those that the workspace has asked for, newest first."""
    mine = Experiment.objects.filter(workspace=workspace, by_itself=False)
    return mine.select_related("snapshot")


def experiment_get(*, experiment_id: UUID, workspace: Workspace) -> Experiment | None:
    return experiments_visible(workspace=workspace).filter(pk=experiment_id).first()


def n_live(*, workspace: Workspace) -> int:
    """How many of its experiments wait or run."""
    return experiments_visible(workspace=workspace).filter(status__in=Experiment.LIVE).count()


def results_of(*, experiment: Experiment) -> QuerySet[Result]:
    """The results in the order in which they came."""
    return experiment.results.order_by("number")
