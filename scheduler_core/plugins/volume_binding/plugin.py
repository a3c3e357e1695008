"""The plugin at its extension points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.api import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from scheduler_core.api.claims import claims_of
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import VolumeBindingArgs
from scheduler_core.framework.dependence import DependsOn, PreparedFrom
from scheduler_core.framework.event_objects import expect, expect_or_none, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventObject,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import Prepared, Scores
from scheduler_core.framework.signatures import Signed, volumes
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, Verdict
from scheduler_core.plugins.volume_binding import binding, scoring
from scheduler_core.plugins.volume_binding.assume import AssumeCache, Assumption
from scheduler_core.plugins.volume_binding.binder import Binder, PodVolumes
from scheduler_core.plugins.volume_binding.pod_claims import ClaimSorter, claims_problem
from scheduler_core.plugins.volume_binding.topology import (
    MIGRATED_PLUGINS,
    VolumeTopology,
    volume_limit,
)

# Whether a change of volumes may help a pod whose volumes were not available.
#
# Upstream: v1.36 plugins/volumebinding/volume_binding.go (isSchedulableAfter...).


def events() -> list[ClusterEventWithHint]:
    """Return the events that may help, each with its hint where there is one."""
    changed = ActionType.ADD | ActionType.UPDATE
    return [
        ClusterEventWithHint(
            ClusterEvent(EventResource.STORAGE_CLASS, changed), after_storage_class_change
        ),
        ClusterEventWithHint(
            ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, changed), after_claim_change
        ),
        ClusterEventWithHint(ClusterEvent(EventResource.PERSISTENT_VOLUME, changed)),
        ClusterEventWithHint(
            ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
        ),
        ClusterEventWithHint(ClusterEvent(EventResource.CSI_NODE, changed), after_csi_node_change),
        ClusterEventWithHint(
            ClusterEvent(EventResource.CSI_DRIVER, ActionType.UPDATE), after_csi_driver_change
        ),
        ClusterEventWithHint(
            ClusterEvent(EventResource.CSI_STORAGE_CAPACITY, changed), after_capacity_change
        ),
    ]


def after_storage_class_change(pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
    """Queue if the class is new or allows other topologies."""
    before, after = expect_or_none(StorageClass, old), expect(StorageClass, new)
    return queue_if(before is None or before.allowed_topologies != after.allowed_topologies)


def after_claim_change(pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
    """Queue if the claim is one of the pod's."""
    claim = expect(PersistentVolumeClaim, new)
    mine = any(use.name == claim.name for use in claims_of(pod.pod))
    return queue_if(mine and claim.namespace == pod.pod.namespace)


