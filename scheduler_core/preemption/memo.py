"""Cached dry runs: those of which nothing they depend on has changed.

Pods of one template preempt on nodes of which one or two have moved since the last attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.preemption.report import DryRun

MAX_TEMPLATES = 64
"""So many templates' dry runs are cached; beyond that those of the oldest template go."""


@dataclass(frozen=True, slots=True)
class _Cached:
    """A dry run with what it depends on: the node's state, the pods nominated to it, budgets."""

    generation: int
    nominated: Sequence[PodInfo] | None
    budgets: int
    result: DryRun


class DryRunMemo:
    """The last dry run of each template on each row.

    Valid only where all plugins that take part are node-local: then a result depends on the
    pod's template, the node's generation, the pods nominated to it, and the budgets' revision.
    """

    def __init__(self) -> None:
        self._templates: dict[int, dict[int, _Cached]] = {}

    def fork(self) -> DryRunMemo:
        """Return a copy that goes on by itself, for a copy of the cluster."""
        fork = DryRunMemo()
        fork._templates = {index: rows.copy() for index, rows in self._templates.items()}
        return fork

    def as_of(self, cluster: ClusterColumns, budgets: int) -> DryRunMemo:
        """Return what of this held in the cluster as it was before this one's went on from there.

        Only where nobody is nominated; `budgets` is their revision at that time.
        """
        generation = cluster.generation.tolist()
        before = DryRunMemo()
        before._templates = {
            index: {
                row: each
                for row, each in rows.items()
                if row < cluster.n_rows
                and each.generation == generation[row]
                and each.nominated is None
                and each.budgets == budgets
            }
            for index, rows in self._templates.items()
            if index < len(cluster.templates)
        }
        return before

    def run(
        self,
        pod: PodInfo,
        nodes: Nodes,
        nominated: Mapping[str, Sequence[PodInfo]],
        own_node: str,
        budgets: int,
        dry_run: Callable[[Nodes], Sequence[DryRun]],
    ) -> list[DryRun]:
        """Return the dry runs on `nodes` in order, doing only those that may have changed.

        `nominated` holds the nominated pods by node, each time they change another sequence.
        `own_node` is the node of the pod's own nomination, where others of its template meet
        one pod more; `budgets` is the revision of the disruption budgets.
        """
        rows = self._rows_of(pod)
        at, names = nodes.rows.tolist(), nodes.names
        generations = nodes.cluster.generation[nodes.rows].tolist()
        rivals = [nominated.get(name) for name in names]
        results: list[DryRun | None] = [
            cached.result
            if (cached := rows.get(row)) is not None
            and cached.generation == generation
            and cached.nominated is rival
            and cached.budgets == budgets
            and name != own_node
            else None
            for row, name, generation, rival in zip(at, names, generations, rivals, strict=True)
        ]
        stale = [i for i, result in enumerate(results) if result is None]
        if stale:
            fresh = dry_run(nodes.take(np.array(stale, np.int64)))
            for i, result in zip(stale, fresh, strict=True):
                results[i] = result
                if names[i] != own_node:
                    rows[at[i]] = _Cached(generations[i], rivals[i], budgets, result)
        return [result for result in results if result is not None]

    def _rows_of(self, pod: PodInfo) -> dict[int, _Cached]:
        index = pod.template.index
        if index not in self._templates:
            if len(self._templates) >= MAX_TEMPLATES:
                del self._templates[next(iter(self._templates))]
            self._templates[index] = {}
        return self._templates[index]
