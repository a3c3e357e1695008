"""Finds the best placement: all placements one by one, a program for HiGHS, or a tree of turns.

The objective is lexicographic: for each priority from the highest down the number of pods placed,
then the sum of Viability.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kviz.optimum.highs import Solved, maximize
from kviz.optimum.program import Program, program_of
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.model import Instance, Placement, RestingWorld, Viability
from scheduler_core.model.enumeration import enumerate_all, may_enumerate
from scheduler_core.model.feasibility import feasible, values_of
from scheduler_core.model.replayed import SearchStopped
from scheduler_core.model.replayed import search as search_turns

MAX_REPLAYED = 50_000
"""Possible placements up to which the order of the queue is replayed for every one."""


ALIKE_S = 2.0
"""How long to look, among placements that are as good, for the one in which most pods stay."""


class Cancelled(Exception):
    """Whoever asked for the optimum no longer wants it."""


class TooLarge(ValueError):
    """The instance is too large for the mode; the text says so."""


@dataclass(frozen=True)
class Step:
    """How far a search is: what it is after, what it has, and what nobody can exceed.

    `objective` is `placed at priority P`, `value`, or `placements`; `incumbent` None without one.
    """

    objective: str
    incumbent: int | None
    bound: int | None
    elapsed_s: float


Report = Callable[[Step], None]
"""Hears how far a search is; raises Cancelled to end it."""


@dataclass(frozen=True)
class Counts:
    """How many placements are possible, feasible, and of the highest value; None: not counted."""

    possible: int
    feasible: int | None = None
    viable: int | None = None


@dataclass(frozen=True)
class Best:
    """The best placement found, None if there is none; `proven` if nobody can do better.

    `bound_placed` is what nobody can exceed at a priority, given the best at those above;
    `bound_value` what no placement of as many pods can be worth, None where that is not known.
    """

    placement: dict[str, str] | None
    placed: dict[int, int]
    value: int
    proven: bool
    bound_placed: dict[int, int]
    bound_value: int | None
    counts: Counts

    @property
    def key(self) -> tuple[int, ...]:
        return (*self.placed.values(), self.value)

    @property
    def proven_key(self) -> tuple[int, ...]:
        """Return the part of the key that nobody can better: all, the counts alone, or nothing."""
        if self.proven:
            return self.key
        return self.key[:-1] if self.bound_placed == self.placed else ()


class Clock:
    """Counts down a time limit, and hands on how far a search is."""

    def __init__(self, limit_s: float, report: Report) -> None:
        self.about = ""
        """What the search is for, behind each objective in the reports."""
        self._begin_s = time.monotonic()
        self._limit_s = limit_s
        self._report = report

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._begin_s

    @property
    def left_s(self) -> float:
        return max(self._limit_s - self.elapsed_s, 0.0)

    def report(self, objective: str, incumbent: int | None, bound: int | None) -> None:
        self._report(Step(objective + self.about, incumbent, bound, self.elapsed_s))


def best_placement(
    world: RestingWorld,
    instance: Instance,
    mode: Viability,
    like: Placement,
    clock: Clock,
    fixed: Placement | None = None,
    within: Best | None = None,
) -> Best:
    """Find the best placement in which the pods of `fixed` are where they are.

    `like` is the scheduler's own placement: where the search begins, and what ties resemble. It is
    known that nothing is better than `within`, the best with fewer pods fixed.
    Raises Cancelled, and TooLarge.
    """
    fixed = fixed or {}
    if mode == "replayed":
        return _by_turns(world, instance, like, clock, fixed)
    if may_enumerate(instance):
        return _one_by_one(instance, like, clock, fixed)
    return _by_program(instance, like, clock, fixed, within)


# ---------------------------------------------------------------- one by one


def _one_by_one(instance: Instance, like: Placement, clock: Clock, fixed: Placement) -> Best:
    own = instance.counts_of({**like, **fixed})
    seen = enumerate_all(instance, fixed, own, lambda n: clock.report("placements", n, None))
    counts = Counts(instance.n_possible, seen.n_feasible, seen.n_viable)
    if seen.best is None:
        return nothing(instance, counts, proven=True)
    placed = instance.placed(seen.best)
    placement = instance.placement_of(seen.best, {**like, **fixed})
    return Best(placement, placed, seen.value, True, dict(placed), seen.value, counts)


def _as_it_is(instance: Instance, best: IntArray, own: IntArray) -> IntArray:
    """Return the scheduler's own placement if it is feasible and as good, else the best one."""
    both = np.stack([best, own])
    if not feasible(instance, both)[1] or instance.placed(own) != instance.placed(best):
        return best
    values = values_of(instance, both)
    return own if values[1] >= values[0] else best


