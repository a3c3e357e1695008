"""What the scheduler does when something in the cluster changes.

Upstream: v1.36 pkg/scheduler/eventhandlers.go.
"""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.api import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    DeviceClass,
    DeviceTaintRule,
    KubeObject,
    Node,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    ResourceClaim,
    ResourceSlice,
    StorageClass,
    VolumeAttachment,
)
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.devices.taint_rules import rules_in_effect, tainted
from scheduler_core.framework.events import ActionType, ClusterEvent, EventResource
from scheduler_core.framework.waiting import WaitingPods
from scheduler_core.queue.cluster_events import (
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    NODE_DELETE,
)
from scheduler_core.queue.event_changes import node_scheduling_properties_change
from scheduler_core.scheduler.cycle import Scheduler
from scheduler_core.trace.tables import TERMINAL_PHASES

EVENT_RESOURCES: Mapping[type[KubeObject], EventResource] = {
    CSINode: EventResource.CSI_NODE,
    CSIDriver: EventResource.CSI_DRIVER,
    CSIStorageCapacity: EventResource.CSI_STORAGE_CAPACITY,
    PersistentVolume: EventResource.PERSISTENT_VOLUME,
    PersistentVolumeClaim: EventResource.PERSISTENT_VOLUME_CLAIM,
    StorageClass: EventResource.STORAGE_CLASS,
    VolumeAttachment: EventResource.VOLUME_ATTACHMENT,
    ResourceClaim: EventResource.RESOURCE_CLAIM,
    ResourceSlice: EventResource.RESOURCE_SLICE,
    DeviceClass: EventResource.DEVICE_CLASS,
}


def is_visible(pod: Pod) -> bool:
    """Return whether the scheduler watches the pod at all: finished pods are filtered out."""
    return pod.status.phase not in TERMINAL_PHASES


