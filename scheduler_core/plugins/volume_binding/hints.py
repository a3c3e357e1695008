"""Whether a change around volumes may help a pod whose volumes could not be had.

Upstream: v1.36 plugins/volumebinding/volume_binding.go (isSchedulableAfter...).
"""

from __future__ import annotations

from scheduler_core.api import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolumeClaim,
    StorageClass,
)
from scheduler_core.api.claims import claims_of
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.event_objects import expect, expect_or_none, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventObject,
    EventResource,
    QueueingHint,
)
from scheduler_core.plugins.volume_binding.topology import MIGRATED_PLUGINS, volume_limit


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
