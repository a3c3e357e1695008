"""Adds to a placement the pods that still fit: a search for some may have left out others."""

from __future__ import annotations

import numpy as np

from scheduler_core.analysis.model.feasibility import feasible
from scheduler_core.analysis.model.instance import Instance
from scheduler_core.cluster.arrays import IntArray


def filled(instance: Instance, counts: IntArray) -> IntArray:
    """Return a feasible placement (C, N) with more pods: high priorities first, then small pods.

    Each goes where it is worth most, and of these where it leaves the least.
    """
    counts = counts.copy()
    size = (instance.requests / np.maximum(instance.free.max(axis=0), 1)).max(axis=1)
    order = np.lexsort((size, -instance.priority)).tolist()
    # A pod that has to be near another may fit once that one is there.
    while any([_added(instance, counts, own) for own in order]):
        pass
    return counts


def _added(instance: Instance, counts: IntArray, own: int) -> int:
    """Add as many pods of a class as fit; return how many."""
    left = int(instance.sizes[own] - counts[own].sum())
    for n in range(left):
        node = _best(instance, counts, own)
        if node is None:
            return n
        counts[own, node] += 1
    return left


def _best(instance: Instance, counts: IntArray, own: int) -> int | None:
    """Return the best node for one more pod of a class, None if there is none."""
    rest = instance.free - counts.T @ instance.requests - instance.requests[own]
    asked = instance.requests[own] > 0
    fits = np.flatnonzero(instance.eligible[own] & (rest[:, asked] >= 0).all(axis=1))
    if not fits.size:
        return None
    more = np.repeat(counts[np.newaxis], fits.size, axis=0)
    more[np.arange(fits.size), own, fits] += 1
    fits = fits[feasible(instance, more)]
    if not fits.size:
        return None
    share = (rest[fits] / np.maximum(instance.free[fits], 1)).sum(axis=1)
    best = np.lexsort((share, -instance.values[own, fits]))[0]
    return int(fits[best])
