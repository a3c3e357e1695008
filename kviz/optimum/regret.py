"""After each cycle of a run: how much of the optimum is still in reach, if nobody moves again."""

from __future__ import annotations

from dataclasses import dataclass

from kviz.optimum.comparison import Posed
from kviz.optimum.search import Best, Clock, best_placement


@dataclass(frozen=True)
class Reach:
    """The best that is still in reach after a cycle; before the first, the optimum."""

    cycle: int
    placed: dict[int, int]
    value: int


@dataclass(frozen=True)
class Regret:
    """How the reach shrinks: the start, then every cycle that took something away.

    `lost_at_cycle` is the first cycle after which the optimum was out of reach, None if it never
    was, or is not known: then the search is not `complete`, for time ran out, and `reach` is empty.
    Where only the number of pods is proven, the optimum is as many pods, whatever they are worth.
    """

    reach: tuple[Reach, ...] = ()
    lost_at_cycle: int | None = None
    complete: bool = True


def regret_of(posed: Posed, optimum: Best, clock: Clock) -> Regret:
    """Find the cycle that lost the optimum, by binary search, and then all that lost more.

    Fixing more pods leaves less in reach, so between two cycles of equal reach there is nothing to
    find. Raises Cancelled.
    """
    return _Look(posed, optimum, clock).regret()


class _OutOfTime(Exception):
    """The reach after a cycle is not known, and there is no time to find out."""


class _Look:
    def __init__(self, posed: Posed, optimum: Best, clock: Clock) -> None:
        self._posed = posed
        self._optimum = optimum
        self._clock = clock
        cycles = {posed.outcome.cycles.get(pod, 0) for pod in posed.own}
        self._cycles = [0, *sorted(cycles - {0})]
        self._known: dict[int, Best] = {0: optimum}
        self._goal = optimum.proven_key

    def regret(self) -> Regret:
        lost_at: int | None = None
        if not self._goal:
            return Regret(complete=False)
        try:
            lost_at = self._lost_at()
            self._find_steps(0, len(self._cycles) - 1)
        except _OutOfTime:
            return Regret(lost_at_cycle=lost_at, complete=False)
        return Regret(self._steps(), lost_at)

    def _reaches(self, number: int) -> bool:
        return self._part(self._at(number)) >= self._goal

    def _part(self, best: Best) -> tuple[int, ...]:
        """Return as much of a key as is compared."""
        return best.key[: len(self._goal)]

    def _lost_at(self) -> int | None:
        low, high = 0, len(self._cycles) - 1
        if self._reaches(high):
            return None
        while high - low > 1:
            middle = (low + high) // 2
            if self._reaches(middle):
                low = middle
            else:
                high = middle
        return self._cycles[high]

    def _find_steps(self, low: int, high: int) -> None:
        """Find the reach after every cycle between two, where theirs differ."""
        if high - low <= 1 or self._part(self._at(low)) == self._part(self._at(high)):
            return
        middle = (low + high) // 2
        self._find_steps(low, middle)
        self._find_steps(middle, high)

    def _at(self, number: int) -> Best:
        known = self._known.get(number)
        if known is not None:
            return known
        if not self._clock.left_s:
            raise _OutOfTime
        posed, cycle = self._posed, self._cycles[number]
        fixed = {
            pod: node
            for pod, node in posed.own.items()
            if posed.outcome.cycles.get(pod, 0) <= cycle
        }
        self._clock.about = f", after cycle {cycle}"
        best = best_placement(
            posed.world, posed.instance, posed.mode, posed.own, self._clock, fixed
        )
        if self._part(best) < self._goal and len(best.proven_key) < len(self._goal):
            raise _OutOfTime
        self._known[number] = best
        return best

    def _steps(self) -> tuple[Reach, ...]:
        steps: list[Reach] = []
        last = 0
        for number in sorted(self._known):
            best = self._known[number]
            if not steps or self._part(best) < self._part(self._known[last]):
                steps.append(Reach(self._cycles[number], best.placed, best.value))
                last = number
        return tuple(steps)
