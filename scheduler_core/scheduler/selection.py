"""Which nodes to look at, how many, and which of the best to take.

Upstream: v1.36 pkg/scheduler/schedule_one.go (numFeasibleNodesToFind, sortedNodeScores).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from scheduler_core.cluster.nodes import IntArray

MIN_FEASIBLE_NODES_TO_FIND = 100
MIN_FEASIBLE_NODES_PERCENTAGE_TO_FIND = 5

Pick = Callable[[IntArray], int]
"""`totals` (n_feasible,) -> position of the node to take."""


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
    down from the root, left before right, into subtrees that hold a maximal element.
    """
    best = np.flatnonzero(totals == totals.max())
    if best[0] == 0:
        return 0
    leads_to_best = np.zeros(totals.size, np.bool_)
    climbing = best
    while climbing.size:
        leads_to_best[climbing] = True
        climbing = (climbing[climbing > 0] - 1) >> 1
    tied = np.zeros(totals.size, np.bool_)
    tied[best] = True
    at = 0
    while not tied[at]:
        left = 2 * at + 1
        at = left if leads_to_best[left] else left + 1
    return at
