"""Whether a change around claims and devices may help a pod that had no luck with its own.

Upstream: v1.36 plugins/dynamicresources/dynamicresources.go (EventsToRegister,
isSchedulableAfter...).
"""

from __future__ import annotations

from scheduler_core.api import ResourceClaim
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.devices.inventory import Devices
from scheduler_core.framework.event_objects import expect, expect_or_none, queue_if
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventObject,
    EventResource,
    QueueingHint,
)
from scheduler_core.plugins.dynamic_resources.pod_claims import claims_of


class ClaimHints:
    """The events that may help, with their hints."""

    def __init__(self, devices: Devices, *, deletions: bool) -> None:
        self._devices = devices
        self._deletions = deletions

    def events(self) -> list[ClusterEventWithHint]:
        changed = ActionType.ADD | ActionType.UPDATE
        node = ActionType.ADD | ActionType.UPDATE_NODE_LABEL | ActionType.UPDATE_NODE_ALLOCATABLE
        of_claims = changed | ActionType.DELETE if self._deletions else changed
        generated = ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM
        return [
            ClusterEventWithHint(ClusterEvent(EventResource.NODE, node)),
            ClusterEventWithHint(
                ClusterEvent(EventResource.RESOURCE_CLAIM, of_claims), self.after_claim_change
            ),
            ClusterEventWithHint(ClusterEvent(EventResource.POD, generated), self.after_pod_change),
            ClusterEventWithHint(ClusterEvent(EventResource.DEVICE_CLASS, changed)),
            ClusterEventWithHint(ClusterEvent(EventResource.RESOURCE_SLICE, changed)),
        ]

    def after_claim_change(self, pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
        """Queue if devices became free, or a claim of the pod's is new or has a new status.

        Devices become free by the deletion of their claim, too.
        """
        before = expect_or_none(ResourceClaim, old)
        if new is None:
            return queue_if(before is not None and before.status.allocation is not None)
        after = expect(ResourceClaim, new)
        claims = claims_of(pod.pod, self._devices)
        if isinstance(claims, str):
            return QueueingHint.SKIP
        if before is not None and before.status.allocation and after.status.allocation is None:
            return QueueingHint.QUEUE
        mine = any(claim.uid == after.uid for claim in claims)
        return queue_if(mine and (before is None or before.status != after.status))

    def after_pod_change(self, pod: PodInfo, old: EventObject, new: EventObject) -> QueueingHint:
        """Queue if the pod itself now has all its claims."""
        after = expect(PodInfo, new)
        if after.uid != pod.uid:
            return QueueingHint.SKIP
        return queue_if(not isinstance(claims_of(after.pod, self._devices), str))
