"""Whether a change may help a pod for which no node had room.

Upstream: v1.36 plugins/noderesources/fit.go (isSchedulableAfter...).
"""

from __future__ import annotations

from scheduler_core.api import DeviceClass, Node
from scheduler_core.cluster.columns import PODS
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.requests import integer_resources
from scheduler_core.devices.classes import IMPLICIT_PREFIX
from scheduler_core.framework.event_objects import expect, expect_or_none, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.resource_names import is_counted
from scheduler_core.plugins.node_resources.allocation import counted_requests


class FitHints:
    """The events that may help, with their hints."""

    def __init__(self, handle: Handle) -> None:
        self._devices = handle.devices
        self._backs_extended_resources = handle.features.enabled("DRAExtendedResource")

    def events(self) -> list[ClusterEventWithHint]:
        changed = ActionType.ADD | ActionType.UPDATE
        pod = ClusterEvent(EventResource.POD, ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN)
        node = ClusterEvent(EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE)
        device_class = ClusterEvent(EventResource.DEVICE_CLASS, changed)
        events = [
            ClusterEventWithHint(pod, after_pod_event),
            ClusterEventWithHint(node, self.after_node_change),
        ]
        if self._backs_extended_resources:
            events.append(ClusterEventWithHint(device_class, after_device_class_change))
        return events

    def after_node_change(self, pod: PodInfo, old: object, new: object) -> QueueingHint:
        """Queue when the pod would fit the node if it were empty, and could not be sure before.

        As in upstream, resources that the arguments tell to ignore are not ignored here.
        """
        node_before = expect_or_none(Node, old)
        after = integer_resources(expect(Node, new).status.allocatable)
        requests = counted_requests(pod)
        by_devices = [
            name
            for name in requests
            if not after.get(name, 0) and self._devices.class_for(name) is not None
        ]
        if after.get(PODS, 0) < 1 or any(
            amount > after.get(name, 0)
            for name, amount in requests.items()
            if name not in by_devices
        ):
            return QueueingHint.SKIP
        if node_before is None or by_devices:
            return QueueingHint.QUEUE
        before = integer_resources(node_before.status.allocatable)
        return queue_if(any(after.get(name, 0) > before.get(name, 0) for name in (PODS, *requests)))


def after_device_class_change(pod: PodInfo, old: object, new: object) -> QueueingHint:
    """Queue when a class begins to back a resource that the pod requests."""
    before, after = expect_or_none(DeviceClass, old), expect(DeviceClass, new)
    asked = pod.template.requests.asked
    name = after.spec.extended_resource_name
    if before is not None and before.spec.extended_resource_name == name:
        return QueueingHint.SKIP
    implicit = before is None and IMPLICIT_PREFIX + after.name in asked
    return queue_if(implicit or bool(name and name in asked))


def after_pod_event(pod: PodInfo, old: object, new: object) -> QueueingHint:
    """Queue when a pod with a place goes, or shrinks in something the pod requests."""
    before, after = expect(PodInfo, old), expect_or_none(PodInfo, new)
    if after is None:
        return queue_if(bool(before.node_name or before.nominated_node_name))
    if after.uid == pod.uid:
        return QueueingHint.QUEUE
    return queue_if(bool(after.node_name) and _frees_something(pod, before, after))


def _frees_something(pod: PodInfo, before: PodInfo, after: PodInfo) -> bool:
    was, now = before.template.requests.in_events, after.template.requests.in_events
    return any(
        amount and is_counted(name) and was.get(name, 0) > now.get(name, 0)
        for name, amount in pod.template.requests.in_events.items()
    )
