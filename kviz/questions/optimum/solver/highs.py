"""Solves programs with HiGHS, one objective at a time; the only module that knows the library."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import highspy
import numpy as np
import numpy.typing as npt

from kviz.questions.optimum.solver.program import Program

Floats = npt.NDArray[np.float64]

EXACT = 1e-6
"""How far a solution may be off whole numbers."""

Progress = Callable[[float | None, float], bool]
"""Hears the value of the incumbent (None if there is none) and the bound; True ends the search."""


@dataclass(frozen=True, eq=False)
class Solved:
    """What one objective came to: whole `values`, None without an incumbent.

    `objective` is theirs, `bound` what nobody can exceed; `proven` if they are the same.
    """

    values: npt.NDArray[np.int64] | None
    solution: Floats | None
    objective: int
    bound: int
    proven: bool


def maximize(
    program: Program,
    worth: Sequence[float],
    start: tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]] | None,
    time_limit_s: float,
    progress: Progress = lambda incumbent, bound: False,
    left_out: npt.NDArray[np.int64] | None = None,
) -> Solved:
    """Find values of the variables with the highest sum of `worth`, which is a whole number.

    `start` are variables and values to begin with, some or all; those `left_out` are 0.
    """
    unit = unit_of(worth)
    solver = _loaded(program, [each / unit for each in worth], time_limit_s)
    if left_out is not None:
        none = np.zeros(left_out.size)
        solver.changeColsBounds(left_out.size, left_out.astype(np.int32), none, none)
    if start is not None:
        at, begin = start
        solver.setSolution(len(at), at.astype(np.int32), begin)
    solver.cbMipInterrupt.subscribe(_heard(progress, unit))
    solver.run()
    info = solver.getInfo()
    bound = float(info.mip_dual_bound)
    status = solver.getModelStatus()
    optimal = status == highspy.HighsModelStatus.kOptimal
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        infeasible = status == highspy.HighsModelStatus.kInfeasible
        highest = sum(
            max(each, 0.0) * most for each, most in zip(worth, program.upper, strict=True)
        )
        return Solved(None, None, 0, min(whole(bound, unit), round(highest)), infeasible)
    solution = np.array(solver.getSolution().col_value, np.float64)
    values = np.rint(solution).astype(np.int64)
    objective = round(float(info.objective_function_value)) * unit
    most = objective if optimal else max(objective, whole(bound, unit))
    return Solved(values, solution, objective, most, optimal or most == objective)


@dataclass(frozen=True, eq=False)
class Relaxed:
    """The best of values that need not be whole: `most`, and the reduced cost of each variable.

    A placement in which a variable is 1 higher than it has to be is worth `most` plus its reduced
    cost at the most; reduced costs are 0 or below. Both in the unit that was asked for.
    """

    most: float
    reduced_costs: Floats


def relaxed(
    program: Program, worth: Sequence[float], time_limit_s: float, unit: int
) -> Relaxed | None:
    """Solve a program as though pods could be divided; None if time ran out."""
    solver = _loaded(program, [each / unit for each in worth], time_limit_s)
    solver.setOptionValue("solve_relaxation", True)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    costs = np.array(solver.getSolution().col_dual, np.float64)
    return Relaxed(float(solver.getInfo().objective_function_value), costs)


def unit_of(worth: Sequence[float]) -> int:
    """Return the largest number that divides every worth: sums are multiples of it, too."""
    return math.gcd(*(round(each) for each in worth)) or 1


def whole(bound: float, unit: int) -> int:
    """Return the highest sum of worths that a bound in units leaves."""
    return math.floor(bound + EXACT) * unit if math.isfinite(bound) else 2**53


def _loaded(program: Program, worth: Sequence[float], time_limit_s: float) -> highspy.Highs:
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", max(time_limit_s, 0.01))
    solver.setOptionValue("mip_rel_gap", 0.0)
    solver.setOptionValue("mip_abs_gap", 0.5)
    solver.setOptionValue("threads", 1)
    n = program.n_variables
    solver.addVars(n, np.array(program.lower), np.array(program.upper))
    whole = np.flatnonzero(program.is_integer).astype(np.int32)
    solver.changeColsIntegrality(
        whole.size, whole, np.array([highspy.HighsVarType.kInteger] * whole.size)
    )
    solver.changeColsCost(n, np.arange(n, dtype=np.int32), np.array(worth, np.float64))
    solver.changeObjectiveSense(highspy.ObjSense.kMaximize)
    for lower, upper, terms in program.rows:
        at = np.array([each for each, _ in terms], np.int32)
        solver.addRow(lower, upper, at.size, at, np.array([value for _, value in terms]))
    return solver


def _heard(progress: Progress, unit: int) -> Callable[[highspy.HighsCallbackEvent], None]:
    def hear(event: highspy.HighsCallbackEvent) -> None:
        primal = float(event.data_out.mip_primal_bound) * unit
        incumbent = primal if math.isfinite(primal) else None
        if progress(incumbent, float(event.data_out.mip_dual_bound) * unit):
            event.interrupt()

    return hear
