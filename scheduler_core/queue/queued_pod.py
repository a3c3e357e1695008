"""A pod with what the queue knows about it.

Upstream: v1.36 pkg/scheduler/framework/types.go (QueuedPodInfo).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.signatures import PodSignature


@dataclass(slots=True, eq=False)
class QueuedPodInfo:
    """One pending pod; the scheduler sets the rejector plugins, the queue all else.

    `timestamp_ns` is when the pod entered the queue last. `attempts` counts pops,
    `unschedulable_count` the attempts that plugins rejected, `consecutive_errors_count` the
    errors since then. `backoff_until_ns` is a cache of the backoff queue (None: to be computed).
    `flushed_ns` is when a flush last moved the pod since its last attempt, -1 if none did.
    `unschedulable_plugins` and `pending_plugins` rejected the pod last; a gating plugin is among
    the former. Both are sets to ask, never to iterate. `signature` is that of the pod when the
    queue last heard of it.
    """

    pod: PodInfo
    timestamp_ns: int
    attempts: int = 0
    unschedulable_count: int = 0
    consecutive_errors_count: int = 0
    backoff_until_ns: int | None = None
    initial_attempt_timestamp_ns: int | None = None
    was_flushed_from_unschedulable: bool = False
    flushed_ns: int = -1
    unschedulable_plugins: set[str] = field(default_factory=set)
    pending_plugins: set[str] = field(default_factory=set)
    gating_plugin: str = ""
    signature: PodSignature | None = None

    @property
    def key(self) -> str:
        return self.pod.key

    @property
    def gated(self) -> bool:
        return bool(self.gating_plugin)

    @property
    def parked_since_ns(self) -> int:
        """When the pod entered the queue, or was flushed for nothing since."""
        return max(self.timestamp_ns, self.flushed_ns)

    @property
    def has_rejectors(self) -> bool:
        """Some plugin turned the pod down, as opposed to an error or no attempt at all."""
        return bool(self.unschedulable_plugins or self.pending_plugins)

    def clear_rejector_plugins(self) -> None:
        """Forget who rejected the pod, before the rejectors of a failed attempt are set."""
        self.unschedulable_plugins = set()
        self.pending_plugins = set()
        self.gating_plugin = ""
