"""The whole answer about a run: the comparison, the regret, and both as a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kviz.questions.optimum.comparison import Comparison, Posed, compare, pose
from kviz.questions.optimum.loss import Loss, loss_of
from kviz.questions.optimum.solver.best import Best
from kviz.questions.optimum.solver.clock import Clock, Report
from kviz.questions.optimum.solver.search import best_placement
from scheduler_core.analysis.model import Viability
from scheduler_core.api import KubeObject
from scheduler_core.sim import RunOptions

# After each cycle of a run: how much of the optimum is still in reach, if nobody moves again.


@dataclass(frozen=True)
class Reach:
    """The best that is still in reach after a cycle; before the first, the optimum.

    What is missing of the step before it was lost after cycle `since`, up to this one: in this very
    one if `exact`. `value` is None where only the numbers of pods are proven.
    """

    cycle: int
    since: int
    exact: bool
    placed: dict[int, int]
    value: int | None


@dataclass(frozen=True)
class Regret:
    """How the reach shrinks: the start, then every cycle that took something away.

    `lost_at_cycle` is the first cycle after which the optimum was out of reach, None if it never
    was, or is not known: then the search is not `complete`, for time ran out, and `reach` has what
    is known: after cycles between two steps no more is in reach than after the one before them, and
    no less than after the one behind them. It is empty where the optimum itself is not proven.
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
            return Regret(self._steps(), lost_at, complete=False)
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
        self._at(middle)  # neighbours are not looked at again
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
        best = self._as_before(number, fixed) or self._searched(number, fixed)
        if self._part(best) < self._goal and len(best.proven_key) < len(self._goal):
            raise _OutOfTime
        self._known[number] = best
        return best

    def _as_before(self, number: int, fixed: dict[str, str]) -> Best | None:
        """Return the best after an earlier cycle, if it has as many equal pods where these are."""
        if self._posed.mode == "replayed":  # there pods are worth what their turn makes of them
            return None
        instance = self._posed.instance
        earlier = self._earlier(number)
        if (instance.counts_of(earlier.placement or {}) < instance.counts_of(fixed)).any():
            return None
        return earlier

    def _earlier(self, number: int) -> Best:
        return self._known[max(each for each in self._known if each < number)]

    def _searched(self, number: int, fixed: dict[str, str]) -> Best:
        posed = self._posed
        later = min((each for each in self._known if each > number), default=None)
        begin = posed.own if later is None else self._known[later].placement or posed.own
        return best_placement(
            posed.world,
            posed.instance,
            posed.mode,
            begin,
            self._clock,
            fixed,
            within=self._earlier(number),
        )

    def _steps(self) -> tuple[Reach, ...]:
        """Return the start, and what is known to be less than what was in reach before it."""
        steps: list[Reach] = []
        before = 0
        for number in sorted(self._known):
            best = self._known[number]
            if not steps or self._part(best) < self._part(self._known[before]):
                steps.append(self._step(number, before))
            before = number
        return tuple(steps)

    def _step(self, number: int, before: int) -> Reach:
        best = self._known[number]
        value = best.value if len(self._goal) == len(best.key) else None
        since = self._cycles[before]
        return Reach(self._cycles[number], since, number - before <= 1, best.placed, value)


DEFAULT_TIME_LIMIT_S: Final = 10.0
LARGEST: Final = 10**300
"""Larger counts are null in JSON: no number there holds them."""


@dataclass(frozen=True)
class Answer:
    """The run compared with the optimum, and the cycle that lost it.

    `loss` is what is surely lost where the optimum is not proven, not even in the numbers of pods.
    """

    comparison: Comparison
    regret: Regret
    loss: Loss | None = None


def answer(
    objects: Sequence[KubeObject],
    options: RunOptions,
    mode: Viability,
    time_limit_s: float = DEFAULT_TIME_LIMIT_S,
    report: Report = lambda step: None,
    at_cycle: int = 1,
) -> Answer:
    """Run the scheduler, find the optimum, and the cycle that lost it.

    `at_cycle`: of what there is when that cycle begins, and of the pods that wait then; the first
    is all of it. The search has `time_limit_s`, and the look back as long again. Raises
    InstanceError, TooLarge, Cancelled and CheckFailed; ConfigError and PluginFailure as a run does.
    """
    return answer_of(pose(objects, options, mode, at_cycle=at_cycle), time_limit_s, report)


def answer_of(posed: Posed, time_limit_s: float, report: Report) -> Answer:
    """Answer about a problem that is written down; see `answer`."""
    found = compare(posed, Clock(time_limit_s, report))
    if found.not_comparable:
        return Answer(found, Regret())
    clock = Clock(time_limit_s, report)
    if not found.optimum.proven_key:
        return Answer(found, Regret(complete=False), loss_of(posed, found.optimum, clock))
    return Answer(found, regret_of(posed, found.optimum, clock))


def as_json(found: Answer) -> dict[str, object]:
    """Return what `kviz optimum --json` prints."""
    comparison, best = found.comparison, found.comparison.optimum
    counts = best.counts
    moment = {"at_cycle": comparison.at_cycle} if comparison.at_cycle > 1 else {}
    return moment | {
        "mode": comparison.mode,
        "pods": comparison.n_pods,
        "nodes": comparison.n_nodes,
        "run": {"placed": _by_priority(comparison.run.placed), "value": comparison.run.value},
        "optimum": {
            "placed": _by_priority(best.placed),
            "value": best.value,
            "assignment": best.placement or {},
        },
        "gap": comparison.gap,
        "lost_at_cycle": found.regret.lost_at_cycle,
        "proven": best.proven,
        "bound": {"placed": _by_priority(best.bound_placed), "value": best.bound_value},
        "counts": {
            "possible": counts.possible if counts.possible < LARGEST else None,
            "feasible": counts.feasible,
            "viable": counts.viable,
        },
        "not_comparable": list(comparison.not_comparable),
    }


def _by_priority(placed: dict[int, int]) -> dict[str, int]:
    return {str(level): n for level, n in placed.items()}
