"""What owners do about their pods: make them again when they go, make more, make fewer.

A pod of the same owner serves as the template.

Upstream: v1.36 pkg/controller/{replicaset,statefulset}, as far as it shows in names and numbers.
"""

from __future__ import annotations

from collections.abc import Callable

from scheduler_core.api import KubeObject, OwnerReference, Pod
from scheduler_core.changes.owners import (
    PINNED_KINDS,
    STATEFUL_SET,
    is_terminating,
    like,
    next_name,
    pods_of,
    surplus,
)
from scheduler_core.cluster.pods import controller_of
from scheduler_core.sim.api_server import ApiServer
from scheduler_core.sim.clock import VirtualClock
from scheduler_core.trace.tables import TERMINAL_PHASES

CreatePod = Callable[[Pod], str]
"""Create a pod; return why it was refused, empty if it was not."""


class Workloads:
    """The controllers of pods. With `recreate` a watcher that makes lost pods again."""

    def __init__(self, server: ApiServer, clock: VirtualClock, create: CreatePod) -> None:
        self._server = server
        self._clock = clock
        self._create = create
        self._n_names = 0
        self._retired: set[str] = set()

    # ------------------------------------------------------------ recreating

    def added(self, item: KubeObject) -> None:
        return None

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        """Replace a pod as soon as its deletion begins; a StatefulSet waits until it is gone."""
        if isinstance(old, Pod) and isinstance(new, Pod):
            owner = controller_of(new)
            leaves = is_terminating(new) and not is_terminating(old)
            if owner is not None and leaves and owner.kind != STATEFUL_SET:
                self._replace(new)

    def deleted(self, item: KubeObject) -> None:
        if isinstance(item, Pod):
            owner = controller_of(item)
            waits = owner is not None and owner.kind == STATEFUL_SET
            if waits or not is_terminating(item):
                self._replace(item)

    def _replace(self, pod: Pod) -> None:
        owner = controller_of(pod)
        if owner is None or owner.kind in PINNED_KINDS:
            return
        if pod.uid not in self._retired and pod.status.phase not in TERMINAL_PHASES:
            fresh = self._copy(pod, owner)
            self._clock.call_at(self._clock.now_ns(), lambda: self._create_unless_there(fresh))

    def _create_unless_there(self, pod: Pod) -> None:
        if self._server.get(Pod, pod.key) is None:
            self._create(pod)

    # ------------------------------------------------------------ scaling

    def add_pods(self, template: Pod, n: int) -> str:
        """Create `n` more pods like `template`; return why the first was refused, if it was."""
        owner = controller_of(template)
        for _ in range(n):
            refusal = self._create(self._copy(template, owner, another=True))
            if refusal:
                return refusal
        return ""

    def surplus(self, pods: list[Pod], n: int) -> list[Pod]:
        """Choose `n` pods to go, and see to it that nobody recreates them."""
        chosen = surplus(pods, n)
        self._retired.update(pod.uid for pod in chosen)
        return chosen

    # ------------------------------------------------------------ copies

    def _copy(self, pod: Pod, owner: OwnerReference | None, *, another: bool = False) -> Pod:
        """Return a pod of the same template, unbound, under a name of its own."""
        self._n_names += 1
        if owner is not None and owner.kind == STATEFUL_SET and not another:
            name = pod.name
        else:
            there = (
                pods_of(self._server, owner.kind, pod.namespace, owner.name)
                if owner is not None and owner.kind == STATEFUL_SET
                else []
            )
            name = next_name(pod, owner, there, self._n_names)
        return like(pod, name, f"{pod.namespace}/{name}#{self._n_names}")
