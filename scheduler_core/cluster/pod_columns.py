"""Placed pods in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from scheduler_core.cluster.arrays import ABSENT, BoolArray, IntArray, grown
from scheduler_core.cluster.pods import PodInfo


class PodColumns:
    """Placed pods: `row` int64 (n_slots,) (-1: free slot), `template`, `terminating`."""

    def __init__(self) -> None:
        self.row: IntArray = np.full(16, ABSENT, np.int64)
        self.template: IntArray = np.zeros(16, np.int64)
        self.terminating: BoolArray = np.zeros(16, np.bool_)
        self.n_slots = 0
        self._slot_of: dict[str, int] = {}
        self._free: list[int] = []
        self._on_row: dict[int, list[PodInfo]] = {}
        self._shared: set[int] = set()
        """Rows whose lists a fork has, too; copied before they are changed."""

    def fork(self) -> PodColumns:
        """Return an independent copy."""
        fork = PodColumns()
        fork.row, fork.template = self.row.copy(), self.template.copy()
        fork.terminating, fork.n_slots = self.terminating.copy(), self.n_slots
        fork._slot_of, fork._free = self._slot_of.copy(), self._free[:]
        self._shared = set(self._on_row)
        fork._on_row, fork._shared = self._on_row.copy(), set(self._on_row)
        return fork

    def _own(self, row: int) -> list[PodInfo]:
        """Return the pods of a row in a list that may be changed."""
        if row in self._shared:
            self._shared.discard(row)
            self._on_row[row] = self._on_row[row][:]
        return self._on_row.setdefault(row, [])

    def on_row(self, row: int) -> Sequence[PodInfo]:
        """Return the pods on a node; a removal moves the last one into the gap, as upstream."""
        return self._on_row.get(row, ())

    def __iter__(self) -> Iterator[tuple[int, PodInfo]]:
        for row, pods in self._on_row.items():
            for pod in pods:
                yield row, pod

    def add(self, pod: PodInfo, row: int) -> None:
        slot = self._free.pop() if self._free else self.n_slots
        self.n_slots = max(self.n_slots, slot + 1)
        self.row = grown(self.row, self.n_slots, ABSENT)
        self.template = grown(self.template, self.n_slots)
        self.terminating = grown(self.terminating, self.n_slots)
        self.row[slot], self.template[slot] = row, pod.template.index
        self.terminating[slot] = pod.terminating
        self._slot_of[pod.uid] = slot
        self._own(row).append(pod)

    def remove(self, pod: PodInfo, row: int) -> PodInfo:
        """Take a pod off its node and return it as it was recorded."""
        slot = self._slot_of.pop(pod.uid)
        self.row[slot] = ABSENT
        self._free.append(slot)
        pods = self._own(row)
        at = next(i for i, other in enumerate(pods) if other.uid == pod.uid)
        recorded = pods[at]
        pods[at] = pods[-1]
        pods.pop()
        if not pods:
            del self._on_row[row]
        return recorded

    def replace(self, pod: PodInfo, row: int) -> None:
        """Take over the new state of a pod of the row; it comes last there, as when added."""
        pods = self._own(row)
        at = next(i for i, other in enumerate(pods) if other.uid == pod.uid)
        pods[at] = pods[-1]
        pods[-1] = pod
        self.terminating[self._slot_of[pod.uid]] = pod.terminating

    def count_by_row(
        self, templates: BoolArray, n_rows: int, *, terminating: bool = True
    ) -> IntArray:
        """Count placed pods of the chosen templates per row, int64 (n_rows,).

        `templates` is bool (n_templates,); templates made since then do not count.
        """
        row = self.row[: self.n_slots]
        chosen = np.append(templates, False)[np.minimum(self.template[: row.size], templates.size)]
        chosen &= row != ABSENT
        if not terminating:
            chosen &= ~self.terminating[: row.size]
        return np.bincount(row[chosen], minlength=n_rows)
