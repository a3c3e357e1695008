"""Pods between their scheduling cycle and Bind: held by Permit plugins, or in PreBind.

Upstream: v1.36 pkg/scheduler/framework/runtime/waiting_pods_map.go and pods_in_prebind_map.go.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.duration import format_duration
from scheduler_core.framework.status import SUCCESS, Code, Status


@dataclass
class WaitingPod:
    """One held pod: which plugins still have to allow it, and until when each waits.

    `decision` is None while the pod waits; the first one stands.
    """

    pod: PodInfo
    since_ns: int
    deadlines_ns: dict[str, int]
    decision: Status | None = None

    @property
    def pending_plugins(self) -> list[str]:
        return list(self.deadlines_ns)

    def allow(self, plugin: str) -> None:
        """Withdraw one plugin's objection; the last one lets the pod go."""
        self.deadlines_ns.pop(plugin, None)
        if not self.deadlines_ns and self.decision is None:
            self.decision = SUCCESS.by(plugin)

    def reject(self, plugin: str, message: str) -> bool:
        """Refuse the pod; return whether it was still waiting."""
        return self._stop(Status(Code.UNSCHEDULABLE, (message,), plugin))

    def preempt(self, plugin: str, message: str) -> bool:
        """Send the pod back to the queue without blaming it; return whether it was waiting."""
        return self._stop(Status(Code.ERROR, (message,), plugin))

    def _stop(self, status: Status) -> bool:
        if self.decision is not None:
            return False
        self.decision = status
        return True

    def expire(self, now_ns: int) -> bool:
        """Refuse the pod if some plugin's time is up, the earliest first; return whether it is."""
        due = [(until, plugin) for plugin, until in self.deadlines_ns.items() if until <= now_ns]
        if not due or self.decision is not None:
            return False
        until_ns, plugin = min(due)
        waited = format_duration(until_ns - self.since_ns)
        text = f"rejected due to timeout after waiting {waited} at plugin {plugin}"
        return self.reject(plugin, text)


class WaitingPods:
    """All held pods by uid."""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}

    def fork(self) -> WaitingPods:
        """Return an independent copy."""
        fork = WaitingPods()
        for uid, waiting in self._pods.items():
            fork._pods[uid] = replace(waiting, deadlines_ns=waiting.deadlines_ns.copy())
        return fork

    def add(self, pod: PodInfo, waits_ns: Mapping[str, int], now_ns: int) -> WaitingPod:
        deadlines_ns = {plugin: now_ns + wait_ns for plugin, wait_ns in waits_ns.items()}
        waiting = WaitingPod(pod, now_ns, deadlines_ns)
        self._pods[pod.uid] = waiting
        return waiting

    def get(self, uid: str) -> WaitingPod | None:
        return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        self._pods.pop(uid, None)

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(list(self._pods.values()))

    def __len__(self) -> int:
        return len(self._pods)

    def reject(self, uid: str, plugin: str, message: str) -> bool:
        """Refuse a held pod; return whether it was still waiting."""
        waiting = self._pods.get(uid)
        return waiting is not None and waiting.reject(plugin, message)

    @property
    def any_decided(self) -> bool:
        return any(waiting.decision is not None for waiting in self._pods.values())

    @property
    def next_deadline_ns(self) -> int | None:
        deadlines = [
            until
            for waiting in self._pods.values()
            if waiting.decision is None
            for until in waiting.deadlines_ns.values()
        ]
        return min(deadlines, default=None)


@dataclass
class PodInPreBind:
    """A pod whose PreBind plugins are at work; `cancelled` is the reason once it is sent back.

    `on_cancel` is called as soon as that happens.
    """

    on_cancel: Callable[[], None]
    cancelled: str = ""
    finished: bool = False

    def cancel(self, message: str) -> bool:
        """Stop the binding cycle; return whether that was still possible."""
        if self.finished:
            return False
        if not self.cancelled:
            self.cancelled = message
            self.on_cancel()
        return True

    def mark_prebound(self) -> bool:
        """Pass the point of no return; False if the pod has been sent back before."""
        self.finished = not self.cancelled
        return self.finished


class PodsInPreBind:
    """All pods in PreBind by uid."""

    def __init__(self) -> None:
        self._pods: dict[str, PodInPreBind] = {}

    def add(self, uid: str, on_cancel: Callable[[], None]) -> PodInPreBind:
        pod = self._pods[uid] = PodInPreBind(on_cancel)
        return pod

    def get(self, uid: str) -> PodInPreBind | None:
        return self._pods.get(uid)

    def remove(self, uid: str) -> None:
        self._pods.pop(uid, None)