def nothing(instance: Instance, counts: Counts, *, proven: bool) -> Best:
    """Return that no placement was found; `proven` if none is feasible: where pods are fixed."""
    none = dict.fromkeys(instance.levels, 0)
    most = none if proven else {level: _n_at(instance, level) for level in instance.levels}
    return Best(None, none, 0, proven, dict(most), 0 if proven else None, counts)


# ---------------------------------------------------------------- turn by turn


def _by_turns(
    world: RestingWorld, instance: Instance, like: Placement, clock: Clock, fixed: Placement
) -> Best:
    if instance.n_possible > MAX_REPLAYED:
        raise TooLarge(
            f"{instance.n_possible:.1e} placements are possible, and the order of the queue is "
            f"replayed for {MAX_REPLAYED:,} at most; take another mode"
        )

    def progress(n_steps: int) -> None:
        clock.report("placements", n_steps, None)
        if not clock.left_s:
            raise SearchStopped

    found = search_turns(world, instance, fixed, progress)
    n_feasible = enumerate_all(instance, fixed, instance.counts_of(like)).n_feasible
    counts = Counts(instance.n_possible, n_feasible, found.n_viable if found.complete else None)
    if found.placement is None:
        return nothing(instance, counts, proven=found.complete)
    placed = dict(zip(instance.levels, found.key[:-1], strict=True))
    most = {level: _n_at(instance, level) for level in instance.levels}
    return Best(
        found.placement,
        placed,
        found.value,
        found.complete,
        dict(placed) if found.complete else most,
        found.value if found.complete else None,
        counts,
    )


def _n_at(instance: Instance, level: int) -> int:
    return int(instance.sizes[instance.priority == level].sum())


# ---------------------------------------------------------------- a program


def _by_program(
    instance: Instance, like: Placement, clock: Clock, fixed: Placement, within: Best | None
) -> Best:
    counts = Counts(instance.n_possible)
    fixed_counts = instance.counts_of(fixed)
    if (fixed_counts * ~instance.eligible).any():
        return nothing(instance, counts, proven=True)
    program = program_of(instance, fixed_counts)
    stages = _Stages(instance, program, clock, _begin(instance, like, fixed), within)
    bounds = {level: stages.most_placed(level) for level in instance.levels}
    bound_value = stages.most_valuable()
    if stages.counts is None:
        return nothing(instance, counts, proven=stages.is_infeasible)
    value = int(values_of(instance, stages.counts[np.newaxis])[0])
    own = instance.counts_of({**like, **fixed})
    chosen = _as_it_is(instance, stages.counts, own)
    if chosen is not own and clock.left_s:
        stages.most_alike(value, own)
        chosen = stages.counts
        value = int(values_of(instance, chosen[np.newaxis])[0])
    placed = instance.placed(chosen)
    # What came after a count that was not proven is bounded for that count only.
    open_at = next(
        (i for i, each in enumerate(instance.levels) if bounds[each] > placed[each]), None
    )
    if open_at is not None:
        for level in instance.levels[open_at + 1 :]:
            bounds[level] = _n_at(instance, level)
    proven = open_at is None and bound_value <= value
    return Best(
        instance.placement_of(chosen, {**like, **fixed}),
        placed,
        value,
        proven,
        bounds,
        bound_value if open_at is None else None,
        counts,
    )


