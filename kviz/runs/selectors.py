"""Reads: runs a workspace may see, and the index of their cycles and pods."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Final
from uuid import UUID

from django.db.models import F, Q, QuerySet, Sum
from django.db.models.functions import Coalesce, Length

from kviz import sentences
from kviz.accounts.models import Workspace
from kviz.runs.models import Cycle, Optimum, PodOutcome, Run, ShareLink
from kviz.snapshots.models import Snapshot, SnapshotObjects
from scheduler_core.trace.index import UNKNOWN

_BEING_COMPUTED_AGAIN: Final = Q(again_of__older=Run.Older.WAITING)


def _known() -> QuerySet[Run]:
    """All runs but those of which it is not known yet whether they decide as an older kviz did."""
    return Run.objects.exclude(_BEING_COMPUTED_AGAIN)


def runs_visible(*, workspace: Workspace | None, share: str = "") -> QuerySet[Run]:
    """The workspace's own runs, and those that the share token opens."""
    visible = Q(workspace=workspace)
    if share:
        visible |= Q(pk__in=ShareLink.objects.open().filter(token=share).values("run"))
        visible |= Q(snapshot__share_token=share, workspace=F("snapshot__workspace"))
    return _known().filter(visible).select_related("snapshot")


class Differs(StrEnum):
    """In what runs of a list differ from their clusters as they are."""

    ANY = ""
    NOTHING = "nothing"
    CHANGES = "changes"
    CONFIGURATION = "configuration"
    SCENARIO = "scenario"


@dataclass(frozen=True)
class RunFilter:
    """What a list of runs is narrowed to; the empty filter leaves all."""

    text: str = ""
    """Part of a run's name, its cluster's, or of what differs."""
    named: tuple[UUID, ...] = ()
    """Clusters that readers know by a name that has `text`, too."""
    snapshot: UUID | None = None
    status: str = ""
    differs: Differs = Differs.ANY

    def __bool__(self) -> bool:
        return self != RunFilter()


def runs_filtered(*, workspace: Workspace, wanted: RunFilter) -> QuerySet[Run]:
    """The workspace's own runs, narrowed, the newest first."""
    runs = _known().filter(workspace=workspace).select_related("snapshot").defer("luck")
    if wanted.text:
        here = ("name", "snapshot__name", "changes", "scheduler_config", "scenario", "release")
        found = Q(snapshot__in=wanted.named)
        for column in here:
            found |= Q(**{f"{column}__icontains": wanted.text})
        runs = runs.filter(found)
    if wanted.snapshot:
        runs = runs.filter(snapshot=wanted.snapshot)
    if wanted.status:
        runs = runs.filter(status=wanted.status)
    match wanted.differs:
        case Differs.CHANGES:
            return runs.exclude(changes=[])
        case Differs.CONFIGURATION:
            return runs.exclude(scheduler_config="")
        case Differs.SCENARIO:
            return runs.exclude(scenario="")
        case Differs.NOTHING:
            return runs.filter(changes=[], scheduler_config="", scenario="")
        case Differs.ANY:
            return runs


def clusters_run(*, workspace: Workspace) -> QuerySet[Snapshot]:
    """The clusters that the workspace has runs of."""
    run_of = _known().filter(workspace=workspace).values("snapshot")
    return Snapshot.objects.filter(pk__in=run_of).order_by("name")


def runs_over(*, snapshot: Snapshot, workspace: Workspace) -> QuerySet[Run]:
    """The workspace's runs over a snapshot, newest first."""
    return _known().filter(snapshot=snapshot, workspace=workspace)


def runs_to_compare(*, workspace: Workspace) -> QuerySet[Run]:
    """The workspace's simulated runs that are over, newest first."""
    runs = _known().filter(workspace=workspace, kind=Run.Kind.SIMULATED)
    return runs.exclude(status__in=Run.LIVE).select_related("snapshot")


def runs_before(*, run: Run, workspace: Workspace) -> QuerySet[Run]:
    """The workspace's runs of the same cluster that were over before this one was made."""
    runs = runs_to_compare(workspace=workspace).filter(created_at__lt=run.created_at)
    return runs.filter(snapshot=run.snapshot) if run.snapshot else runs.none()


