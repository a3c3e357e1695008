"""The scheduler's memory of nodes and placed pods, among them pods it only assumes to be placed.

A pod is first unknown here, then `assume_pod` puts it on its node before it is bound, and
`add_pod` confirms it when the binding is seen; `forget_pod` takes an assumed pod back.

Upstream: v1.36 pkg/scheduler/backend/cache/cache.go.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from msgspec.structs import replace

from scheduler_core.api import Node
from scheduler_core.api.claims import mounted_claims
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.node_tree import NodeTree
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo


class CacheError(Exception):
    """An operation that the state of the pod or node in the cache does not allow."""


@dataclass(slots=True)
class _PodState:
    pod: PodInfo
    assumed: bool


class Cache:
    """Nodes and placed pods in `columns`, and the node order of scheduling cycles."""

    def __init__(self, columns: ClusterColumns) -> None:
        self.columns = columns
        self._tree = NodeTree()
        self._pods: dict[str, _PodState] = {}
        self._order: list[str] = []
        self._order_rows: IntArray = np.zeros(0, np.int64)
        self._membership_moved = False

    def fork(self) -> Cache:
        """Return an independent copy: no change of one shows in the other."""
        fork = Cache(self.columns.fork())
        fork._tree, fork._pods = self._tree.fork(), self._pods.copy()
        fork._order, fork._order_rows = self._order, self._order_rows
        fork._membership_moved = self._membership_moved
        return fork

    # ------------------------------------------------------------ pods

    def assume_pod(self, pod: PodInfo, node_name: str) -> PodInfo:
        """Count a pod on its node ahead of its binding; return it with the node name set.

        Raises CacheError if the pod is in the cache already.
        """
        if pod.uid in self._pods:
            raise CacheError(f"pod {pod.key} is in the cache, so can't be assumed")
        assumed = _on_node(pod, node_name)
        self._put(assumed, assumed=True)
        return assumed

    def forget_pod(self, pod: PodInfo) -> bool:
        """Take an assumed pod off its node; return False if it is no longer in the cache.

        Raises CacheError if the pod was confirmed, or assumed on another node.
        """
        state = self._pods.get(pod.uid)
        if state is None:
            return False
        assumed_on = state.pod.node_name
        if assumed_on != pod.node_name:
            raise CacheError(
                f"pod {pod.key} was assumed on {pod.node_name} but assigned to {assumed_on}"
            )
        if not state.assumed:
            raise CacheError(f"pod {pod.key} wasn't assumed so cannot be forgotten")
        self._take(state.pod)
        return True

    def add_pod(self, pod: PodInfo) -> None:
        """Take in a bound pod, or confirm an assumed one, on whichever node it says it is.

        Raises CacheError if it was added before.
        """
        state = self._pods.get(pod.uid)
        if state is not None:
            if not state.assumed:
                raise CacheError(f"pod {pod.key} was already in added state")
            assumed = state.pod
            if assumed.node_name == pod.node_name and assumed.template is pod.template:
                self.columns.replace_pod(pod, pod.node_name)
                self._pods[pod.uid] = _PodState(pod, assumed=False)
                return
            self._take(assumed)
        self._put(pod, assumed=False)

    def update_pod(self, old: PodInfo, new: PodInfo) -> None:
        """Take over a bound pod's new state.

        Raises CacheError if the pod is unknown, only assumed, or says it is on another node now.
        """
        state = self._pods.get(old.uid)
        if state is None:
            raise CacheError(f"pod {old.key} is not added to scheduler cache")
        if state.assumed:
            raise CacheError(f"assumed pod {old.key} should not be updated")
        if state.pod.node_name != new.node_name:
            raise CacheError(f"pod {old.key} updated on a different node than it was added to")
        self._take(state.pod)
        self._put(new, assumed=False)

    def remove_pod(self, pod: PodInfo) -> None:
        """Take a pod off its node, assumed or not.

        Raises CacheError if the pod is unknown or says it is on another node.
        """
        state = self._pods.get(pod.uid)
        if state is None:
            raise CacheError(f"pod {pod.key} is not found in scheduler cache")
        if pod.node_name and state.pod.node_name != pod.node_name:
            raise CacheError(f"pod {pod.key} was added to a different node than it is removed from")
        self._take(state.pod)

    def get_pod(self, uid: str) -> PodInfo | None:
        """Return a pod as the cache has it, also one whose node is gone."""
        state = self._pods.get(uid)
        return None if state is None else state.pod

    def is_assumed_pod(self, uid: str) -> bool:
        state = self._pods.get(uid)
        return state is not None and state.assumed

    def assumed_pods(self) -> list[PodInfo]:
        return [state.pod for state in self._pods.values() if state.assumed]

    @property
    def n_pods(self) -> int:
        """Count the pods in the cache, those on deleted nodes included."""
        return len(self._pods)

    def _put(self, pod: PodInfo, *, assumed: bool) -> None:
        self.columns.add_pod(pod, pod.node_name)
        self._pods[pod.uid] = _PodState(pod, assumed)
        self._count_stray(pod, 1)

    def _take(self, pod: PodInfo) -> None:
        self.columns.remove_pod(pod, pod.node_name)
        del self._pods[pod.uid]
        self._count_stray(pod, -1)

    def _count_stray(self, pod: PodInfo, sign: int) -> None:
        """Count the claims of a pod that is added or removed, if its node does not exist."""
        if not self.columns.has_node(pod.node_name):
            self.columns.stray_claims.update(dict.fromkeys(_claims_of(pod), sign))

    # ------------------------------------------------------------ nodes

    def add_node(self, node: Node) -> int:
        """Take in a node, also one that pods were recorded on before; return its row."""
        self._membership_moved |= not self.columns.has_node(node.name)
        self._tree.add(node.name, node.metadata.labels)
        return self.columns.set_node(node)

    def update_node(self, node: Node) -> int:
        """Take over a node's new state; return its row."""
        return self.add_node(node)

    def remove_node(self, node: Node) -> None:
        """Forget a node; the pods on it stay known until they are removed.

        Raises CacheError if the node is unknown.
        """
        if not self.columns.has_node(node.name):
            raise CacheError(f"node {node.name} is not found")
        self._membership_moved = True
        self._tree.remove(node.name)
        self.columns.remove_node(node.name)

    # ------------------------------------------------------------ snapshots

    def update_snapshot(self) -> Nodes:
        """Return all nodes in the order in which the cycle that starts now looks at them.

        As upstream, the order is read again only when nodes have come or gone since the last
        snapshot: a node whose zone changes keeps its place until then.
        """
        order = self.next_order()
        if order is not self._order or self._strays_are_too_few():
            self.columns.stray_claims.clear()
        self._membership_moved = False
        self.columns.take_snapshot()
        if order is not self._order:
            self._order = order
            rows = [self.columns.row_of[name] for name in order]
            self._order_rows = np.array(rows, np.int64)
        return Nodes(self.columns, self._order_rows)

    def _strays_are_too_few(self) -> bool:
        """Tell whether more strays have gone than pods use a claim: then it is counted anew."""
        missing = {claim for claim, n in self.columns.stray_claims.items() if n < 0}
        if not missing:
            return False
        users = Counter(self.columns.stray_claims)
        for state in self._pods.values():
            if self.columns.has_node(state.pod.node_name):
                users.update(_claims_of(state.pod))
        return any(users[claim] < 0 for claim in missing)

    def next_order(self) -> list[str]:
        """Return the node names in the order of a cycle that would start now."""
        if not self._membership_moved:
            return self._order
        order = self._tree.order()
        return order if set(order) != set(self._order) else self._order

    @property
    def generation(self) -> int:
        """Return a number that grows with every change of a node or of the pods on it."""
        return int(self.columns.generation.max(initial=0))


def _claims_of(pod: PodInfo) -> Iterator[str]:
    return (f"{pod.pod.namespace}/{name}" for name in mounted_claims(pod.pod))


def _on_node(pod: PodInfo, node_name: str) -> PodInfo:
    spec = replace(pod.pod.spec, node_name=node_name)
    return PodInfo.of(replace(pod.pod, spec=spec), pod.template)
