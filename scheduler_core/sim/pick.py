"""Picking among equal totals as kube-scheduler did before v1.36: at random."""

from __future__ import annotations

import numpy as np

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.scheduler.selection import Pick


def random_pick(seed: int) -> Pick:
    """Return a pick that draws uniformly among the best nodes, repeatably."""
    generator = np.random.default_rng(seed)

    def pick(totals: IntArray) -> int:
        best = np.flatnonzero(totals == totals.max())
        return int(best[generator.integers(best.size)])

    return pick
