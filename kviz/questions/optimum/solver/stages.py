"""One objective after another, each keeping what those before it have reached.

Each is looked for node by node for a moment, and then by groups of equal nodes: the first is quick
where much is free, the second has tight bounds where pods hardly fit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import numpy as np
import numpy.typing as npt

from kviz.questions.optimum.solver.best import Best
from kviz.questions.optimum.solver.clock import Cancelled, Clock
from kviz.questions.optimum.solver.columns import LEAST_S, maximize_by_groups
from kviz.questions.optimum.solver.filling import filled
from kviz.questions.optimum.solver.highs import Progress, Solved, maximize
from kviz.questions.optimum.solver.patterns import Patterns, counting
from kviz.questions.optimum.solver.program import (
    Program,
    ProgramOfGroups,
    program_of,
    program_of_groups,
)
from scheduler_core.analysis.model import Instance
from scheduler_core.analysis.model.feasibility import values_of
from scheduler_core.cluster.arrays import IntArray

ALIKE_S: Final = 2.0
"""How long to look, among placements that are as good, for the one in which most pods stay."""

SHARE_OF_STAGE: Final = 0.8
"""How much of the time that is left a number of pods may take: what comes after needs some, too."""

SHARE_OF_NODES: Final = 0.15
"""How much of a stage is spent node by node, where there are groups."""

SHARE_OF_PATTERNS: Final = 0.4
"""How much of what is left of a stage may go by until it is known what fits on a node together."""

Worth = Callable[[Program], list[float]]

Sought = Literal["pods", "worth"]
"""What a stage is after. To one that counts pods more nodes are equal: worths are no matter."""


class Stages:
    """The placement found so far, `counts` (C, N), and the search for a better one.

    `fixed` (C, N) stay where they are; `within` is what nothing is better than, as long as all
    stages so far have come up to it.
    """

    def __init__(
        self,
        instance: Instance,
        fixed: IntArray,
        clock: Clock,
        begin: IntArray | None,
        within: Best | None,
    ) -> None:
        self._instance = instance
        self._fixed = fixed
        self._clock = clock
        self._within = within
        self._program = program_of(instance, fixed)
        self._patterns: Patterns = {}
        self._groups: dict[Sought, ProgramOfGroups] = {}
        self._may_group = True
        self._kept: dict[int, int] = {}
        self._proven: set[int] = set()
        self.counts = begin
        self.is_infeasible = False
        self._whole: tuple[IntArray, npt.NDArray[np.float64]] | None = None

    # ------------------------------------------------------------ the objectives

    def most_placed(self, level: int) -> int:
        """Place as many pods of a priority as can be; return what nobody can exceed."""

        def worth_of(program: Program) -> list[float]:
            worth = np.zeros(program.n_variables)
            worth[self._of_level(program, level)] = 1.0
            return [float(each) for each in worth]

        ceiling = self._ceiling(worth_of)
        if self._within is not None:
            ceiling = min(ceiling, self._within.bound_placed[level])
        reached = self._placed(level)
        if reached is None or reached < ceiling:
            limit_s = SHARE_OF_STAGE * self._clock.left_s
            objective = f"placed at priority {level}"
            ceiling = self._search(
                "pods", objective, worth_of, ceiling, limit_s, lambda: self._placed(level)
            )
            self._fill()
        reached = self._placed(level)
        if reached is None:
            return ceiling
        if self._within is not None and reached < self._within.bound_placed[level]:
            self._within = None
        self._kept[level] = reached
        if reached >= ceiling:
            self._proven.add(level)
        for program in (self._program, *self._groups.values()):
            self._keep(program, level)
        return max(ceiling, reached)

    def most_valuable(self) -> int:
        """Find the most valuable of these placements; return what nobody can exceed."""

        def worth_of(program: Program) -> list[float]:
            return program.worth

        ceiling = self._ceiling(worth_of)
        if self._within is not None and self._within.bound_value is not None:
            ceiling = min(ceiling, self._within.bound_value)
        value = self._value()
        if value is not None and value >= ceiling:
            return value
        left_s = self._clock.left_s
        return self._search("worth", "value", worth_of, ceiling, left_s, self._value)

    def most_alike(self, value: int, own: IntArray) -> None:
        """Of the placements of that value, find one in which as many pods as can be stay."""
        # Which node of a group a pod is on matters here.
        program = self._program
        program.at_least([(i, each) for i, each in enumerate(program.worth) if each], value - 0.5)
        stay = []
        for at, most in zip(*program.values_of(own), strict=True):
            if most:
                stay.append(program.variable(float(most)))
                program.at_most([(stay[-1], 1.0), (int(at), -1.0)], 0.0)
        worth = np.zeros(program.n_variables)
        worth[stay] = 1.0
        limit_s = min(self._clock.left_s, ALIKE_S)
        self._node_by_node("pods that stay", worth.tolist(), limit_s, None)

    def _fill(self) -> None:
        """Place who still fits: of other priorities a search may have left out anybody."""
        if self.counts is None:
            return
        counts = filled(self._instance, self.counts)
        if (counts != self.counts).any():
            self.counts, self._whole = counts, None

    def _ceiling(self, worth_of: Worth) -> int:
        worth = np.array(worth_of(self._program))
        return self._program.ceiling(worth, self._instance.sizes)

    def _placed(self, level: int) -> int | None:
        return None if self.counts is None else self._instance.placed(self.counts)[level]

    def _value(self) -> int | None:
        if self.counts is None:
            return None
        return int(values_of(self._instance, self.counts[np.newaxis])[0])

    def _of_level(self, program: Program, level: int) -> list[int]:
        counts_of_level = program.x[self._instance.priority == level]
        numbers: list[int] = counts_of_level[counts_of_level >= 0].tolist()
        return numbers

    def _keep(self, program: Program, level: int) -> None:
        terms = [(each, 1.0) for each in self._of_level(program, level)]
        n = float(self._kept[level])
        program.rows.append((n, n if level in self._proven else np.inf, terms))

    # ------------------------------------------------------------ two ways to search

    def _search(
        self,
        sought: Sought,
        objective: str,
        worth_of: Worth,
        ceiling: int,
        limit_s: float,
        reached: Callable[[], int | None],
    ) -> int:
        """Look for the highest sum; return what nobody can exceed, `ceiling` at the most."""
        end_s = self._clock.left_s - limit_s

        def left_s() -> float:
            return max(self._clock.left_s - end_s, 0.0)

        worth = worth_of(self._program)
        share = SHARE_OF_NODES if self._may_group else 1.0
        solved = self._node_by_node(objective, worth, share * limit_s, ceiling)
        if solved.proven:
            return min(ceiling, solved.bound)
        ceiling = min(ceiling, solved.bound)
        now = reached()
        if (now is not None and now >= ceiling) or left_s() < LEAST_S:
            return ceiling
        groups = self._grouped(sought, left_s) if share < 1.0 else None
        if groups is not None:
            ceiling = self._by_groups(objective, groups, worth_of, now, ceiling, left_s)
            now = reached()
        if share < 1.0 and (now is None or now < ceiling) and left_s() > LEAST_S:
            solved = self._node_by_node(objective, worth, left_s(), ceiling)
            ceiling = min(ceiling, solved.bound)
        return ceiling

    def _grouped(self, sought: Sought, left_s: Callable[[], float]) -> ProgramOfGroups | None:
        enough_s = (1.0 - SHARE_OF_PATTERNS) * left_s()
        if sought not in self._groups and self._may_group:
            instance = counting(self._instance) if sought == "pods" else self._instance
            made = program_of_groups(
                instance, self._fixed, self._patterns, lambda: left_s() > enough_s
            )
            self._may_group = made is not None
            if made is not None:
                self._groups[sought] = made
                for level in self._kept:
                    self._keep(made, level)
        return self._groups.get(sought)

    def _by_groups(
        self,
        objective: str,
        groups: ProgramOfGroups,
        worth_of: Worth,
        reached: int | None,
        ceiling: int,
        left_s: Callable[[], float],
    ) -> int:
        hear, cancelled = self._hearing(objective, ceiling)
        begin = None
        if self.counts is not None and reached is not None:
            at, values = groups.values_of(self.counts)
            begin = (at, values.astype(np.float64)), reached
        solved = maximize_by_groups(groups, worth_of(groups), begin, left_s, hear)
        if cancelled:
            raise cancelled[0]
        if solved is None:
            return ceiling
        self._take(groups, solved)
        if solved.values is not None:
            self._whole = None
        return min(ceiling, solved.bound)

    def _node_by_node(
        self, objective: str, worth: list[float], limit_s: float, ceiling: int | None
    ) -> Solved:
        hear, cancelled = self._hearing(objective, ceiling)
        solved = maximize(self._program, worth, self._start(), limit_s, hear)
        if cancelled:
            raise cancelled[0]
        self._take(self._program, solved)
        if solved.values is not None and solved.solution is not None:
            at = np.arange(self._program.n_variables)
            self._whole = at, np.where(self._program.is_integer, solved.values, solved.solution)
        return solved

    def _take(self, program: Program, solved: Solved) -> None:
        self.is_infeasible = self.counts is None and solved.values is None and solved.proven
        if solved.values is not None:
            self.counts = program.counts_of(solved.values)

    def _hearing(self, objective: str, ceiling: int | None) -> tuple[Progress, list[Cancelled]]:
        cancelled: list[Cancelled] = []

        def hear(incumbent: float | None, bound: float) -> bool:
            most = int(bound) if abs(bound) < 2**53 else ceiling
            if most is not None and ceiling is not None:
                most = min(most, ceiling)
            try:
                found = None if incumbent is None else round(incumbent)
                self._clock.report(objective, found, most)
            except Cancelled as error:
                cancelled.append(error)
            return bool(cancelled)

        return hear, cancelled

    def _start(self) -> tuple[IntArray, npt.NDArray[np.float64]] | None:
        if self._whole is not None:
            return self._whole
        if self.counts is None:
            return None
        at, values = self._program.values_of(self.counts)
        return at, values.astype(np.float64)
