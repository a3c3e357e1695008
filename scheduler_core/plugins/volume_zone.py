"""VolumeZone: volumes labelled with a zone or region keep their pods there.

Upstream: v1.36 plugins/volumezone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.api import (
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from scheduler_core.api.claims import (
    WAIT_FOR_FIRST_CONSUMER,
    claim_class,
    claim_not_found,
    mounted_claims,
    not_found,
)
from scheduler_core.cluster.arrays import BoolArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.topology_keys import BETA_REGION, BETA_ZONE, REGION, ZONE
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
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.signatures import Signed, volumes
from scheduler_core.framework.status import SKIP, Code, Status, Verdict

CONFLICT: Final = "node(s) had no available volume zone"

TOPOLOGY_KEYS: Final = (BETA_ZONE, BETA_REGION, ZONE, REGION)
_STABLE_KEY: Final = {BETA_ZONE: ZONE, BETA_REGION: REGION}
ZONES_DELIMITER: Final = "__"


@dataclass(frozen=True, slots=True)
class VolumeTopology:
    """A zone or region label of a volume; a node must have one of the `values` for `key`."""

    volume: str
    key: str
    values: frozenset[str]


class VolumeZone:
    """Reject nodes outside the zones that the pod's bound volumes are labelled with.

    Nodes that have no zone or region label at all take any volume.

    Upstream: v1.36 plugins/volumezone.
    """

    name = "VolumeZone"
    depends_on = DependsOn(prepared=PreparedFrom.TEMPLATE_WITHOUT_VOLUMES)

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    def sign_pod(self, pod: PodInfo) -> Signed:
        return (volumes(pod.pod.spec),)

    # ------------------------------------------------------------ filtering

    def pre_filter(
        self, pod: PodInfo, nodes: Nodes
    ) -> Prepared[tuple[VolumeTopology, ...]] | Status:
        topologies: list[VolumeTopology] = []
        for name in mounted_claims(pod.pod):
            found = self._topologies_of_claim(pod.pod.namespace, name)
            if isinstance(found, str):
                return Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (found,))
            topologies.extend(found)
        return Prepared(tuple(topologies)) if topologies else SKIP

    def _topologies_of_claim(self, namespace: str, name: str) -> list[VolumeTopology] | str:
        """Return the labels of the claim's volume, or why the pod cannot be placed at all."""
        if not name:
            return "PersistentVolumeClaim had no name"
        objects = self._handle.objects
        claim = objects.get(PersistentVolumeClaim, f"{namespace}/{name}")
        if claim is None:
            return claim_not_found(name)
        if not claim.spec.volume_name:
            return self._unbound(claim)
        volume = objects.get(PersistentVolume, claim.spec.volume_name)
        if volume is None:
            return not_found("persistentvolume", claim.spec.volume_name)
        return volume_topologies(volume)

    def _unbound(self, claim: PersistentVolumeClaim) -> list[VolumeTopology] | str:
        name = claim_class(claim)
        if not name:
            return "PersistentVolumeClaim had no pv name and storageClass name"
        storage_class = self._handle.objects.get(StorageClass, name)
        if storage_class is None:
            return not_found("storageclass.storage.k8s.io", name)
        if storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER:
            return []
        return "PersistentVolume had no name"

    def filter(
        self, state: tuple[VolumeTopology, ...] | None, pod: PodInfo, nodes: Nodes
    ) -> Verdict:
        if state is None:  # PreFilter is switched off
            return self._filter_unprepared(pod, nodes)
        conflicts = np.zeros(nodes.n, np.bool_)
        for topology in state:
            conflicts |= ~in_topology(topology, nodes)
        conflicts &= _has_any_label(nodes)
        return Verdict.reject(conflicts, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, CONFLICT)

    def _filter_unprepared(self, pod: PodInfo, nodes: Nodes) -> Verdict:
        prepared = self.pre_filter(pod, nodes)
        if isinstance(prepared, Prepared):
            return self.filter(prepared.state, pod, nodes)
        if prepared.is_skip:
            return Verdict.passed(nodes.n)
        return Verdict.reject(np.ones(nodes.n, np.bool_), prepared.code, prepared.message)

    # ------------------------------------------------------------ events

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        changed = ActionType.ADD | ActionType.UPDATE
        return [
            ClusterEventWithHint(
                ClusterEvent(EventResource.STORAGE_CLASS, ActionType.ADD),
                self.is_schedulable_after_storage_class_added,
            ),
            ClusterEventWithHint(
                ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL)
            ),
            ClusterEventWithHint(
                ClusterEvent(EventResource.PERSISTENT_VOLUME_CLAIM, changed),
                self.is_schedulable_after_claim_change,
            ),
            ClusterEventWithHint(
                ClusterEvent(EventResource.PERSISTENT_VOLUME, changed),
                self.is_schedulable_after_volume_change,
            ),
        ]

    def is_schedulable_after_storage_class_added(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if claims of the class are bound only once their pod has a node."""
        return queue_if(expect(StorageClass, new).volume_binding_mode == WAIT_FOR_FIRST_CONSUMER)

    def is_schedulable_after_claim_change(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if the claim is one of the pod's."""
        claim = expect(PersistentVolumeClaim, new)
        mine = claim.namespace == pod.pod.namespace and claim.name in mounted_claims(pod.pod)
        return queue_if(mine)

    def is_schedulable_after_volume_change(
        self, pod: PodInfo, old: EventObject, new: EventObject
    ) -> QueueingHint:
        """Queue if the volume is new or its zone labels have changed."""
        before = expect_or_none(PersistentVolume, old)
        if before is None:
            return QueueingHint.QUEUE
        after = expect(PersistentVolume, new)
        return queue_if(volume_topologies(before) != volume_topologies(after))


def volume_topologies(volume: PersistentVolume) -> list[VolumeTopology]:
    """Return the zones and regions a volume is labelled with; a malformed label is ignored."""
    result = []
    for key in TOPOLOGY_KEYS:
        label = volume.metadata.labels.get(key)
        if label is None:
            continue
        values = [value.strip() for value in label.split(ZONES_DELIMITER)]
        if all(values):
            result.append(VolumeTopology(volume.name, key, frozenset(values)))
    return result


def in_topology(topology: VolumeTopology, nodes: Nodes) -> BoolArray:
    """Return which nodes have one of the values; for a beta key the stable one will do."""
    column = nodes.label(topology.key)
    within = column.map_bool(topology.values.__contains__)
    stable_key = _STABLE_KEY.get(topology.key)
    if stable_key is None:
        return within
    return within | (
        ~column.present & nodes.label(stable_key).map_bool(topology.values.__contains__)
    )


def _has_any_label(nodes: Nodes) -> BoolArray:
    labelled = np.zeros(nodes.n, np.bool_)
    for key in TOPOLOGY_KEYS:
        labelled |= nodes.label(key).present
    return labelled