class EventHandlers:
    """Delivers the cluster's changes to cache, object store and queue."""

    def __init__(
        self,
        scheduler: Scheduler,
        objects: ObjectStore,
        waiting_pods: WaitingPods,
        features: FeatureGates,
    ) -> None:
        self._scheduler = scheduler
        self._features = features
        self._waiting_pods = waiting_pods
        self._cache = scheduler.cache
        self._queue = scheduler.queue
        self._objects = objects

    def added(self, item: KubeObject) -> None:
        if isinstance(item, Node):
            self._cache.add_node(item)
            self._queue.move_all_to_active_or_backoff_queue(NODE_ADD, None, item)
        elif isinstance(item, Pod):
            if is_visible(item):
                self._add_pod(self._info(item))
        elif isinstance(item, DeviceTaintRule):
            self._rule_changed(item, present=True)
        else:
            self._objects.put(item)
            self._move_for(item, ActionType.ADD, None, item)

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        if isinstance(old, Node) and isinstance(new, Node):
            self._cache.update_node(new)
            for event in node_scheduling_properties_change(old, new, self._features):
                self._queue.move_all_to_active_or_backoff_queue(event, old, new)
        elif isinstance(old, Pod) and isinstance(new, Pod):
            self._pod_updated(old, new)
        elif isinstance(new, DeviceTaintRule):
            self._rule_changed(new, present=True)
        else:
            self._objects.put(new)
            self._move_for(new, ActionType.UPDATE, old, new)

    def deleted(self, item: KubeObject) -> None:
        if isinstance(item, Node):
            self._queue.move_all_to_active_or_backoff_queue(NODE_DELETE, item, None)
            self._cache.remove_node(item)
        elif isinstance(item, Pod):
            if is_visible(item):
                self._delete_pod(self._info(item))
            self._cache.columns.templates.forget(item)
        elif isinstance(item, DeviceTaintRule):
            self._rule_changed(item, present=False)
        else:
            self._objects.remove(item)
            self._move_for(item, ActionType.DELETE, item, None)

    def _info(self, pod: Pod) -> PodInfo:
        return self._cache.columns.templates.info(pod)

    def _move_for(
        self, item: KubeObject, action: ActionType, old: KubeObject | None, new: KubeObject | None
    ) -> None:
        if isinstance(item, DeviceClass):
            # Which nodes have room for an extended resource depends on the classes that back it.
            self._cache.columns.touch_all()
        resource = EVENT_RESOURCES.get(type(item))
        if resource is not None:
            event = ClusterEvent(resource, action)
            self._queue.move_all_to_active_or_backoff_queue(event, old, new)

    def _rule_changed(self, rule: DeviceTaintRule, *, present: bool) -> None:
        """Take each slice for updated whose devices have other taints now (if rules count)."""
        before = self._tainted_slices()
        (self._objects.put if present else self._objects.remove)(rule)
        for old, new in zip(before, self._tainted_slices(), strict=True):
            if old != new:
                self._move_for(new, ActionType.UPDATE, old, new)

    def _tainted_slices(self) -> list[ResourceSlice]:
        rules = rules_in_effect(self._objects, self._features)
        return [tainted(each, rules) for each in self._objects.all(ResourceSlice)]

    # ------------------------------------------------------------ pods

    def _responsible_for(self, pod: PodInfo) -> bool:
        return pod.pod.spec.scheduler_name in self._scheduler.profiles

    def _add_pod(self, pod: PodInfo) -> None:
        if pod.node_name:
            self._add_assigned_pod(pod)
        elif self._responsible_for(pod):
            self._queue.add(pod)

    def _pod_updated(self, old: Pod, new: Pod) -> None:
        """A pod that finishes leaves the scheduler's sight: for it, that is a deletion."""
        if not is_visible(old):
            if is_visible(new):
                self._add_pod(self._info(new))
            return
        if not is_visible(new):
            self._end_pod(self._info(old))
            return
        before, after = self._info(old), self._info(new)
        if before.node_name:
            self._update_assigned_pod(before, after)
        elif after.node_name:
            self._add_assigned_pod(after)
            if self._responsible_for(before):
                self._queue.delete(before)
        elif self._responsible_for(before):
            self._update_pending_pod(before, after)

    def _end_pod(self, pod: PodInfo) -> None:
        """Take a pod that has finished for deleted, also one that is on its way to a node."""
        if self._cache.is_assumed_pod(pod.uid):
            self._queue.leave(pod)
        self._delete_pod(pod)

    def _delete_pod(self, pod: PodInfo) -> None:
        if pod.node_name:
            self._cache.remove_pod(pod)
            self._queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_DELETE, pod, None)
        elif self._responsible_for(pod):
            self._delete_pending_pod(pod)

    def _add_assigned_pod(self, pod: PodInfo) -> None:
        self._cache.add_pod(pod)
        self._queue.assigned_pod_added(pod)

    def _update_assigned_pod(self, old: PodInfo, new: PodInfo) -> None:
        self._cache.update_pod(old, new)
        self._queue.assigned_pod_updated(old, new)

    def _update_pending_pod(self, old: PodInfo, new: PodInfo) -> None:
        if self._cache.is_assumed_pod(new.uid):
            if new.terminating and not old.terminating:
                self._assumed_pod_deleted(new)
            return
        self._queue.update(old, new)
        nominated = old.nominated_node_name
        if nominated and nominated != new.nominated_node_name:
            self._wake_lower_or_equal(old)

    def _delete_pending_pod(self, pod: PodInfo) -> None:
        self._queue.delete(pod)
        if self._cache.is_assumed_pod(pod.uid):
            self._assumed_pod_deleted(pod)
        elif pod.nominated_node_name:
            self._wake_lower_or_equal(pod)

    def _wake_lower_or_equal(self, pod: PodInfo) -> None:
        """Wake the pods that had to respect the nomination of `pod`."""
        self._queue.move_all_to_active_or_backoff_queue(
            ASSIGNED_POD_DELETE, pod, None, lambda other: other.priority <= pod.priority
        )

    def _assumed_pod_deleted(self, pod: PodInfo) -> None:
        """Free what an assumed pod took: it will never run."""
        assumed = self._cache.get_pod(pod.uid)
        if assumed is None:
            return
        rejected = self._waiting_pods.reject(assumed.uid, "", "removed")
        if not rejected:
            self._scheduler.bindings.forget(assumed)
        self._queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_DELETE, assumed, None)
