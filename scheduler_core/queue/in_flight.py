"""Pods whose scheduling or binding is under way, and what happened meanwhile.

Upstream: v1.36 pkg/scheduler/backend/queue/active_queue.go (inFlightPods, inFlightEvents).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.events import ClusterEvent, EventObject


@dataclass(frozen=True, slots=True)
class InFlightEvent:
    event: ClusterEvent
    old: EventObject
    new: EventObject


class InFlight:
    """Popped pods by uid, and the events since the oldest of them was popped."""

    def __init__(self) -> None:
        self._pods: dict[str, tuple[PodInfo, int]] = {}
        self._events: deque[InFlightEvent] = deque()
        self._n_pruned = 0

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, uid: str) -> bool:
        return uid in self._pods

    def pods(self) -> list[PodInfo]:
        """Return the pods in the order in which they were popped, as they were then."""
        return [pod for pod, _ in self._pods.values()]

    @property
    def n_events(self) -> int:
        return len(self._events)

    def start(self, pod: PodInfo) -> None:
        self._pods[pod.uid] = (pod, self._n_pruned + len(self._events))

    def record(self, event: ClusterEvent, old: EventObject, new: EventObject) -> None:
        """Keep an event for the pods in flight; without any it is not needed."""
        if self._pods:
            self._events.append(InFlightEvent(event, old, new))

    def events_since_start(self, uid: str) -> Iterable[InFlightEvent]:
        """Return what happened since the pod was popped, also to other pods in flight."""
        _, start = self._pods[uid]
        return islice(self._events, start - self._n_pruned, None)

    def done(self, uid: str) -> None:
        """Let the pod go, and the events that only it still needed."""
        if self._pods.pop(uid, None) is None:
            return
        _, oldest = next(iter(self._pods.values()), (None, self._n_pruned + len(self._events)))
        while self._n_pruned < oldest:
            self._events.popleft()
            self._n_pruned += 1
