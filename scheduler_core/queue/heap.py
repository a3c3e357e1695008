"""A priority queue of pods by key, with update and removal.

Upstream: v1.36 pkg/scheduler/backend/heap. Where upstream leaves the order of equal items to the
heap's structure, ours is the order of arrival.
"""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify, heappop, heappush

from scheduler_core.queue.queued_pod import QueuedPodInfo

SortKey = Callable[[QueuedPodInfo], tuple[int, ...]]

_SPARE_BLANKS = 16


class PodHeap:
    """Pods in ascending order of `sort_key`, equal ones in order of arrival.

    An entry that is removed or overtaken by an update stays in the heap as a blank until it
    surfaces; blanks are swept out when they outnumber the pods, so that every operation costs
    O(log n) amortized.
    """

    def __init__(self, sort_key: SortKey) -> None:
        self._sort_key = sort_key
        self._pods: dict[str, QueuedPodInfo] = {}
        self._entry_of: dict[str, tuple[tuple[int, ...], int]] = {}
        self._heap: list[tuple[tuple[int, ...], int, str]] = []
        self._arrivals = 0

    def __len__(self) -> int:
        return len(self._pods)

    def __contains__(self, key: str) -> bool:
        return key in self._pods

    def get(self, key: str) -> QueuedPodInfo | None:
        return self._pods.get(key)

    def add_or_update(self, queued: QueuedPodInfo) -> None:
        """Add a pod, or put it where it belongs now; an equal sort key keeps its place."""
        key, sort_key = queued.key, self._sort_key(queued)
        self._pods[key] = queued
        entry = self._entry_of.get(key)
        if entry is not None and entry[0] == sort_key:
            return
        self._arrivals += 1
        self._entry_of[key] = (sort_key, self._arrivals)
        heappush(self._heap, (sort_key, self._arrivals, key))

    def delete(self, key: str) -> QueuedPodInfo | None:
        """Take a pod out and return it, None if it is not there."""
        queued = self._pods.pop(key, None)
        if queued is not None:
            del self._entry_of[key]
            if len(self._heap) > 2 * len(self._pods) + _SPARE_BLANKS:
                self._heap = [entry for entry in self._heap if self._is_live(entry)]
                heapify(self._heap)
        return queued

    def peek(self) -> QueuedPodInfo | None:
        while self._heap and not self._is_live(self._heap[0]):
            heappop(self._heap)
        return self._pods[self._heap[0][2]] if self._heap else None

    def pop(self) -> QueuedPodInfo | None:
        """Take the first pod out, None if there is none."""
        first = self.peek()
        if first is None:
            return None
        _, _, key = heappop(self._heap)
        del self._entry_of[key]
        return self._pods.pop(key)

    def in_order(self) -> list[QueuedPodInfo]:
        """Return all pods in the order in which they would be popped."""
        return [self._pods[key] for key in sorted(self._entry_of, key=self._entry_of.__getitem__)]

    def _is_live(self, entry: tuple[tuple[int, ...], int, str]) -> bool:
        sort_key, arrival, key = entry
        return self._entry_of.get(key) == (sort_key, arrival)
