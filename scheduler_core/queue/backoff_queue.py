"""Pods that wait out their backoff before they may be tried again.

Upstream: v1.36 pkg/scheduler/backend/queue/backoff_queue.go.
"""

from __future__ import annotations

from typing import Final

from scheduler_core.queue.heap import PodHeap, SortKey
from scheduler_core.queue.queued_pod import QueuedPodInfo

ORDERING_WINDOW_NS: Final = 1_000_000_000
"""Pods whose backoff ends in the same window are ordered as in activeQ."""

NO_BACKOFF_NS: Final = -1


class BackoffQueue:
    """Two heaps by end of backoff: pods that plugins rejected, and pods that met an error.

    With `pop_early` (feature gate SchedulerPopFromBackoffQ) ends are cut to whole ordering
    windows, and rejected pods, never those in error, may be popped before their end. Durations
    are in nanoseconds; a `max_backoff_ns` of 0 turns backoff off.
    """

    def __init__(
        self, *, initial_backoff_ns: int, max_backoff_ns: int, sort_key: SortKey, pop_early: bool
    ) -> None:
        self._initial_backoff_ns = initial_backoff_ns
        self._max_backoff_ns = max_backoff_ns
        self._pop_early = pop_early
        by_end_then_sort: SortKey = lambda queued: (self.until_ns(queued), *sort_key(queued))  # noqa: E731
        by_end: SortKey = lambda queued: (self.until_ns(queued),)  # noqa: E731
        self._rejected = PodHeap(by_end_then_sort if pop_early else by_end)
        self._in_error = PodHeap(by_end)

    def __len__(self) -> int:
        return len(self._rejected) + len(self._in_error)

    def __contains__(self, key: str) -> bool:
        return key in self._rejected or key in self._in_error

    def get(self, key: str) -> QueuedPodInfo | None:
        return self._rejected.get(key) or self._in_error.get(key)

    def add(self, queued: QueuedPodInfo) -> None:
        heap, other = self._rejected, self._in_error
        if not queued.has_rejectors:
            heap, other = other, heap
        heap.add_or_update(queued)
        other.delete(queued.key)

    def update(self, queued: QueuedPodInfo) -> None:
        """Put a pod that is in the queue where it belongs now."""
        heap = self._rejected if queued.key in self._rejected else self._in_error
        heap.add_or_update(queued)

    def delete(self, key: str) -> QueuedPodInfo | None:
        return self._rejected.delete(key) or self._in_error.delete(key)

    def pop_early(self) -> QueuedPodInfo | None:
        """Take out the rejected pod whose backoff ends first, None if there is none."""
        return self._rejected.pop() if self._pop_early else None

    @property
    def may_pop_early(self) -> bool:
        """Whether `pop_early` would find a pod."""
        return self._pop_early and bool(len(self._rejected))

    def pop_all_completed(self, now_ns: int) -> list[QueuedPodInfo]:
        """Take out all pods whose backoff is over, first the rejected, then those in error."""
        completed: list[QueuedPodInfo] = []
        for heap in (self._rejected, self._in_error):
            while (first := heap.peek()) is not None and not self.is_backing_off(first, now_ns):
                heap.pop()
                completed.append(first)
        return completed

    def is_backing_off(self, queued: QueuedPodInfo, now_ns: int) -> bool:
        """Return whether the pod's backoff has not ended before the current ordering window."""
        return self.until_ns(queued) >= self._align(now_ns)

    def until_ns(self, queued: QueuedPodInfo) -> int:
        """Return when the pod's backoff ends, `NO_BACKOFF_NS` if it has none."""
        count = queued.consecutive_errors_count or queued.unschedulable_count
        if not count or not self._max_backoff_ns:
            return NO_BACKOFF_NS
        if queued.backoff_until_ns is None:
            queued.backoff_until_ns = self._align(queued.timestamp_ns + self.duration_ns(count))
        return queued.backoff_until_ns

    def duration_ns(self, count: int) -> int:
        """Return the backoff after `count` failures: doubling from the initial to the longest."""
        doublings = count - 1
        if self._initial_backoff_ns > self._max_backoff_ns >> doublings:
            return self._max_backoff_ns
        return self._initial_backoff_ns << doublings

    def next_completion_ns(self) -> int | None:
        """Return the first whole second at which a pod's backoff will be over, None if empty."""
        heads = [heap.peek() for heap in (self._rejected, self._in_error)]
        ends = [self.until_ns(head) for head in heads if head is not None]
        if not ends:
            return None
        return (min(ends) // ORDERING_WINDOW_NS + 1) * ORDERING_WINDOW_NS

    def in_order(self) -> list[QueuedPodInfo]:
        """Return all pods by end of backoff, the rejected before those in error."""
        return self._rejected.in_order() + self._in_error.in_order()

    def _align(self, time_ns: int) -> int:
        return time_ns - time_ns % ORDERING_WINDOW_NS if self._pop_early else time_ns
