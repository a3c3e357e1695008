"""Where not even a number of pods is proven: what a run has surely lost, and by which cycle.

The best placement found is possible, so the part of it that an upper bound excludes after a cycle
is lost. It may be more: the optimum may be better than what was found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from kviz.questions.optimum.comparison import Posed
from kviz.questions.optimum.solver.best import Best
from kviz.questions.optimum.solver.clock import Clock
from kviz.questions.optimum.solver.search import best_placement

SHARE_OF_LOOK: Final = 0.3
"""How much of the time that is left one cycle may take: the search is for the first of them."""


@dataclass(frozen=True)
class Loss:
    """After `cycle` at least `n_pods` of a `priority` are out of reach, of `n_found` there were.

    `in_reach_until` is the last cycle after which all of them are known to be in reach; of those
    between the two it is not known.
    """

    cycle: int
    in_reach_until: int
    priority: int
    n_pods: int
    n_found: int


def loss_of(posed: Posed, found: Best, clock: Clock) -> Loss | None:
    """Find the first cycle after which a loss is proven; None if there is none. Raises Cancelled.

    What pods are worth is left out: only as many are compared.
    """
    if posed.mode == "replayed" or found.placement is None:
        return None
    return _Look(posed, found, clock).loss()


class _Look:
    def __init__(self, posed: Posed, found: Best, clock: Clock) -> None:
        instance = posed.instance
        none = np.zeros_like(instance.values)
        self._posed = replace(posed, instance=replace(instance, values=none, wishes=()))
        self._found = found
        self._clock = clock
        cycles = {posed.outcome.cycles.get(pod, 0) for pod in posed.own}
        self._cycles = [0, *sorted(cycles - {0})]
        self._looked: dict[int, Best] = {0: found}

    def loss(self) -> Loss | None:
        low, high = 0, len(self._cycles) - 1
        if high == 0 or self._lost(high) is None:
            return None
        sure, proven = low, high
        while proven - low > 1 and self._clock.left_s:
            middle = (low + proven) // 2
            if self._lost(middle) is not None:
                proven = middle
            else:
                low = middle
                if self._is_in_reach(middle):
                    sure = middle
        level, n_pods = self._lost(proven) or (0, 0)
        return Loss(
            self._cycles[proven],
            self._cycles[sure],
            level,
            n_pods,
            self._found.placed[level],
        )

    def _lost(self, number: int) -> tuple[int, int] | None:
        """Return at which priority how many pods are surely out of reach after a cycle."""
        bounds = self._after(number).bound_placed
        for level, there in self._found.placed.items():
            if bounds[level] != there:
                return (level, there - bounds[level]) if bounds[level] < there else None
        return None

    def _is_in_reach(self, number: int) -> bool:
        placed = self._after(number).placed
        return tuple(placed.values()) >= tuple(self._found.placed.values())

    def _after(self, number: int) -> Best:
        if number not in self._looked:
            posed, cycle = self._posed, self._cycles[number]
            fixed = {
                pod: node
                for pod, node in posed.own.items()
                if posed.outcome.cycles.get(pod, 0) <= cycle
            }
            clock = self._clock.part(SHARE_OF_LOOK, f", after cycle {cycle}")
            earlier = self._looked[max(each for each in self._looked if each < number)]
            self._looked[number] = best_placement(
                posed.world, posed.instance, posed.mode, posed.own, clock, fixed, within=earlier
            )
        return self._looked[number]
