"""The world as the scheduler writes to it. The simulation implements these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from scheduler_core.api import (
    KubeObject,
    Pod,
    PodCondition,
    PodExtendedResourceClaimStatus,
)
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.trace.records import EventType


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

    def set_extended_resource_claim(
        self, pod: PodInfo, status: PodExtendedResourceClaimStatus
    ) -> None:
        """Set which claim serves the pod's extended resources."""

    def evict_pod(self, pod: PodInfo, preemptor: PodInfo, message: str) -> bool:
        """Delete a victim of preemption, gracefully, after setting DisruptionTarget on it.

        Return whether it was still there.
        """

    def write(self, item: KubeObject) -> None:
        """Create an object that is not a pod, or replace it."""

    def delete(self, item: KubeObject) -> None:
        """Delete an object that is not a pod."""

    def record_event(self, pod: PodInfo, kind: EventType, reason: str, message: str) -> None:
        """Record a Kubernetes Event of type `kind`."""


class Background(Protocol):
    """Where work goes that upstream gives to a goroutine."""

    def after_attempt(self, work: Callable[[], None]) -> None:
        """Run `work` when the current attempt is over (asynchronous preemption)."""

    def soon(self, work: Callable[[], None]) -> None:
        """Run `work` when what is going on is over, at the same time."""

    def pre_bind_later(self, work: Callable[[], None]) -> None:
        """Run `work` after the time that PreBind plugins need."""

    def bind_later(self, work: Callable[[], None]) -> None:
        """Run `work` after the time that a binding needs to reach the API server."""
