"""Dry runs that need not be done again: nothing they depend on has changed.

Pods of one template preempt on nodes of which one or two have moved since the last attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from scheduler_core.cluster.nodes import IntArray, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.preemption.report import DryRun

MAX_TEMPLATES = 64
"""So many templates' dry runs are kept; beyond that the oldest template's go."""


@dataclass(frozen=True, slots=True)
class _Kept:
    """A dry run with what it depends on: the node's state, its claimants, the budgets."""

    generation: int
    claimants: tuple[str, ...]
    budgets: int
    result: DryRun


class KeptDryRuns:
    """The last dry run of each template on each row.

    Valid only where all plugins that take part are node-local: then a result depends on the
    pod's template, the node's generation, the pods nominated to it, and the budgets' revision.
    """

    def __init__(self) -> None:
        self._templates: dict[int, dict[int, _Kept]] = {}

    def run(
        self,
        pod: PodInfo,
        nodes: Nodes,
        claimants: Callable[[str], tuple[str, ...]],
        budgets: int,
        dry_run: Callable[[Nodes], Sequence[DryRun]],
    ) -> list[DryRun]:
        """Return the dry runs on `nodes` in order, doing only those that may have changed.

        `claimants` are the uids of the pods nominated to a node, `budgets` the revision of the
        disruption budgets.
        """
        rows = self._rows_of(pod)
        generations = nodes.cluster.generation[nodes.rows]
        wanted = [
            (int(row), int(generation), claimants(name))
            for row, generation, name in zip(nodes.rows, generations, nodes.names, strict=True)
        ]
        stale = [
            i
            for i, (row, generation, claims) in enumerate(wanted)
            if (kept := rows.get(row)) is None
            or (kept.generation, kept.claimants, kept.budgets) != (generation, claims, budgets)
        ]
        if stale:
            at: IntArray = np.array(stale, np.int64)
            for i, result in zip(stale, dry_run(nodes.take(at)), strict=True):
                row, generation, claims = wanted[i]
                rows[row] = _Kept(generation, claims, budgets, result)
        return [rows[row].result for row, _, _ in wanted]

    def _rows_of(self, pod: PodInfo) -> dict[int, _Kept]:
        index = pod.template.index
        if index not in self._templates:
            if len(self._templates) >= MAX_TEMPLATES:
                del self._templates[next(iter(self._templates))]
            self._templates[index] = {}
        return self._templates[index]
