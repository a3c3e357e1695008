"""What hint functions share: typed access to the objects of an event.

Upstream: v1.36 pkg/scheduler/util/utils.go (As).
"""

from __future__ import annotations

from typing import TypeVar

from scheduler_core.framework.events import QueueingHint

T = TypeVar("T")


def expect(kind: type[T], item: object) -> T:
    """Return the event's object. Raises TypeError if it is none of that kind."""
    if not isinstance(item, kind):
        raise TypeError(f"expected {kind.__name__}, got {type(item).__name__}")
    return item


def expect_or_none(kind: type[T], item: object) -> T | None:
    """Return the event's object, None if there is none (the old one of a creation)."""
    return None if item is None else expect(kind, item)


def queue_if(helps: bool) -> QueueingHint:
    return QueueingHint.QUEUE if helps else QueueingHint.SKIP
