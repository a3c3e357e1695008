"""Virtual time, and what is due when.

Entries are ordered by (time, priority, number): a total order, so that a run repeats exactly.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field

SECOND_NS = 1_000_000_000


@dataclass(order=True, slots=True)
class _Entry:
    due_ns: int
    priority: int
    number: int
    work: Callable[[], None] = field(compare=False)


class VirtualClock:
    """The one place where time moves, and only forward."""

    def __init__(self, now_ns: int) -> None:
        self._now_ns = now_ns
        self._entries: list[_Entry] = []
        self._number = 0

    def now_ns(self) -> int:
        return self._now_ns

    def call_at(self, due_ns: int, work: Callable[[], None], priority: int = 0) -> None:
        """Have `work` done at a time; lower priorities go first, then first come first served."""
        self._number += 1
        heapq.heappush(self._entries, _Entry(due_ns, priority, self._number, work))

    @property
    def next_due_ns(self) -> int | None:
        return self._entries[0].due_ns if self._entries else None

    def move_to(self, now_ns: int) -> None:
        """Let time pass without doing what falls due. Raises ValueError to go back."""
        if now_ns < self._now_ns:
            raise ValueError("virtual time does not go back")
        self._now_ns = now_ns

    def pop_due(self) -> Callable[[], None] | None:
        """Take out the next piece of work that is due by now."""
        if self._entries and self._entries[0].due_ns <= self._now_ns:
            return heapq.heappop(self._entries).work
        return None
