"""Which of two pods matters more: the one of higher priority, then the one running longer.

Upstream: v1.36 pkg/scheduler/util/utils.go (MoreImportantPod, GetPodStartTime).
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.cluster.pods import PodInfo


def start_time_ns(pod: PodInfo, now_ns: int) -> int:
    """Return when the pod started; one that has not yet counts as starting now."""
    started_ns = pod.pod.status.start_time
    return now_ns if started_ns is None else started_ns


def by_importance(now_ns: int) -> Callable[[PodInfo], tuple[int, int]]:
    """Return a sort key that puts the most important pod first."""
    return lambda pod: (-pod.priority, start_time_ns(pod, now_ns))
