"""The world as the scheduler writes to it. The simulation implements these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from scheduler_core.api import Pod, PodCondition
from scheduler_core.cluster.pods import PodInfo


class Client(Protocol):
    """The API server: every write is delivered back to the scheduler as an event."""

    def pod(self, key: str) -> Pod | None:
        """Return the pod as the informer has it, None if it is gone."""

    def bind(self, pod: PodInfo, node_name: str) -> str:
        """Bind the pod; return an error text, empty on success."""

    def patch_pod_status(
        self, pod: PodInfo, condition: PodCondition | None, nominated_node_name: str | None
    ) -> None:
        """Set a condition, and the nominated node unless that is None."""

    def evict_pod(self, pod: PodInfo, preemptor: PodInfo, message: str) -> None:
        """Delete a victim of preemption, gracefully, after setting DisruptionTarget on it."""

    def record_event(self, pod: PodInfo, kind: str, reason: str, message: str) -> None:
        """Record a Kubernetes Event of type `kind` (Normal or Warning)."""


class Background(Protocol):
    """Where work goes that upstream gives to a goroutine."""

    def after_attempt(self, work: Callable[[], None]) -> None:
        """Run `work` when the current attempt is over (asynchronous preemption)."""

    def binding_cycle(self, work: Callable[[], None]) -> None:
        """Run a binding cycle, beside the next scheduling cycles."""
