"""Which nodes to look at, how many, and which of the best to take.

Upstream: v1.36 pkg/scheduler/schedule_one.go (numFeasibleNodesToFind, sortedNodeScores).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Final

import numpy as np

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.releases.table import TieBreak

MIN_FEASIBLE_NODES_TO_FIND = 100
MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND = 5

Pick = Callable[[IntArray], int]
"""`totals` (n_feasible,) -> position of the node to take."""

Draw = Callable[[int], int]
"""`n` -> one of the numbers below it, each as likely as any other."""


def drawn_pick(draw: Draw) -> Pick:
    """Return a pick that draws among the best nodes, as every release before v1.36 does."""

    def pick(totals: IntArray) -> int:
        best = np.flatnonzero(totals == totals.max())
        return int(best[draw(best.size)])

    return pick


def num_feasible_nodes_to_find(n_nodes: int, percentage: int) -> int:
    """Return how many feasible nodes end the search; `percentage` 0 adapts to the cluster."""
    if n_nodes < MIN_FEASIBLE_NODES_TO_FIND:
        return n_nodes
    if percentage == 0:
        percentage = max(50 - n_nodes // 125, MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND)
    return max(n_nodes * percentage // 100, MIN_FEASIBLE_NODES_TO_FIND)


def heap_root(totals: IntArray) -> int:
    """Return the position that Go's `heap.Init` brings to the root of a max-heap on `totals`.

    Building the heap from the bottom lets a child rise only if it is strictly greater, and the
    right child only if it is strictly greater than the left. So the winner is found by walking
    down from the root, left before right, into subtrees that hold a maximal element: it is the
    first maximal element when the tree is traversed in pre-order.
    """
    best = np.flatnonzero(totals == np.maximum.reduce(totals))
    ranks = _pre_order(int(totals.size).bit_length())
    return int(best[np.argmin(ranks[best])])


PICKS: Final[Mapping[TieBreak, Callable[[Draw], Pick]]] = {
    "heap": lambda draw: heap_root,
    "draw": drawn_pick,
}
"""How each rule for ties picks, given a way to draw lots."""


@cache
def _pre_order(depth: int) -> IntArray:
    """Return numbers that grow along the pre-order of a full heap, int64 (2**depth - 1,).

    An element comes after its ancestors, and before what is to the right of it.
    """
    levels = [
        (np.arange(1 << level, 2 << level) << (depth - level)) * depth + level
        for level in range(depth)
    ]
    return np.concatenate(levels)


class ScoredNodes:
    """Nodes in the order in which Go's `heap.Pop` yields them from a max-heap on `totals`.

    `totals` is int64 (n,) and aligns with `names`. The first is the one `heap_root` finds.
    Nothing is sorted before somebody asks.
    """

    def __init__(self, names: Sequence[str], totals: IntArray) -> None:
        self._names = names
        self._totals = totals
        self._heap: list[int] | None = None
        self._n = len(names)

    def __len__(self) -> int:
        return self._n

    def fork(self) -> ScoredNodes:
        """Return an independent copy."""
        fork = ScoredNodes(self._names, self._totals)
        fork._heap, fork._n = self._heap and self._heap[:], self._n
        return fork

    def listed(self) -> list[str]:
        """Return the nodes that are left, as they lie in the heap."""
        return [self._names[i] for i in self._initialised()[: self._n]]

    def pop(self) -> str:
        """Take out the best node. Raises IndexError if there is none left."""
        if not self._n:
            raise IndexError("no nodes left")
        heap = self._initialised()
        self._n -= 1
        heap[0], heap[self._n] = heap[self._n], heap[0]
        self._sift_down(heap, 0, self._n)
        return self._names[heap[self._n]]

    def _initialised(self) -> list[int]:
        if self._heap is None:
            self._heap = list(range(self._n))
            for i in range(self._n // 2 - 1, -1, -1):
                self._sift_down(self._heap, i, self._n)
        return self._heap

    def _sift_down(self, heap: list[int], at: int, n: int) -> None:
        """Let a node sink below greater ones; of two equal children the left one rises."""
        totals = self._totals
        while (child := 2 * at + 1) < n:
            if child + 1 < n and totals[heap[child + 1]] > totals[heap[child]]:
                child += 1
            if totals[heap[child]] <= totals[heap[at]]:
                return
            heap[at], heap[child] = heap[child], heap[at]
            at = child
