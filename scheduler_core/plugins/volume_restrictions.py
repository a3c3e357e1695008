"""VolumeRestrictions: disks that only one pod may mount, and claims that only one pod may use.

Upstream: v1.36 plugins/volumerestrictions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.api import PersistentVolumeClaim, Pod, Volume
from scheduler_core.api.claims import READ_WRITE_ONCE_POD, claim_not_found, mounted_claims
from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo, TemplateTable
from scheduler_core.framework.dependence import DependsOn, PreparedFrom
from scheduler_core.framework.event_objects import expect, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventObject,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.signatures import Signed, volumes
from scheduler_core.framework.status import SKIP, Code, Status, Verdict

NO_STATE: Final = 'cannot read "PreFilterVolumeRestrictions" from cycleState'
DISK_CONFLICT: Final = "node(s) had no available disk"
READ_WRITE_ONCE_POD_CONFLICT: Final = (
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already "
    "in-use by another pod"
)
DEFAULT_RBD_POOL: Final = "rbd"


@dataclass(frozen=True, eq=False)
class FilterState:
    """`disks`: volumes that may conflict on a node; `claims`: those for one pod only.

    `n_users` is how many of the claims pods use already, wherever they run.
    """

    disks: tuple[Volume, ...]
    claims: frozenset[str]
    n_users: int


class VolumeRestrictions:
    """Reject nodes whose pods mount the same disk; reject all if another pod uses the claim.

    Upstream: v1.36 plugins/volumerestrictions.
    """

    name = "VolumeRestrictions"
    depends_on = DependsOn(prepared=PreparedFrom.TEMPLATE_WITHOUT_VOLUMES)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._users: ClaimUsers | None = None

    def sign_pod(self, pod: PodInfo) -> Signed:
        return (volumes(pod.pod.spec),)

    # ------------------------------------------------------------ filtering

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[FilterState] | Status:
        disks = tuple(filter(_may_conflict, pod.pod.spec.volumes))
        exclusive = set()
        for name in mounted_claims(pod.pod):
            claim = self._handle.objects.get(PersistentVolumeClaim, f"{pod.pod.namespace}/{name}")
            if claim is None:
                text = claim_not_found(name)
                return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (text,))
            if READ_WRITE_ONCE_POD in claim.spec.access_modes:
                exclusive.add(name)
        n_users = sum(self._is_used(f"{pod.pod.namespace}/{name}", nodes) for name in exclusive)
        if not disks and not n_users:
            return SKIP
        return Prepared(FilterState(disks, frozenset(exclusive), n_users))

    def _is_used(self, claim: str, nodes: Nodes) -> bool:
        if self._users is None:
            self._users = ClaimUsers(self._handle.cluster.templates)
        templates = self._users.templates(claim)
        users = int(nodes.count_pods(templates).sum()) if templates.any() else 0
        if self._handle.features.switches.stray_users_counted:
            users += nodes.cluster.stray_claims[claim]
        return users > 0

    def filter(self, state: FilterState | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        if state is None:
            return Verdict.error(nodes.n, NO_STATE)
        taken = _mounting_pods(state.disks, nodes) > 0
        in_use = n_users(state, nodes) > 0
        return Verdict.of(
            nodes.n,
            [
                (taken, Code.UNSCHEDULABLE, DISK_CONFLICT),
                (in_use & ~taken, Code.UNSCHEDULABLE, READ_WRITE_ONCE_POD_CONFLICT),
            ],
        )

    # ------------------------------------------------------------ events

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            ClusterEventWithHint(
                ClusterEvent(EventResource.POD, ActionType.DELETE),
                self.is_schedulable_after_pod_deleted,
            ),
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.ADD)),
            ClusterEventWithHint(
                ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD),
                self.is_schedulable_after_claim_added,
            ),
        ]

    def is_schedulable_after_pod_deleted(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if the deleted pod had a disk or claim of this pod's."""
        gone = expect(PodInfo, old).pod
        if gone.namespace != pod.pod.namespace:
            return QueueingHint.SKIP
        disks = tuple(filter(_may_conflict, pod.pod.spec.volumes))
        shared = set(mounted_claims(pod.pod)).intersection(mounted_claims(gone))
        return queue_if(bool(shared) or any(conflicts(disk, gone) for disk in disks))

    def is_schedulable_after_claim_added(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if the claim is one of the pod's."""
        claim = expect(PersistentVolumeClaim, new)
        mine = claim.namespace == pod.pod.namespace and claim.name in mounted_claims(pod.pod)
        return queue_if(mine)


# ---------------------------------------------------------------- disks


def _may_conflict(volume: Volume) -> bool:
    sources = volume.gce_persistent_disk, volume.aws_elastic_block_store, volume.iscsi, volume.rbd
    return any(source is not None for source in sources)


def conflicts(disk: Volume, pod: Pod) -> bool:
    """Whether a pod mounts the disk in a way that shuts others out."""
    return any(_same_disk(disk, volume) for volume in pod.spec.volumes)


def _same_disk(a: Volume, b: Volume) -> bool:
    """Whether both are one disk; all but AWS may be shared by pods that only read it."""
    return _same_gce(a, b) or _same_aws(a, b) or _same_iscsi(a, b) or _same_rbd(a, b)


def _same_gce(a: Volume, b: Volume) -> bool:
    one, other = a.gce_persistent_disk, b.gce_persistent_disk
    if one is None or other is None:
        return False
    return one.pd_name == other.pd_name and not (one.read_only and other.read_only)


def _same_aws(a: Volume, b: Volume) -> bool:
    one, other = a.aws_elastic_block_store, b.aws_elastic_block_store
    return one is not None and other is not None and one.volume_id == other.volume_id


def _same_iscsi(a: Volume, b: Volume) -> bool:
    one, other = a.iscsi, b.iscsi
    if one is None or other is None:
        return False
    return one.iqn == other.iqn and not (one.read_only and other.read_only)


def _same_rbd(a: Volume, b: Volume) -> bool:
    one, other = a.rbd, b.rbd
    if one is None or other is None or set(one.monitors).isdisjoint(other.monitors):
        return False
    same_pool = (one.pool or DEFAULT_RBD_POOL) == (other.pool or DEFAULT_RBD_POOL)
    shared = one.read_only and other.read_only
    return same_pool and one.image == other.image and not shared


def _mounting_pods(disks: tuple[Volume, ...], nodes: Nodes) -> IntArray:
    """Return how many pods of each node mount one of the disks, int64 (n,)."""
    if not disks:
        return np.zeros(nodes.n, np.int64)
    unnamed = tuple(_source_of(disk) for disk in disks)
    templates = nodes.cluster.templates.matching(
        ("VolumeRestrictions", unnamed),
        lambda template: any(conflicts(disk, template.pod) for disk in disks),
    )
    return nodes.count_pods(templates)


def _source_of(disk: Volume) -> tuple[object, ...]:
    """Return the parts of a volume that conflicts depend on."""
    return disk.gce_persistent_disk, disk.aws_elastic_block_store, disk.iscsi, disk.rbd


# ---------------------------------------------------------------- claims for one pod only


class ClaimUsers:
    """Which templates' pods use a claim; each template is looked at once."""

    def __init__(self, table: TemplateTable) -> None:
        self._table = table
        self._n_templates = 0
        self._by_claim: dict[str, list[int]] = {}

    def templates(self, claim: str) -> BoolArray:
        """Return the templates whose pods use the claim (`namespace/name`), bool (n_templates,)."""
        for template in self._table.templates[self._n_templates :]:
            for name in mounted_claims(template.pod):
                self._by_claim.setdefault(f"{template.namespace}/{name}", []).append(template.index)
        self._n_templates = len(self._table)
        chosen = np.zeros(self._n_templates, np.bool_)
        chosen[self._by_claim.get(claim, [])] = True
        return chosen


def n_users(state: FilterState, nodes: Nodes) -> IntArray:
    """Return how often the claims are used, in each node's world, int64 (n,).

    Upstream counts hypothetical pods per volume and by the claim's name alone, in whatever
    namespace they are.
    """
    counts = np.full(nodes.n, state.n_users)

    def uses(pods: tuple[PodInfo, ...]) -> int:
        return sum(name in state.claims for pod in pods for name in mounted_claims(pod.pod))

    for i, change in enumerate(nodes.changes):
        if change.added or change.removed:
            counts[i] += uses(change.added) - uses(change.removed)
    return counts
