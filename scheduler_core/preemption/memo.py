"""Cached dry runs: those of which nothing they depend on has changed.

Pods of one template preempt on nodes of which one or two have moved since the last attempt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress, count
from operator import is_not, ne, or_

import numpy as np

from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.preemption.report import DryRun

MAX_TEMPLATES = 64
"""So many templates' dry runs are cached; beyond that those of the oldest template go."""


@dataclass(slots=True)
class _Cached:
    """Dry runs of one template by row, with what they depend on.

    That is the budgets' revision, and for each the node's generation and the pods nominated to
    it. Columns side by side, since whole batches of rows are compared at every attempt.
    """

    budgets: int
    generation: dict[int, int] = field(default_factory=dict)
    nominated: dict[int, Sequence[PodInfo] | None] = field(default_factory=dict)
    result: dict[int, DryRun] = field(default_factory=dict)

    def copy(self) -> _Cached:
        return _Cached(
            self.budgets, self.generation.copy(), self.nominated.copy(), self.result.copy()
        )

    def add(
        self, row: int, generation: int, nominated: Sequence[PodInfo] | None, result: DryRun
    ) -> None:
        self.generation[row] = generation
        self.nominated[row] = nominated
        self.result[row] = result

    def have_changed(
        self,
        rows: Sequence[int],
        generations: Sequence[int],
        nominated: Sequence[Sequence[PodInfo] | None],
    ) -> Iterator[bool]:
        """Return of each row whether its dry run is unknown or something has changed since."""
        other_node = map(ne, map(self.generation.get, rows), generations)
        other_nominated = map(is_not, map(self.nominated.get, rows), nominated)
        return map(or_, other_node, other_nominated)


class DryRunMemo:
    """The last dry run of each template on each row.

    Valid only where all plugins that take part are node-local: then a result depends on the
    pod's template, the node's generation, the pods nominated to it, and the budgets' revision.
    """

    def __init__(self) -> None:
        self._templates: dict[int, _Cached] = {}

    def fork(self) -> DryRunMemo:
        """Return an independent copy, for a copy of the cluster."""
        fork = DryRunMemo()
        fork._templates = {index: cached.copy() for index, cached in self._templates.items()}
        return fork

    def as_of(self, cluster: ClusterColumns, budgets: int) -> DryRunMemo:
        """Return what of this held in the cluster as it was before this one's went on from there.

        Only where nobody is nominated; `budgets` is their revision at that time.
        """
        generation = cluster.generation.tolist()
        before = DryRunMemo()
        for index, cached in self._templates.items():
            if cached.budgets != budgets or index >= len(cluster.templates):
                continue
            held = before._templates[index] = _Cached(budgets)
            for row, result in cached.result.items():
                is_there = row < cluster.n_rows and cached.generation[row] == generation[row]
                if is_there and cached.nominated[row] is None:
                    held.add(row, generation[row], None, result)
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
        cached = self._of(pod, budgets)
        rows, names = nodes.rows.tolist(), nodes.names
        generations = nodes.cluster.generation[nodes.rows].tolist()
        rivals = [*map(nominated.get, names)]
        stale = [*compress(count(), cached.have_changed(rows, generations, rivals))]
        if own_node in names and (own := names.index(own_node)) not in stale:
            stale = sorted([*stale, own])
        if not stale:
            return [*map(cached.result.__getitem__, rows)]
        fresh = dry_run(nodes.take(np.array(stale, np.int64)))
        only_now: dict[int, DryRun] = {}
        for i, result in zip(stale, fresh, strict=True):
            if names[i] == own_node:
                only_now[rows[i]] = result
            else:
                cached.add(rows[i], generations[i], rivals[i], result)
        results = cached.result | only_now if only_now else cached.result
        return [*map(results.__getitem__, rows)]

    def _of(self, pod: PodInfo, budgets: int) -> _Cached:
        """Return what is known of the pod's template; with other budgets that is nothing."""
        index = pod.template.index
        cached = self._templates.get(index)
        if cached is None or cached.budgets != budgets:
            if cached is None and len(self._templates) >= MAX_TEMPLATES:
                del self._templates[next(iter(self._templates))]
            cached = self._templates[index] = _Cached(budgets)
        return cached