def run_get(*, run_id: UUID, workspace: Workspace | None, share: str = "") -> Run | None:
    return runs_visible(workspace=workspace, share=share).filter(pk=run_id).first()


def link_ended(*, run_id: UUID, share: str) -> ShareLink | None:
    """The link that opened a run once and does so no more."""
    known = ShareLink.objects.filter(run=run_id, token=share).first() if share else None
    return known if known and not known.is_open else None


def links_of(*, workspace: Workspace) -> QuerySet[ShareLink]:
    """All links to a workspace's runs, those that are over among them; the latest first."""
    links = ShareLink.objects.filter(run__workspace=workspace)
    return links.select_related("run__snapshot", "made_by")


def optimum_known(*, run: Run) -> Optimum | None:
    """The optimum of the whole run that was asked for last and of which the reach is known."""
    known = run.optima.filter(at_cycle=1, answer__reach__0__since=0)
    return known.order_by("asked_at").last()


# ---------------------------------------------------------------- variants

MAX_VARIANTS: Final = 200
"""Of one run, those of its variants among them, that a page shows."""


@dataclass
class Variant:
    """A variant of a run, with those made of it."""

    run: Run
    variants: list[Variant]

    @property
    def changes(self) -> list[dict[str, object]]:
        """What is different from the run it was made of."""
        return own_changes(run=self.run)


def sentence_of(change: Mapping[str, object]) -> str:
    """Return what a change of a run does; old rows have it in English only."""
    said = sentences.said(change.get("said"))
    return said if isinstance(said, str) else str(change["sentence"])


def own_changes(*, run: Run) -> list[dict[str, object]]:
    """The changes of a run that its parent does not have."""
    changes: list[dict[str, object]] = run.changes[run.n_inherited :]
    return changes


def parent_of(*, run: Run, workspace: Workspace) -> Run | None:
    """The run that this one is a variant of, if the workspace may see it."""
    return run_get(run_id=run.parent_id, workspace=workspace) if run.parent_id else None


def variants_of(*, run: Run, workspace: Workspace) -> list[Variant]:
    """The workspace's variants of a run as a tree, the oldest first."""
    top: list[Variant] = []
    below, n_found = {run.pk: top}, 0
    while below and n_found < MAX_VARIANTS:
        rows = Run.objects.filter(parent__in=below, workspace=workspace).order_by("created_at")
        found = list(rows.select_related("snapshot")[: MAX_VARIANTS - n_found])
        n_found += len(found)
        level = {each.pk: Variant(each, []) for each in found}
        for each in found:
            if each.parent_id is not None:
                below[each.parent_id].append(level[each.pk])
        below = {pk: variant.variants for pk, variant in level.items()}
    return top


# ---------------------------------------------------------------- the index


class CycleKind(StrEnum):
    """What a list of cycles may be narrowed to."""

    ALL = ""
    SCHEDULED = "scheduled"
    UNSCHEDULABLE = "unschedulable"
    ERRORS = "errors"
    TIES = "ties"
    PREEMPTIONS = "preemptions"

    @classmethod
    def of(cls, text: str) -> CycleKind:
        """The kind that an address names; all cycles if there is no such kind."""
        return next((kind for kind in cls if kind == text), cls.ALL)


def cycles_filtered(
    *, run: Run, kind: CycleKind = CycleKind.ALL, pod: str = "", after: int = 0
) -> QuerySet[Cycle]:
    """Cycles with a number above `after`: all, or those of one kind or pod, in order."""
    cycles = run.cycle_rows.filter(number__gt=after).order_by("number")
    if pod:
        cycles = cycles.filter(pod=pod)
    match kind:
        case CycleKind.TIES:
            return cycles.filter(n_tied__gt=1)
        case CycleKind.PREEMPTIONS:
            return cycles.exclude(n_victims=0, nominated_node="")
        case CycleKind.ERRORS:
            return cycles.filter(result__in=[Cycle.Result.ERROR, Cycle.Result.BIND_ERROR])
        case CycleKind.SCHEDULED:
            return cycles.filter(result=Cycle.Result.SCHEDULED)
        case CycleKind.UNSCHEDULABLE:
            return cycles.filter(result=Cycle.Result.UNSCHEDULABLE)
        case CycleKind.ALL:
            return cycles


