"""A program of groups, solved with few of its patterns at a time.

A cluster has thousands of patterns, and a good placement uses a dozen. Solving as though pods
could be divided is quick, bounds the result, and prices the patterns: one that costs more than the
bound leaves above the incumbent is in no better placement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from kviz.questions.optimum.solver.highs import (
    Floats,
    Progress,
    Relaxed,
    Solved,
    maximize,
    relaxed,
    unit_of,
    whole,
)
from kviz.questions.optimum.solver.program import ProgramOfGroups
from scheduler_core.cluster.arrays import BoolArray, IntArray

ROUNDS: Final = (40, 160, 640)
"""So many patterns of each group are tried first, the cheapest ones; then all that may matter."""

LEAST_S: Final = 0.2
"""With less time a round is not begun."""

SHARE_OF_ROUND: Final = 0.5
"""How much of the time that is left a round may take that does not have all of them."""

EXACT: Final = 1e-6

Start = tuple[IntArray, Floats]
"""Variables, and values to begin with."""


def maximize_by_groups(
    program: ProgramOfGroups,
    worth: Sequence[float],
    begin: tuple[Start, int] | None,
    left_s: Callable[[], float],
    progress: Progress,
) -> Solved | None:
    """Find the highest sum of `worth`, from an incumbent and its sum on; None if time ran out.

    `progress` hears bounds that hold for all patterns.
    """
    prices = relaxed(program, worth, left_s(), unit_of(worth))
    if prices is None:
        return None
    # Many patterns are as cheap where only pods count; what they are worth tells them apart.
    most = 2.0 * sum(abs(a) * b for a, b in zip(program.worth, program.upper, strict=True)) + 1.0
    finer = [a + b / most for a, b in zip(worth, program.worth, strict=True)]
    order = relaxed(program, finer, left_s(), 1)
    if order is None:
        return None
    return _Rounds(program, worth, prices, order, begin, progress).run(left_s)


class _Rounds:
    def __init__(
        self,
        program: ProgramOfGroups,
        worth: Sequence[float],
        prices: Relaxed,
        order: Relaxed,
        begin: tuple[Start, int] | None,
        progress: Progress,
    ) -> None:
        self._program = program
        self._worth = worth
        self._prices = prices
        self._progress = progress
        self._unit = unit_of(worth)
        self._start: Start | None = begin[0] if begin else None
        self._reached: int | None = begin[1] if begin else None
        self._bound = whole(prices.most, self._unit)
        self._patterns = np.concatenate(program.y)
        self._rank = np.concatenate([_ranks(order.reduced_costs[y]) for y in program.y])
        self._found: Solved | None = None
        self._has_all = False

    def run(self, left_s: Callable[[], float]) -> Solved:
        for most in (*ROUNDS, self._patterns.size):
            if self._is_closed() or left_s() < LEAST_S:
                break
            needed = self._needed()
            tried = (needed & (self._rank < most)) | self._in_use()
            self._has_all = not (needed & ~tried).any()
            limit_s = left_s() * (1.0 if self._has_all else SHARE_OF_ROUND)
            solved = self._try(tried, limit_s)
            if self._has_all:
                self._bound = min(self._bound, max(solved.bound, self._reached or 0))
                if solved.values is None and solved.proven:
                    return solved
                break
            if not solved.proven:  # with more patterns it would take longer still
                break
        return self._result()

    def _try(self, tried: BoolArray, limit_s: float) -> Solved:
        out = self._patterns[~tried]
        solved = maximize(self._program, self._worth, self._start, limit_s, self._hear, out)
        better = self._reached is None or solved.objective >= self._reached
        if solved.values is not None and solved.solution is not None and better:
            self._found, self._reached = solved, solved.objective
            whole_ones = np.where(self._program.is_integer, solved.values, solved.solution)
            self._start = np.arange(self._program.n_variables), whole_ones
        return solved

    def _hear(self, incumbent: float | None, bound: float) -> bool:
        most = min(self._bound, bound) if self._has_all else self._bound
        is_enough = incumbent is not None and incumbent > self._bound - 0.5
        return self._progress(incumbent, most) or is_enough

    def _is_closed(self) -> bool:
        return self._reached is not None and self._reached >= self._bound

    def _needed(self) -> BoolArray:
        """Return which patterns a placement that is better than the incumbent may have."""
        if self._reached is None:
            return np.ones(self._patterns.size, np.bool_)
        better = self._reached / self._unit + 1.0
        costs = self._prices.reduced_costs[self._patterns]
        needed: BoolArray = costs >= better - self._prices.most - EXACT
        return needed

    def _in_use(self) -> BoolArray:
        """Return which patterns the incumbent has."""
        used = np.zeros(self._program.n_variables, np.bool_)
        if self._start is not None:
            at, values = self._start
            used[at[values > 0.5]] = True
        in_use: BoolArray = used[self._patterns]
        return in_use

    def _result(self) -> Solved:
        found, bound = self._found, self._bound
        if found is None or found.values is None:
            proven = self._reached is not None and self._reached >= bound
            return Solved(None, None, 0, bound, proven)
        bound = max(bound, found.objective)
        return Solved(
            found.values, found.solution, found.objective, bound, found.objective >= bound
        )


def _ranks(costs: Floats) -> IntArray:
    ranks = np.empty(costs.size, np.int64)
    ranks[np.argsort(-costs, kind="stable")] = np.arange(costs.size)
    return ranks