def after_csi_node_change(pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
    """Queue if the CSINode is new or other in-tree plugins are migrated on it."""
    before = expect_or_none(CSINode, old)
    if before is None:
        return QueueingHint.QUEUE
    was = before.metadata.annotations.get(MIGRATED_PLUGINS, "")
    return queue_if(was != expect(CSINode, new).metadata.annotations.get(MIGRATED_PLUGINS, ""))


def after_csi_driver_change(pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
    """Queue if a driver of the pod's inline volumes no longer publishes its capacity."""
    before, after = expect(CSIDriver, old), expect(CSIDriver, new)
    inline = (volume.csi for volume in pod.pod.spec.volumes)
    uses = any(source is not None and source.driver == after.name for source in inline)
    stopped = before.spec.storage_capacity and not after.spec.storage_capacity
    return queue_if(bool(uses and stopped))


def after_capacity_change(pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
    """Queue if the pool is new or can make larger volumes."""
    before = expect_or_none(CSIStorageCapacity, old)
    if before is None:
        return QueueingHint.QUEUE
    was, limit = volume_limit(before), volume_limit(expect(CSIStorageCapacity, new))
    return queue_if(limit is not None and (was is None or limit > was))


NO_STATE: Final = "not found"
UNBOUND_IMMEDIATE: Final = "pod has unbound immediate PersistentVolumeClaims"


@dataclass(frozen=True, eq=False)
class Reserved:
    """What is assumed for a pod between Reserve and PreBind."""

    volumes: Sequence[Assumption[PersistentVolume]] = ()
    claims: Sequence[Assumption[PersistentVolumeClaim]] = ()


class VolumeBinding:
    """Reject nodes where a claim's volume cannot be used, and none found or made.

    Claims of classes that wait for their first consumer get a volume that suits the node: the
    smallest existing one that does, or one to be made where the class allows and there is room.
    The choice is assumed at Reserve and written at PreBind.

    Upstream: v1.36 plugins/volumebinding.
    """

    name = "VolumeBinding"
    depends_on = DependsOn(prepared=PreparedFrom.TEMPLATE_WITHOUT_VOLUMES)

    def __init__(self, args: VolumeBindingArgs, handle: Handle) -> None:
        self._handle = handle
        scores = handle.features.enabled("StorageCapacityScoring")
        self.shape = scoring.shape_function(args.shape or ()) if scores else None
        objects = handle.objects
        self.volumes = AssumeCache(objects, PersistentVolume)
        self._claims = AssumeCache(objects, PersistentVolumeClaim)
        self._sorter = ClaimSorter(objects, self._claims, self.volumes)
        self._binder: Binder | None = None
        self._reserved: dict[str, Reserved] = {}

    def sign_pod(self, pod: PodInfo) -> Signed:
        return (volumes(pod.pod.spec),)

    # ------------------------------------------------------------ filtering

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[PodVolumes] | Status:
        problem = claims_problem(pod.pod, self._handle.objects)
        if problem:
            return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (problem,))
        if not any(claims_of(pod.pod)):
            return SKIP
        claims = self._sorter.sort(pod.pod)
        if claims.immediate:
            return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (UNBOUND_IMMEDIATE,))
        return Prepared(self.binder.find_pod_volumes(claims))

    @property
    def binder(self) -> Binder:
        if self._binder is None:
            topology = VolumeTopology(self._handle.cluster, self._handle.objects)
            self._binder = Binder(self._handle.objects, self.volumes, topology)
        return self._binder

    def filter(self, state: PodVolumes | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        if state is None:
            return Verdict.error(nodes.n, NO_STATE)
        return state.verdict(nodes)

    # ------------------------------------------------------------ scoring

    def pre_score(
        self, state: object, pod: PodInfo, nodes: Nodes
    ) -> Prepared[PodVolumes | None] | Status:
        if self.shape is None:
            return SKIP
        return Prepared(state if isinstance(state, PodVolumes) else None)

    def score(self, state: PodVolumes | None, pod: PodInfo, nodes: Nodes) -> Scores:
        if state is None or self.shape is None:
            return np.zeros(nodes.n, np.int64)
        return scoring.score(state, nodes, self.shape)

    # ------------------------------------------------------------ reserving and binding

    def reserve(self, state: PodVolumes | None, pod: PodInfo, node_name: str) -> Status:
        """Assume the volumes and claims as they will be on the node."""
        if state is None or self._sorter.all_bound(pod.pod):
            return SUCCESS
        row = self._handle.cluster.row_of[node_name]
        self._reserved[pod.uid] = Reserved(
            [
                self.volumes.assume(binding.claimed(volume, claim))
                for volume, claim in state.static_bindings(row)
            ],
            [
                self._claims.assume(binding.selected(claim, node_name))
                for claim in state.dynamic_provisions(row)
            ],
        )
        return SUCCESS

    def unreserve(self, state: PodVolumes | None, pod: PodInfo, node_name: str) -> None:
        reserved = self._reserved.pop(pod.uid, Reserved())
        for volume in reserved.volumes:
            self.volumes.restore(volume)
        for claim in reserved.claims:
            self._claims.restore(claim)

    def pre_bind_pre_flight(self, state: PodVolumes | None, pod: PodInfo, node_name: str) -> Status:
        return SUCCESS if pod.uid in self._reserved else SKIP

    def pre_bind(self, state: PodVolumes | None, pod: PodInfo, node_name: str) -> Status:
        """Write what was assumed; the cluster's controllers complete the binding at once."""
        reserved = self._reserved.get(pod.uid)
        if reserved is None:
            return SUCCESS
        objects = self._handle.objects
        for volume in reserved.volumes:
            if refusal := self.volumes.refusal(volume):
                return Status(Code.ERROR, (refusal,))
            self._handle.write(volume.item)
            binding.complete_binding(volume.item, objects, self._handle.write)
        for claim in reserved.claims:
            # A claim that two volumes of the pod name is written twice: the second time in vain.
            if refusal := self._claims.refusal(claim):
                return Status(Code.ERROR, (refusal,))
            self._handle.write(claim.item)
            binding.provision(claim.item, self._handle.cluster, objects, self._handle.write)
        self.unreserve(state, pod, node_name)
        return SUCCESS

    # ------------------------------------------------------------ events

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return events()
