"""The order in which pending pods are tried."""

from __future__ import annotations

from scheduler_core.framework.dependence import DependsOn
from scheduler_core.framework.interface import Queued


class PrioritySort:
    """Try pods of higher priority first; among equals, the one that came to the queue first.

    Upstream: v1.36 plugins/queuesort.
    """

    name = "PrioritySort"
    depends_on = DependsOn()

    def sort_key(self, queued: Queued) -> tuple[int, ...]:
        """Return `(-priority, timestamp_ns)`."""
        return -queued.pod.priority, queued.timestamp_ns
