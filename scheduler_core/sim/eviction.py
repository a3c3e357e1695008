"""The controllers that take pods off nodes: NoExecute taints, and nodes that are gone.

Upstream: v1.36 pkg/controller/tainteviction and pkg/controller/podgc. The latter waits 40 s
before it deletes the pods of a node that is gone; here they go at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

from scheduler_core.api import KubeObject, Node, Pod, Taint, Toleration
from scheduler_core.api.selectors import toleration_tolerates
from scheduler_core.sim.api_server import ApiServer
from scheduler_core.sim.clock import SECOND_NS, VirtualClock
from scheduler_core.wording import say

NO_EXECUTE = "NoExecute"


class Evictor(Protocol):
    def evict(self, pod: Pod, reason: str, condition_reason: str) -> None:
        """Delete a pod gracefully; the reasons are for the trace and its DisruptionTarget."""


class TaintEviction:
    """Evicts the pods that do not tolerate a NoExecute taint, or only for so long.

    A watcher of the API server. What a cluster comes with stays: only nodes whose taints
    change, and pods that come to a tainted node, are looked at.
    """

    def __init__(self, server: ApiServer, clock: VirtualClock, evictor: Evictor) -> None:
        self._server = server
        self._clock = clock
        self._evictor = evictor
        self._since_ns: dict[str, int] = {}

    def added(self, item: KubeObject) -> None:
        return None

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        if isinstance(old, Node) and isinstance(new, Node):
            if _no_execute(old) != _no_execute(new):
                for pod in pods_on(self._server, new.name):
                    self._look_at(pod, new)
        elif isinstance(old, Pod) and isinstance(new, Pod) and not old.spec.node_name:
            node = self._server.get(Node, new.spec.node_name) if new.spec.node_name else None
            if node is not None:
                self._look_at(new, node)

    def deleted(self, item: KubeObject) -> None:
        return None

    def _look_at(self, pod: Pod, node: Node) -> None:
        """Plan the pod's eviction, if the taints call for it."""
        due_ns = self._due_ns(pod, node)
        if due_ns is not None:
            self._clock.call_at(max(due_ns, self._clock.now_ns()), lambda: self._check(pod))

    def _due_ns(self, pod: Pod, node: Node) -> int | None:
        """Return when the pod has to go, counted from when its node was first tainted."""
        taints = _no_execute(node)
        tolerated_ns = tolerated_for_ns(pod.spec.tolerations, taints) if taints else None
        if tolerated_ns is None:
            self._since_ns.pop(pod.uid, None)
            return None
        return self._since_ns.setdefault(pod.uid, self._clock.now_ns()) + tolerated_ns

    def _check(self, pod: Pod) -> None:
        """Evict the pod unless it or its reason to go is gone meanwhile."""
        live = self._server.get(Pod, pod.key)
        node = self._server.get(Node, pod.spec.node_name)
        if live is None or live.uid != pod.uid or node is None:
            self._since_ns.pop(pod.uid, None)
            return
        due_ns = self._due_ns(live, node)
        if due_ns is not None and due_ns <= self._clock.now_ns():
            keys = ", ".join(taint.key for taint in _no_execute(node))
            reason = say("evicted.taint", "taint {taint}", taint=f"{keys}:{NO_EXECUTE}")
            self._evictor.evict(live, reason, "DeletionByTaintManager")


class PodGarbageCollector:
    """Deletes the pods of a node that is gone. A watcher of the API server."""

    def __init__(self, server: ApiServer, clock: VirtualClock) -> None:
        self._server = server
        self._clock = clock

    def added(self, item: KubeObject) -> None:
        return None

    def updated(self, old: KubeObject, new: KubeObject) -> None:
        """Heed pods that are bound to a node which went while they were on their way."""
        if isinstance(old, Pod) and isinstance(new, Pod):
            node_name = new.spec.node_name
            if node_name != old.spec.node_name and self._server.get(Node, node_name) is None:
                self._collect_soon(node_name)

    def deleted(self, item: KubeObject) -> None:
        if isinstance(item, Node):
            self._collect_soon(item.name)

    def _collect_soon(self, node_name: str) -> None:
        self._clock.call_at(self._clock.now_ns(), lambda: self._collect(node_name))

    def _collect(self, node_name: str) -> None:
        if self._server.get(Node, node_name) is None:
            for pod in pods_on(self._server, node_name):
                self._server.delete(pod)


def reason_of_drain(node: Node) -> str:
    """Return why pods leave a node that is drained."""
    return say("evicted.drain", "drain of {node}", node=node.name)


def pods_on(server: ApiServer, node_name: str) -> Iterator[Pod]:
    """Yield the pods bound to a node, in order of creation."""
    return (pod for pod in server.all(Pod) if pod.spec.node_name == node_name)


def tolerated_for_ns(tolerations: Sequence[Toleration], taints: Sequence[Taint]) -> int | None:
    """Return how long a pod may stay with these taints, None for ever.

    A taint without a toleration ends it at once. The first toleration of each taint counts, and
    of these the shortest.
    """
    shortest: int | None = None
    for taint in taints:
        first = next((each for each in tolerations if toleration_tolerates(each, taint)), None)
        if first is None:
            return 0
        if first.toleration_seconds is not None:
            limit_ns = max(first.toleration_seconds, 0) * SECOND_NS
            shortest = limit_ns if shortest is None else min(shortest, limit_ns)
    return shortest


def _no_execute(node: Node) -> tuple[Taint, ...]:
    return tuple(taint for taint in node.spec.taints if taint.effect == NO_EXECUTE)