def _begin(instance: Instance, like: Placement, fixed: Placement) -> IntArray | None:
    """Return as much of the scheduler's placement as is feasible, None if not even `fixed` is.

    Pods are added in halves: of a half that is not feasible, again the halves.
    """
    placement = dict(fixed)
    if not _is_feasible(instance, {**like, **fixed}) and not _is_feasible(instance, fixed):
        return None

    def add(pods: list[str]) -> None:
        more = placement | {pod: like[pod] for pod in pods}
        if _is_feasible(instance, more):
            placement.update(more)
        elif len(pods) > 1:
            add(pods[: len(pods) // 2])
            add(pods[len(pods) // 2 :])

    add([pod for pod in like if pod not in fixed])
    return instance.counts_of(placement)


def _is_feasible(instance: Instance, placement: Placement) -> bool:
    return bool(feasible(instance, instance.counts_of(placement)[np.newaxis])[0])


class _Stages:
    """One objective after another, each keeping what those before it have reached."""

    def __init__(
        self,
        instance: Instance,
        program: Program,
        clock: Clock,
        begin: IntArray | None,
        within: Best | None,
    ) -> None:
        self._instance = instance
        self._program = program
        self._clock = clock
        self._within = within
        """What nothing is better than, as long as all stages so far have come up to it."""
        self.counts = begin
        self.is_infeasible = False
        self._whole: tuple[IntArray, np.typing.NDArray[np.float64]] | None = None

    def most_placed(self, level: int) -> int:
        """Place as many pods of a priority as can be; return what nobody can exceed."""
        counts_of_level = self._program.x[self._instance.priority == level]
        numbers = counts_of_level[counts_of_level >= 0]
        worth = np.zeros(self._program.n_variables)
        worth[numbers] = 1.0
        ceiling = self._program.ceiling(worth, self._instance.sizes)
        if self._within is not None:
            ceiling = min(ceiling, self._within.bound_placed[level])
        if self.counts is None or self._instance.placed(self.counts)[level] < ceiling:
            # Not all that is left: those who come after need time, too.
            limit_s = 0.8 * self._clock.left_s
            solved = self._solve(worth, f"placed at priority {level}", limit_s)
            ceiling = min(ceiling, solved.bound)
        if self.counts is None:
            return ceiling
        reached = self._instance.placed(self.counts)[level]
        if self._within is not None and reached < self._within.bound_placed[level]:
            self._within = None
        self._program.at_least([(int(each), 1.0) for each in numbers], reached - 0.5)
        return max(ceiling, reached)

    def most_valuable(self) -> int:
        """Find the most valuable of these placements; return what nobody can exceed."""
        worth = np.array(self._program.worth)
        ceiling = self._program.ceiling(worth, self._instance.sizes)
        if self._within is not None and self._within.bound_value is not None:
            ceiling = min(ceiling, self._within.bound_value)
        if self.counts is not None:
            value = int(values_of(self._instance, self.counts[np.newaxis])[0])
            if value >= ceiling:
                return value
        return min(ceiling, self._solve(worth, "value", self._clock.left_s).bound)

    def most_alike(self, value: int, own: IntArray) -> None:
        """Of the placements of that value, find one in which as many pods as can be stay."""
        program = self._program
        program.at_least([(i, each) for i, each in enumerate(program.worth) if each], value - 0.5)
        stay = []
        for at, most in zip(*program.values_of(own), strict=True):
            if most:
                stay.append(program.variable(float(most)))
                program.at_most([(stay[-1], 1.0), (int(at), -1.0)], 0.0)
        worth = np.zeros(program.n_variables)
        worth[stay] = 1.0
        self._solve(worth, "pods that stay", min(self._clock.left_s, ALIKE_S))

    def _solve(
        self, worth: np.typing.NDArray[np.float64], objective: str, limit_s: float
    ) -> Solved:
        cancelled: list[Cancelled] = []

        def hear(incumbent: float | None, bound: float) -> bool:
            try:
                self._clock.report(
                    objective,
                    None if incumbent is None else round(incumbent),
                    int(bound) if abs(bound) < 2**53 else None,
                )
            except Cancelled as error:
                cancelled.append(error)
            return bool(cancelled)

        solved = maximize(self._program, worth.tolist(), self._start(), limit_s, hear)
        if cancelled:
            raise cancelled[0]
        self.is_infeasible = solved.values is None and solved.proven
        if solved.values is not None and solved.solution is not None:
            self.counts = self._program.counts_of(solved.values)
            at = np.arange(self._program.n_variables)
            self._whole = at, np.where(self._program.is_integer, solved.values, solved.solution)
        return solved

    def _start(self) -> tuple[IntArray, np.typing.NDArray[np.float64]] | None:
        if self._whole is not None:
            return self._whole
        if self.counts is None:
            return None
        at, values = self._program.values_of(self.counts)
        return at, values.astype(np.float64)
