"""Lots drawn with the seed of a run, where kube-scheduler draws them at random."""

from __future__ import annotations

import numpy as np

from scheduler_core.scheduler.selection import Draw


def seeded_draw(seed: int) -> Draw:
    """Return a draw that gives the same numbers for the same seed."""
    generator = np.random.default_rng(seed)
    return lambda n: int(generator.integers(n))
