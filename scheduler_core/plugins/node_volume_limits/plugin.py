"""The plugin at its extension points."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.api import (
    CSIDriver,
    CSINode,
    PersistentVolumeClaim,
    Pod,
    Volume,
    VolumeAttachment,
)
from scheduler_core.api.claims import claims_of
from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.csi_translation import plugin_of_inline
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
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
from scheduler_core.plugins.node_volume_limits.attachable import Attachable
from scheduler_core.plugins.node_volume_limits.attached import AttachedVolumes, NodeVolumes
from scheduler_core.plugins.node_volume_limits.limits import UNLIMITED, VolumeLimits

MAX_VOLUME_COUNT_EXCEEDED: Final = "node(s) exceed max volume count"

MAX_PROBLEMS: Final = 32
"""So many kinds of unreadable volumes are distinguished; the first one ends the cycle anyway."""

_Rejections = list[tuple[BoolArray, Code, str]]


@dataclass(frozen=True, eq=False)
class FilterState:
    """What the pod would add to a node with a CSINode and to one without."""

    with_csi_node: NodeVolumes
    without: NodeVolumes


class Kept:
    """What the plugin keeps about volumes and limits, from cycle to cycle."""

    def __init__(self, handle: Handle) -> None:
        self.attached = AttachedVolumes(handle.cluster, handle.objects)
        self.limits = VolumeLimits(handle.cluster, handle.objects)


class NodeVolumeLimits:
    """Reject nodes on which a CSI driver could not attach the pod's volumes too.

    Counted are the distinct volumes that pods of the node use, bound or yet to be made, and
    those attached besides. Disks of in-tree plugins count as those of the driver that took over.

    Upstream: v1.36 plugins/nodevolumelimits.
    """

    name = "NodeVolumeLimits"
    depends_on = DependsOn(prepared=PreparedFrom.TEMPLATE_WITHOUT_VOLUMES)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._scaling = handle.features.enabled("VolumeLimitScaling")
        self._kept: Kept | None = None

    def sign_pod(self, pod: PodInfo) -> Signed:
        return (volumes(pod.pod.spec),)

    # ------------------------------------------------------------ filtering

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[FilterState] | Status:
        if not any(map(_may_need_attaching, pod.pod.spec.volumes)):
            return SKIP
        if self._kept is None:
            self._kept = Kept(self._handle)
        self._kept.attached.refresh()
        self._kept.limits.refresh()
        return Prepared(FilterState(*(self._needed(pod.pod, on) for on in (True, False))))

    @property
    def kept(self) -> Kept:
        """Return what is known about volumes and limits; there is a pod that needs volumes."""
        assert self._kept is not None
        return self._kept

    def wants_installed(self, driver: str) -> bool:
        """Return whether a driver keeps pods off nodes where it is not installed."""
        known = self._handle.objects.get(CSIDriver, driver) if self._scaling else None
        return known is not None and bool(known.spec.prevent_pod_scheduling_if_missing)

    def _needed(self, pod: Pod, migrated: bool) -> NodeVolumes:
        attachable = Attachable(self._handle.objects, migrated)
        problem = attachable.add_pod(pod, new=True)
        return NodeVolumes(attachable.drivers, problem=problem)

    def filter(self, state: FilterState | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        if state is None:  # PreFilter is switched off
            prepared = self.pre_filter(pod, nodes)
            if not isinstance(prepared, Prepared):
                return Verdict.passed(nodes.n)
            state = prepared.state
        has_csi_node = self.kept.limits.has_csi_node[nodes.rows]
        decided: _Rejections = []
        for needed, where in (
            (state.with_csi_node, has_csi_node),
            (state.without, ~has_csi_node),
        ):
            if needed.problem is not None:
                decided.append((where, needed.problem.code, needed.problem.reasons[0]))
            elif needed.pods:
                decided.extend(self._missing_drivers(needed, where, nodes))
                if needed is state.with_csi_node:
                    decided.extend(self._crowded(needed, where, nodes))
        return Verdict.of(nodes.n, _first_only(nodes.n, decided))

    def _missing_drivers(self, needed: NodeVolumes, where: BoolArray, nodes: Nodes) -> _Rejections:
        """Return where a driver is missing that wants pods kept off then."""
        rejections: _Rejections = []
        for name in dict.fromkeys(needed.pods.values()):
            if self.wants_installed(name):
                missing = where & ~self.kept.limits.installed(name)[nodes.rows]
                text = f"{name} CSI driver is not installed on the node"
                rejections.append((missing, Code.UNSCHEDULABLE, text))
        return rejections

    def _crowded(self, needed: NodeVolumes, where: BoolArray, nodes: Nodes) -> _Rejections:
        """Return where volumes cannot be found, and where some driver has no room."""
        limits, attached = self.kept.limits, self.kept.attached
        where = where & limits.limited[nodes.rows]
        crowded = np.zeros(nodes.n, np.bool_)
        for driver in dict.fromkeys(needed.pods.values()):
            limit = limits.limit(driver)
            if limit is not None:
                crowded |= self._exceeds(driver, needed, limit)[nodes.rows]
        problems = {
            i: attached.problems[int(nodes.rows[i])]
            for i in np.flatnonzero(np.isin(nodes.rows, list(attached.problems))).tolist()
        }
        for i, change in enumerate(nodes.changes):
            if where[i] and (change.added or change.removed):
                row = int(nodes.rows[i])
                volumes = attached.of_pods(row, nodes.pods(i))
                crowded[i] = self._is_crowded(needed, volumes, row)
                problems.pop(i, None)
                if volumes.problem is not None:
                    problems[i] = volumes.problem
        return [
            *_by_problem(problems, where),
            (where & crowded, Code.UNSCHEDULABLE, MAX_VOLUME_COUNT_EXCEEDED),
        ]

    def _exceeds(self, driver: str, needed: NodeVolumes, limit: IntArray) -> BoolArray:
        """Return where a driver has no room for what a row does not have yet, bool (n_rows,)."""
        attached = self.kept.attached
        n_new = np.full(limit.size, needed.n_attached(driver))
        for volume, name in needed.pods.items():
            if name == driver:
                n_new[attached.rows_with(volume)] -= 1
        exceeds: BoolArray = attached.n_attached(driver) + n_new > limit
        return exceeds & (n_new > 0)

    def _is_crowded(self, needed: NodeVolumes, volumes: NodeVolumes, row: int) -> bool:
        new = Counter(
            driver for volume, driver in needed.pods.items() if volume not in volumes.pods
        )
        for driver, count in new.items():
            limits = self.kept.limits.limit(driver)
            limit = UNLIMITED if limits is None else int(limits[row])
            if volumes.n_attached(driver) + count > limit:
                return True
        return False

    # ------------------------------------------------------------ events

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return [
            ClusterEventWithHint(ClusterEvent(EventResource.CSI_NODE, ActionType.ADD)),
            ClusterEventWithHint(
                ClusterEvent(EventResource.CSI_NODE, ActionType.UPDATE),
                self.is_schedulable_after_csi_node_updated,
            ),
            ClusterEventWithHint(
                ClusterEvent(EventResource.POD, ActionType.DELETE),
                self.is_schedulable_after_pod_deleted,
            ),
            ClusterEventWithHint(
                ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, ActionType.ADD),
                self.is_schedulable_after_claim_added,
            ),
            ClusterEventWithHint(
                ClusterEvent(EventResource.VOLUME_ATTACHMENT, ActionType.DELETE),
                self.is_schedulable_after_volume_attachment_deleted,
            ),
        ]

    def is_schedulable_after_pod_deleted(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if the deleted pod had a node and a volume that may have been attached."""
        gone = expect(PodInfo, old)
        if not gone.node_name and not gone.nominated_node_name:
            return QueueingHint.SKIP
        return queue_if(any(map(_may_need_attaching, gone.pod.spec.volumes)))

    def is_schedulable_after_claim_added(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if the claim is one of the pod's."""
        claim = expect(PersistentVolumeClaim, new)
        mine = any(use.name == claim.name for use in claims_of(pod.pod))
        return queue_if(mine and claim.namespace == pod.pod.namespace)

    def is_schedulable_after_volume_attachment_deleted(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if the pod has a claim, or a disk of the driver that has let go of one."""
        attachment = expect(VolumeAttachment, old)
        for volume in pod.pod.spec.volumes:
            plugin = plugin_of_inline(volume)
            if volume.persistent_volume_claim is not None:
                return QueueingHint.QUEUE
            if plugin is not None and plugin.driver == attachment.spec.attacher:
                return QueueingHint.QUEUE
        return QueueingHint.SKIP

    def is_schedulable_after_csi_node_updated(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if a driver of the node can take more volumes than before."""
        before, after = _counts(expect(CSINode, old)), _counts(expect(CSINode, new))
        return queue_if(any(count > before.get(name, 0) for name, count in after.items()))


def _may_need_attaching(volume: Volume) -> bool:
    return (
        volume.persistent_volume_claim is not None
        or volume.ephemeral is not None
        or plugin_of_inline(volume) is not None
    )


def _counts(csi_node: CSINode) -> dict[str, int]:
    return {
        driver.name: (driver.allocatable.count or 0) if driver.allocatable else 0
        for driver in csi_node.spec.drivers
    }


def _by_problem(problems: Mapping[int, Status], where: BoolArray) -> _Rejections:
    """Return the nodes with problems, each kind of problem once."""
    positions: dict[Status, list[int]] = {}
    for i, problem in problems.items():
        positions.setdefault(problem, []).append(i)
    rejections: _Rejections = []
    for problem, at in positions.items():
        having = np.zeros(where.size, np.bool_)
        having[at] = True
        rejections.append((where & having, problem.code, problem.reasons[0]))
    return rejections[:MAX_PROBLEMS]


def _first_only(n: int, rejections: _Rejections) -> _Rejections:
    """Let each of `n` nodes keep the first rejection that meets it."""
    free = np.ones(n, np.bool_)
    remaining: _Rejections = []
    for where, code, text in rejections:
        remaining.append((where & free, code, text))
        free = free & ~where
    return remaining
