"""Reads: snapshots a workspace may see, and their objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

import msgspec
from django.db.models import Q, QuerySet

from kviz.accounts.models import Workspace
from kviz.samples import Sample
from kviz.snapshots.held import HELD, is_large
from kviz.snapshots.models import Snapshot, SnapshotObjects
from kviz.snapshots.samples import sample_of
from kviz.snapshots.summary import ClusterSummary, summarise
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.meta import KubeObject
from scheduler_core.api.packing import unpack_each
from scheduler_core.api.simulator import SimulatorResult
from scheduler_core.releases.choosing import release_told

MAX_NODES_BY_HAND = 30
MAX_PODS_BY_HAND = 20
"""So many waiting pods, and nodes, somebody can place by hand."""


def snapshots_visible(*, workspace: Workspace, share: str = "") -> QuerySet[Snapshot]:
    """The workspace's own, the samples, and the one the share token opens; newest first."""
    visible = Q(workspace=workspace) | Q(is_sample=True)
    if share:
        visible |= Q(share_token=share)
    return Snapshot.objects.filter(visible)


@dataclass(frozen=True)
class SnapshotFilter:
    """What a list of clusters is narrowed to; the empty filter leaves all."""

    text: str = ""
    """Part of a cluster's name."""
    pending: str = ""
    """"some" or "none": whether pods wait in it."""

    def __bool__(self) -> bool:
        return self != SnapshotFilter()


def snapshots_filtered(*, workspace: Workspace, wanted: SnapshotFilter) -> QuerySet[Snapshot]:
    """The workspace's own clusters, narrowed, the newest first."""
    found = Snapshot.objects.filter(workspace=workspace, is_sample=False)
    if wanted.text:
        found = found.filter(name__icontains=wanted.text)
    if wanted.pending == "some":
        return found.filter(overview__pending__gt=0)
    return found.filter(overview__pending=0) if wanted.pending else found


def snapshot_get(*, snapshot_id: UUID, workspace: Workspace, share: str = "") -> Snapshot | None:
    return snapshots_visible(workspace=workspace, share=share).filter(pk=snapshot_id).first()


def samples() -> QuerySet[Snapshot]:
    return Snapshot.objects.filter(is_sample=True).order_by("created_at", "name")


def sample_identified(*, snapshot_id: str) -> Sample | None:
    """The sample that a snapshot was made from; None for any other, or what is no identifier."""
    try:
        wanted = UUID(snapshot_id)
    except ValueError:
        return None
    found = samples().filter(pk=wanted).first()
    return sample_of(found) if found else None


def snapshot_objects(*, snapshot: Snapshot) -> ClusterObjects:
    """The snapshot's objects, in creation order; those that were asked for last are held."""
    key = (snapshot.pk, snapshot.sha256)
    return HELD.get(key, lambda: snapshot_packed(snapshot=snapshot))


def snapshot_objects_each(*, snapshot: Snapshot) -> Iterator[KubeObject]:
    """The same kind by kind, pods last, one after the other: a page need not hold a cluster."""
    return unpack_each(snapshot_packed(snapshot=snapshot))


def snapshot_packed(*, snapshot: Snapshot) -> bytes:
    """The same as they are stored."""
    packed = SnapshotObjects.objects.values_list("packed", flat=True).get(snapshot=snapshot)
    return bytes(packed)


def snapshot_told(*, snapshot: Snapshot) -> str:
    """What is known of the cluster's release (`scheduler_core.releases.choosing`)."""
    if snapshot.release_told:
        return snapshot.release_told
    return release_told(snapshot_objects_each(snapshot=snapshot))


def snapshot_config(*, snapshot: Snapshot) -> str:
    """The KubeSchedulerConfiguration that came with the objects, empty if none did."""
    found = SnapshotObjects.objects.filter(snapshot=snapshot)
    return found.values_list("scheduler_config", flat=True).first() or ""


def simulator_results(*, snapshot: Snapshot) -> list[SimulatorResult]:
    """What kube-scheduler-simulator wrote on pods, in the order of the upload."""
    found = SnapshotObjects.objects.filter(snapshot=snapshot)
    stored = found.values_list("results", flat=True).first() or []
    return msgspec.convert(stored, list[SimulatorResult])


def snapshot_is_large(*, snapshot: Snapshot) -> bool:
    """Whether a process should hold no other cluster beside it."""
    return _is_large(snapshot.pk, snapshot.sha256)


@lru_cache(maxsize=256)
def _is_large(snapshot_id: UUID, sha256: str) -> bool:
    return is_large(snapshot_packed(snapshot=Snapshot(pk=snapshot_id, sha256=sha256)))


def cluster_of(snapshot: Snapshot) -> ClusterSummary:
    """The summary of a snapshot, cached: large clusters take a second to add up."""
    return _cluster_of(snapshot.pk, snapshot.sha256)


def may_place_by_hand(snapshot: Snapshot) -> bool:
    """Whether so few pods wait for so few nodes that somebody can place them by hand."""
    if not 0 < snapshot.counts.get("Node", 0) <= MAX_NODES_BY_HAND:
        return False
    return 0 < cluster_of(snapshot).n_pending <= MAX_PODS_BY_HAND


@lru_cache(maxsize=8)
def _cluster_of(snapshot_id: UUID, sha256: str) -> ClusterSummary:
    snapshot = Snapshot.objects.only("pk").get(pk=snapshot_id)
    return summarise(snapshot_objects_each(snapshot=snapshot))
