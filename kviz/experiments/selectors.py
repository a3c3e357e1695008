"""Reads: the experiments of a workspace, how far they are, and their results."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet

from kviz.accounts.models import Workspace
from kviz.experiments.models import Experiment, Result
from kviz.snapshots.models import Snapshot


def experiments_visible(*, workspace: Workspace) -> QuerySet[Experiment]:
    """Those that the workspace has asked for, newest first."""
    mine = Experiment.objects.filter(workspace=workspace, by_itself=False)
    return mine.select_related("snapshot")


@dataclass(frozen=True)
class ExperimentFilter:
    """What a list of experiments is narrowed to; the empty filter leaves all."""

    text: str = ""
    """Part of an experiment's name, its cluster's, or of what is asked."""
    named: tuple[UUID, ...] = ()
    """Clusters that readers know by a name that has `text`, too."""
    kind: str = ""
    snapshot: UUID | None = None
    status: str = ""

    def __bool__(self) -> bool:
        return self != ExperimentFilter()


def experiments_filtered(*, workspace: Workspace, wanted: ExperimentFilter) -> QuerySet[Experiment]:
    """The workspace's experiments, narrowed, the newest first."""
    found = experiments_visible(workspace=workspace)
    if wanted.text:
        text = Q(snapshot__in=wanted.named)
        for column in ("name", "snapshot__name", "asked"):
            text |= Q(**{f"{column}__icontains": wanted.text})
        found = found.filter(text)
    columns = {"kind": wanted.kind, "snapshot": wanted.snapshot, "status": wanted.status}
    return found.filter(**{column: value for column, value in columns.items() if value})


def clusters_asked_about(*, workspace: Workspace) -> QuerySet[Snapshot]:
    """The clusters that the workspace has experiments about."""
    asked = experiments_visible(workspace=workspace).values("snapshot")
    return Snapshot.objects.filter(pk__in=asked).order_by("name")


def experiment_get(*, experiment_id: UUID, workspace: Workspace) -> Experiment | None:
    return experiments_visible(workspace=workspace).filter(pk=experiment_id).first()


def n_live(*, workspace: Workspace) -> int:
    """How many of its experiments wait or run."""
    return experiments_visible(workspace=workspace).filter(status__in=Experiment.LIVE).count()


def results_of(*, experiment: Experiment) -> QuerySet[Result]:
    """The results in the order in which they came."""
    return experiment.results.order_by("number")
