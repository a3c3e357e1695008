"""What a real scheduler leaves to its threads and to Go's maps, and kviz pins.

Each method is one such place. `PINNED` is what runs have; a caller that asks what else might
have happened draws instead (`scheduler_core/analysis/advice/coins.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from scheduler_core.cluster.arrays import IntArray


class Chance(Protocol):
    """An order is int64 (n,), a permutation of positions; None leaves things as they stand."""

    def arrival_order(self, n_pods: int) -> IntArray | None:
        """Return the order in which the pods that pend at the start enter the queue."""

    def start_index(self, n_nodes: int) -> int:
        """Return the position of the node at which the first search begins."""

    def finishing_order(self, n_nodes: int) -> IntArray | None:
        """Return the order in which parallel workers are done with the nodes of a search.

        Positions count from where the search begins. Nodes that fit enter the list of feasible
        nodes in this order, and the search ends when there are enough of them.
        """

    def narrowed_order(self, n_nodes: int) -> IntArray | None:
        """Return the order of several nodes that PreFilter left, which upstream has in a map."""

    def first_candidate(self, n_nodes: int) -> int:
        """Return the position of the node at which preemption begins to try nodes."""

    def break_tie(self, node_names: Sequence[str]) -> str:
        """Choose among nodes that preemption finds equal after its last criterion."""


class Pinned:
    """One worker, and the first in node order wherever upstream iterates a map (ADR 0002, 0003)."""

    def arrival_order(self, n_pods: int) -> IntArray | None:
        return None

    def start_index(self, n_nodes: int) -> int:
        return 0

    def finishing_order(self, n_nodes: int) -> IntArray | None:
        return None

    def narrowed_order(self, n_nodes: int) -> IntArray | None:
        return None

    def first_candidate(self, n_nodes: int) -> int:
        return 0

    def break_tie(self, node_names: Sequence[str]) -> str:
        return node_names[0]


PINNED = Pinned()
