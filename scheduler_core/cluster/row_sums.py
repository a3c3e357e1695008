"""Sums over the pods of every row, cached from cycle to cycle.

A cycle differs from the one before by the pods of a few rows. The sums remember up to which
generation they hold and go through the pods of just the rows that have moved since.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from scheduler_core.cluster.arrays import ABSENT, BoolArray, IntArray
from scheduler_core.cluster.columns import ClusterColumns

FEW_ROWS = 24
"""Up to so many rows are cheaper to sum one by one than all together."""


@dataclass
class _Entry:
    sums: IntArray
    generation: int


class RowSums:
    """Sums of per-template weights over placed pods; without `terminating`, not over those."""

    def __init__(self, cluster: ClusterColumns, *, terminating: bool = True) -> None:
        self._cluster = cluster
        self._terminating = terminating
        self._entries: dict[Hashable, _Entry] = {}

    def of(self, key: Hashable, weights: IntArray | BoolArray) -> IntArray:
        """Return per row the sum of its pods' `weights` (n_templates,), int64 (n_rows,).

        The same key must always come with the same weights (of more templates, in time). The
        array is borrowed: it must not be changed, and holds until the next call.
        """
        generation = self._cluster.generation[: self._cluster.n_rows]
        newest = int(generation.max(initial=0))
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry(self._sum_all(weights), newest)
        elif entry.generation < newest:
            moved = np.flatnonzero(generation > entry.generation)
            if moved.size > FEW_ROWS:
                entry.sums = self._sum_all(weights)
            else:
                self._sum_rows(entry, moved, weights)
            entry.generation = newest
        return entry.sums

    def _sum_all(self, weights: IntArray | BoolArray) -> IntArray:
        pods, n_rows = self._cluster.pods, self._cluster.n_rows
        row = pods.row[: pods.n_slots]
        counted = row != ABSENT
        if not self._terminating:
            counted &= ~pods.terminating[: pods.n_slots]
        at = np.flatnonzero(counted)
        amounts = weights[pods.template[at]]
        chosen = np.flatnonzero(amounts)
        sums = np.bincount(row[at[chosen]], weights=amounts[chosen], minlength=n_rows)
        return sums.astype(np.int64)

    def _sum_rows(self, entry: _Entry, rows: IntArray, weights: IntArray | BoolArray) -> None:
        n_rows = self._cluster.n_rows
        if entry.sums.size < n_rows:
            entry.sums = np.append(entry.sums, np.zeros(n_rows - entry.sums.size, np.int64))
        for row in rows.tolist():
            entry.sums[row] = sum(
                int(weights[pod.template.index])
                for pod in self._cluster.pods.on_row(row)
                if self._terminating or not pod.terminating
            )