def pods_pending(*, run: Run) -> QuerySet[PodOutcome]:
    """Pods known to be without a node, the most important first."""
    without = run.pod_outcomes.filter(node="", deleted=False).exclude(queue=UNKNOWN)
    return without.order_by("-priority", "pod")


def pods_evicted(*, run: Run) -> QuerySet[PodOutcome]:
    return run.pod_outcomes.exclude(evicted_in_cycle=None).order_by("evicted_in_cycle", "pod")


MAX_VICTIMS: Final = 10


def victims_of(*, run: Run, pod: str) -> list[str]:
    """Return the pods that were evicted to make room for one, the first few."""
    victims = run.pod_outcomes.filter(evicted_by=pod).order_by("pod")
    return list(victims.values_list("pod", flat=True)[:MAX_VICTIMS])


def pods_of_another_verdict(*, run: Run) -> QuerySet[PodOutcome]:
    """Pods of which their cluster says something else than the run, by name."""
    return run.pod_outcomes.filter(cluster_says__agrees=False).order_by("pod")


def run_as_it_is(*, snapshot: Snapshot, workspace: Workspace) -> Run | None:
    """The latest finished run over a cluster that changes nothing in it, if there is one."""
    runs = runs_over(snapshot=snapshot, workspace=workspace)
    return runs.filter(status=Run.Status.FINISHED, changes=[], scenario="").first()


def pod_outcome(*, run: Run, namespace: str, name: str) -> PodOutcome | None:
    return run.pod_outcomes.filter(pod=f"{namespace}/{name}").first()


# ---------------------------------------------------------------- one run


@dataclass(frozen=True)
class Progress:
    """What a viewer receives of a run whenever it changes."""

    status: str
    cycles: int
    bound: int
    pending: int
    last_seq: int
    error: str

    @property
    def is_over(self) -> bool:
        return self.status not in Run.LIVE


def run_progress(*, run_id: UUID) -> Progress | None:
    """How far a run is; None if it was deleted."""
    wanted = [field.name for field in fields(Progress)]
    row = Run.objects.filter(pk=run_id).values(*wanted).first()
    return None if row is None else Progress(**row)


@dataclass(frozen=True)
class StoredBytes:
    """What a run takes where it is stored, packed."""

    headers: int
    details: int
    objects: int

    @property
    def all(self) -> int:
        return self.headers + self.details + self.objects


def stored_bytes(*, run: Run) -> StoredBytes:
    """How large a run is, without reading it."""
    trace = run.chunks.aggregate(
        headers=Coalesce(Sum(Length("headers")), 0), details=Coalesce(Sum(Length("details")), 0)
    )
    packed = SnapshotObjects.objects.filter(snapshot=run.snapshot_id)
    objects = packed.values_list(Length("packed"), flat=True).first() or 0
    return StoredBytes(**trace, objects=objects)


DEVICE_KINDS: Final = ("ResourceSlice", "ResourceClaim", "ResourceClaimTemplate")


def has_devices(*, run: Run) -> bool:
    """Whether a run's cluster or scenario has devices or claims, which its cycles may be asked for.

    A scheduler that is observed does not tell.
    """
    if run.is_observed or run.snapshot is None:
        return False
    counts = run.snapshot.counts
    return any(kind in counts or kind in run.scenario for kind in DEVICE_KINDS)


def may_ask(run: Run) -> bool:
    """Whether it can be said at all: kviz has decided the run, without extenders, to its end."""
    has_extenders = "extenders:" in run.scheduler_config or '"extenders"' in run.scheduler_config
    simulated = not run.is_observed and run.snapshot is not None
    return simulated and run.status == Run.Status.FINISHED and not has_extenders
