"""Pods that Permit plugins hold back until everyone agrees, someone refuses, or time is up.

Upstream: v1.36 pkg/scheduler/framework/runtime/waiting_pods_map.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.status import SUCCESS, Code, Status


@dataclass
class WaitingPod:
    """One held pod: which plugins still have to allow it, and until when each waits.

    `decision` is None while the pod waits.
    """

    pod: PodInfo
    deadlines_ns: dict[str, int]
    decision: Status | None = None

    def allow(self, plugin: str) -> None:
        """Withdraw one plugin's objection; the last one lets the pod go."""
        self.deadlines_ns.pop(plugin, None)
        if not self.deadlines_ns and self.decision is None:
            self.decision = SUCCESS

    def reject(self, plugin: str, message: str) -> None:
        """Refuse the pod; a first decision stands."""
        if self.decision is None:
            self.decision = Status(Code.UNSCHEDULABLE, (message,), plugin)

    def expire(self, now_ns: int) -> None:
        """Refuse the pod if some plugin's time is up, the earliest first."""
        due = [(until, plugin) for plugin, until in self.deadlines_ns.items() if until <= now_ns]
        if due:
            _, plugin = min(due)
            self.reject(plugin, f"rejected due to timeout after waiting at plugin {plugin}")


class WaitingPods:
    """All held pods by uid."""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}

    def add(self, pod: PodInfo, waits_ns: Mapping[str, int], now_ns: int) -> WaitingPod:
        waiting = WaitingPod(pod, {plugin: now_ns + ns for plugin, ns in waits_ns.items()})
        self._pods[pod.uid] = waiting
        return waiting

    def get(self, uid: str) -> WaitingPod | None:
        return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        self._pods.pop(uid, None)

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(list(self._pods.values()))

    def reject(self, uid: str, plugin: str, message: str) -> bool:
        """Refuse a held pod; tell whether it was held at all."""
        waiting = self._pods.get(uid)
        if waiting is None:
            return False
        waiting.reject(plugin, message)
        return True

    @property
    def next_deadline_ns(self) -> int | None:
        deadlines = [
            until
            for waiting in self._pods.values()
            if waiting.decision is None
            for until in waiting.deadlines_ns.values()
        ]
        return min(deadlines, default=None)
