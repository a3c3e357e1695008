"""Lots drawn with the seed of a run, where kube-scheduler draws them at random."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import numpy as np


class SeededDraw:
    """A draw that gives the same numbers for the same seed."""

    def __init__(self, seed: int) -> None:
        self._generator = np.random.default_rng(seed)

    def restart(self, seed: int | Sequence[int]) -> None:
        """Go on as a draw with this seed begins."""
        self._generator = np.random.default_rng(seed)

    def __call__(self, n: int) -> int:
        return int(self._generator.integers(n))

    def fork(self) -> SeededDraw:
        """Return a draw that gives the numbers that would come next."""
        return deepcopy(self)
