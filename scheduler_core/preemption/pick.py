"""Picking one candidate: criterion by criterion, until one node is left.

Upstream: v1.36 framework/preemption/preemption.go (pickOneNodeForPreemption). Upstream keeps
candidates in a map, so that the last tie falls to any of them; here it falls to the first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from scheduler_core.preemption.importance import start_time_ns
from scheduler_core.preemption.report import Criterion, DryRun
from scheduler_core.trace.records import CriterionName

BreakTie = Callable[[Sequence[str]], str]
"""Node names that no criterion parts -> the one to take."""


def first(node_names: Sequence[str]) -> str:
    return node_names[0]


def pick_one_node(
    candidates: Sequence[DryRun], now_ns: int, break_tie: BreakTie = first
) -> tuple[DryRun, list[Criterion]]:
    """Return the winner among at least one candidate, and how the others fell out."""
    left = list(candidates)
    names = tuple([candidate.node_name for candidate in left])
    criteria: list[Criterion] = []
    for name in CRITERIA:
        if len(left) == 1:
            break
        values = _values(name, left, now_ns)
        best = max(values) if name == LATEST_START else min(values)
        names_before = names
        if values.count(best) < len(left):
            left = [c for c, v in zip(left, values, strict=True) if v == best]
            names = tuple([candidate.node_name for candidate in left])
        criteria.append(Criterion(name, names_before, tuple(values), names))
    winner = break_tie(names)
    return next(candidate for candidate in left if candidate.node_name == winner), criteria


def earliest_start_ns(candidate: DryRun, now_ns: int) -> int:
    """Return the earliest start among the victims of highest priority."""
    known = candidate.earliest_start_ns
    if known is not None:
        return known
    return min(start_time_ns(victim, now_ns) for victim in candidate.most_important)


LATEST_START: Final = "latestStartTime"
_ATTRIBUTES: Final[Mapping[CriterionName, Callable[[DryRun], int]]] = {
    "pdbViolations": attrgetter("n_pdb_violations"),
    "highestPriority": attrgetter("highest_priority"),
    "sumPriorities": attrgetter("sum_of_priorities"),
    "numVictims": attrgetter("n_victims"),
}
CRITERIA: Final[tuple[CriterionName, ...]] = (*_ATTRIBUTES, LATEST_START)
"""In the order in which they decide; the least value wins, but for the latest start."""


def _values(criterion: CriterionName, candidates: Sequence[DryRun], now_ns: int) -> list[int]:
    if criterion == LATEST_START:
        return [earliest_start_ns(candidate, now_ns) for candidate in candidates]
    return list(map(_ATTRIBUTES[criterion], candidates))
