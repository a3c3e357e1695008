"""Opportunistic batching: what one cycle found out may spare the next pod the search.

When pods of one kind come one after the other and each fills its node, the second best node of
one cycle is the best of the next. It is offered to the next pod as a hint and tried before all
others, like a nominated node. A node that is not full competes again from v1.37 on.

Upstream: v1.36 pkg/scheduler/framework/runtime/batch.go. With the default configuration no pod
has a signature, as the system's default spreading constraints make places hang on other pods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.framework.signatures import PodSignature
from scheduler_core.framework.status import Status
from scheduler_core.scheduler.selection import ScoredNodes

MAX_BATCH_AGE_NS: Final = 500_000_000


@dataclass(frozen=True, slots=True)
class _Batch:
    """The nodes that were not taken, best first, and the pods they may be offered to."""

    signature: PodSignature
    nodes: ScoredNodes
    created_ns: int


@dataclass(frozen=True, slots=True)
class _Success:
    """The last cycle of the profile that found a node."""

    cycle: int
    node_name: str


Prioritize = Callable[[Framework, CycleState, PodInfo, Nodes], IntArray | None]
"""Scores nodes for a pod as in a cycle: totals, int64 (n,), None after an error."""


class OpportunisticBatch:
    """The results that one profile keeps from cycle to cycle.

    With `prioritize` a node that takes another pod is scored again; without, it ends the batch.
    """

    def __init__(
        self, framework: Framework, now_ns: Callable[[], int], prioritize: Prioritize | None
    ) -> None:
        self._framework = framework
        self._now_ns = now_ns
        self._prioritize = prioritize
        self._batch: _Batch | None = None
        self._last = _Success(0, "")

    def fork(self, framework: Framework) -> OpportunisticBatch:
        """Return an independent copy for another framework."""
        fork = OpportunisticBatch(framework, self._now_ns, self._prioritize)
        fork._last = self._last
        if self._batch is not None:
            fork._batch = replace(self._batch, nodes=self._batch.nodes.fork())
        return fork

    def node_hint(
        self,
        pod: PodInfo,
        signature: PodSignature | None,
        state: CycleState,
        nodes: Nodes,
        cycle: int,
    ) -> str:
        """Return the node to try first, empty if there is none.

        `cycle` is the number of the scheduling cycle, over all profiles; `nodes` are all nodes.
        """
        batch = self._batch
        if batch is None or not len(batch.nodes):
            return ""
        usable = (
            cycle == self._last.cycle + 1
            and signature == batch.signature
            and self._now_ns() <= batch.created_ns + MAX_BATCH_AGE_NS
        )
        if not usable or (self._prioritize is not None and pod.nominated_node_name):
            return ""
        status = self._status_of_last_node(pod, state, nodes)
        if status is None:
            return ""
        if status.is_success and self._prioritize is not None:
            scored = self._with_last_node(batch.nodes, self._prioritize, pod, state, nodes)
            if scored is None:
                return ""
            self._batch = batch = replace(batch, nodes=scored)
        elif not status.is_rejected:
            return ""
        return batch.nodes.pop()

    def _status_of_last_node(self, pod: PodInfo, state: CycleState, nodes: Nodes) -> Status | None:
        """Return what Filter says of the node where the last pod went, None if it is gone.

        If it takes this pod too, it has to be scored anew.
        """
        row = nodes.cluster.row_of.get(self._last.node_name)
        node = nodes.take(nodes.rows == row) if row is not None else None
        if node is None or not node.n:
            return None
        return self._framework.run_filter(state, pod, node).status(0)

    def _with_last_node(
        self,
        others: ScoredNodes,
        prioritize: Prioritize,
        pod: PodInfo,
        state: CycleState,
        nodes: Nodes,
    ) -> ScoredNodes | None:
        """Score the node of the last pod and put it behind the others, all normalised together."""
        position = {name: i for i, name in enumerate(nodes.names)}
        names = [name for name in (*others.listed(), self._last.node_name) if name in position]
        view = nodes.take(np.array([position[name] for name in names], np.int64))
        totals = prioritize(self._framework, state, pod, view)
        return None if totals is None else ScoredNodes(names, totals)

    def store(
        self,
        signature: PodSignature | None,
        hint: str,
        node_name: str,
        others: ScoredNodes | None,
        cycle: int,
    ) -> None:
        """Keep what a successful cycle found: the node taken, and the `others` that fit."""
        self._last = _Success(cycle, node_name)
        if hint == node_name:
            return
        if signature is not None and others is not None and len(others):
            self._batch = _Batch(signature, others, self._now_ns())
        else:
            self._batch = None


@dataclass(slots=True)
class BatchTurn:
    """One cycle's use of its profile's batch; `hint` is the node that was offered."""

    batch: OpportunisticBatch
    signature: PodSignature | None
    cycle: int
    hint: str = ""

    def ask(self, pod: PodInfo, state: CycleState, nodes: Nodes) -> None:
        self.hint = self.batch.node_hint(pod, self.signature, state, nodes, self.cycle)

    def store(self, node_name: str, feasible: Nodes, totals: IntArray | None) -> None:
        """Store what the cycle found: the node taken, and the others in order of their totals.

        `totals` is int64 (n_feasible,), None if nothing was scored.
        """
        others = None
        if totals is not None and self.signature is not None:
            others = ScoredNodes(feasible.names, totals)
            others.pop()  # the best one is the one that was taken
        self.batch.store(self.signature, self.hint, node_name, others, self.cycle)
