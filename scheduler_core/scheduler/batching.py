"""Opportunistic batching: what one cycle found out may spare the next pod the search.

When pods of one kind come one after the other and each fills its node, the second best node of
one cycle is the best of the next. It is offered to the next pod as a hint and tried before all
others, like a nominated node.

Upstream: v1.36 pkg/scheduler/framework/runtime/batch.go. With the default configuration no pod
has a signature, as the system's default spreading constraints make places hang on other pods.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.framework.signatures import PodSignature
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


class OpportunisticBatch:
    """The results that one profile keeps from cycle to cycle."""

    def __init__(self, framework: Framework, now_ns: Callable[[], int]) -> None:
        self._framework = framework
        self._now_ns = now_ns
        self._batch: _Batch | None = None
        self._last = _Success(0, "")

    def fork(self, framework: Framework) -> OpportunisticBatch:
        """Return a copy for another framework, which goes on by itself."""
        fork = OpportunisticBatch(framework, self._now_ns)
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
            and self._last_node_is_full(pod, state, nodes)
        )
        return batch.nodes.pop() if usable else ""

    def _last_node_is_full(self, pod: PodInfo, state: CycleState, nodes: Nodes) -> bool:
        """Return whether the pod would be rejected where the last one went.

        Otherwise nobody knows how that node would score now.
        """
        row = nodes.cluster.row_of.get(self._last.node_name)
        node = nodes.take(nodes.rows == row) if row is not None else None
        if node is None or not node.n:
            return False
        return self._framework.run_filter(state, pod, node).status(0).is_rejected

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
