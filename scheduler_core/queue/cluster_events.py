"""The cluster events the scheduler itself raises, and when one event falls under another.

Upstream: v1.36 pkg/scheduler/framework/events.go and types.go (MatchClusterEvents).
"""

from __future__ import annotations

from typing import Final

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.events import ActionType, ClusterEvent, EventObject, EventResource
from scheduler_core.releases.switches import Switches

SCHEDULE_ATTEMPT_FAILURE: Final = "ScheduleAttemptFailure"
BACKOFF_COMPLETE: Final = "BackoffComplete"

ASSIGNED_POD_ADD: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.ADD)
ASSIGNED_POD_UPDATE: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.UPDATE)
ASSIGNED_POD_DELETE: Final = ClusterEvent(EventResource.ASSIGNED_POD, ActionType.DELETE)
_KINDS_OF_PODS: Final = (
    EventResource.ASSIGNED_POD,
    EventResource.UNSCHEDULABLE_POD,
    EventResource.UNSCHEDULED_POD,
    EventResource.TARGET_POD,
)
NODE_ADD: Final = ClusterEvent(EventResource.NODE, ActionType.ADD)
NODE_DELETE: Final = ClusterEvent(EventResource.NODE, ActionType.DELETE)
UNSCHEDULABLE_TIMEOUT: Final = ClusterEvent(
    EventResource.WILD_CARD, ActionType.ALL, "UnschedulableTimeout"
)
FORCE_ACTIVATE: Final = ClusterEvent(EventResource.WILD_CARD, ActionType.ALL, "ForceActivate")


def unscheduled_pod(switches: Switches) -> EventResource:
    """Return what the release calls a pod that has no node yet."""
    if switches.target_pod_events:
        return EventResource.UNSCHEDULED_POD
    return EventResource.UNSCHEDULABLE_POD


def event_for(pod: PodInfo, event: ClusterEvent, changed: EventObject) -> ClusterEvent:
    """Return what an event is to a pod: a waiting pod that has changed may be another."""
    if event.resource is not EventResource.TARGET_POD:
        return event
    if isinstance(changed, PodInfo) and changed.uid == pod.uid:
        return event
    return ClusterEvent(EventResource.UNSCHEDULED_POD, event.action)


def is_wild_card(event: ClusterEvent) -> bool:
    return event.resource is EventResource.WILD_CARD and event.action == ActionType.ALL


def match_cluster_events(registered: ClusterEvent, incoming: ClusterEvent) -> bool:
    """Return whether `incoming` is the registered event or a more specific one.

    The comparison of action numbers is upstream's: a general Update does not match a
    registration for one kind of update. An incoming wild card matches only a wild card.
    """
    if is_wild_card(registered):
        return True
    shared = registered.action & incoming.action
    return (
        _match_resources(registered.resource, incoming.resource)
        and shared != ActionType.NONE
        and incoming.action.value <= registered.action.value
    )


def _match_resources(registered: EventResource, incoming: EventResource) -> bool:
    if registered in (EventResource.WILD_CARD, incoming):
        return True
    return registered is EventResource.POD and incoming in _KINDS_OF_PODS
