"""All placements of a small instance, one by one: how many there are, and the best of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.analysis.model.feasibility import feasible, values_of
from scheduler_core.analysis.model.instance import Instance
from scheduler_core.cluster.arrays import IntArray

MAX_POSSIBLE: Final = 10**6
"""So many possible placements are enumerated; (N + 1)^P grows fast."""

MAX_CELLS: Final = 2_000_000
"""So many counts are looked at in one go."""


@dataclass(frozen=True, eq=False)
class Enumerated:
    """How many placements are possible, feasible, and of the highest value.

    `best` int64 (C, N) is the one of these that is most like the scheduler's own, None if no
    placement is feasible.
    """

    n_possible: int
    n_feasible: int
    n_viable: int
    best: IntArray | None
    value: int


def may_enumerate(instance: Instance) -> bool:
    return instance.n_possible <= MAX_POSSIBLE


def enumerate_all(
    instance: Instance,
    fixed: Mapping[str, str],
    like: IntArray,
    progress: Callable[[int], None] = lambda n_seen: None,
) -> Enumerated:
    """Look at every placement in which the pods of `fixed` are where they are.

    `like` int64 (C, N) is the scheduler's own placement. `progress` hears how many were looked
    at; what it raises ends the search.
    """
    n_feasible = n_viable = n_seen = 0
    n_alike = -1
    best: IntArray | None = None
    best_key: tuple[int, ...] = ()
    for counts in _all_counts(instance, fixed):
        n_seen += counts.shape[0]
        counts = counts[feasible(instance, counts)]
        n_feasible += counts.shape[0]
        if counts.shape[0]:
            keys = _keys(instance, counts)
            order = np.lexsort(keys.T[::-1])
            top = keys[order[-1]]
            at = np.flatnonzero((keys == top).all(axis=1))
            key = tuple(top.tolist())
            if best is None or key > best_key:
                best, best_key, n_viable, n_alike = None, key, 0, -1
            if key == best_key:
                n_viable += at.size
                alike = np.minimum(counts[at], like).sum(axis=(1, 2))
                if alike.max() > n_alike:
                    best, n_alike = counts[at[int(alike.argmax())]], int(alike.max())
        progress(n_seen)
    value = best_key[-1] if best_key else 0
    return Enumerated(n_seen, n_feasible, n_viable, best, value)


def _keys(instance: Instance, counts: IntArray) -> IntArray:
    """Return what counts, most important first, int64 (k, levels + 1)."""
    by_class = counts.sum(axis=2)
    columns = [by_class[:, instance.priority == level].sum(axis=1) for level in instance.levels]
    return np.stack([*columns, values_of(instance, counts)], axis=1)


def _all_counts(instance: Instance, fixed: Mapping[str, str]) -> Iterator[IntArray]:
    """Yield the counts of all placements in blocks, int64 (k, C, N)."""
    n_nodes, n_classes = len(instance.nodes), instance.n_classes
    free = [number for number, pod in enumerate(instance.pods) if pod not in fixed]
    base = instance.counts_of(fixed)
    total = (n_nodes + 1) ** len(free)
    block = max(1, MAX_CELLS // ((n_nodes + 1) * n_classes))
    classes = instance.class_of[free]
    for begin in range(0, total, block):
        numbers = np.arange(begin, min(begin + block, total))
        counts = np.zeros((numbers.size, n_classes, n_nodes + 1), np.int64)
        rest = numbers.copy()
        for own in classes[::-1]:
            counts[np.arange(numbers.size), own, rest % (n_nodes + 1)] += 1
            rest //= n_nodes + 1
        yield counts[:, :, :n_nodes] + base
