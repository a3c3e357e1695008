"""The whole answer about a run: the comparison, the regret, and both as a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from kviz.questions.optimum.comparison import Comparison, Posed, compare, pose
from kviz.questions.optimum.loss import Loss, loss_of
from kviz.questions.optimum.regret import Regret, regret_of
from kviz.questions.optimum.solver.clock import Clock, Report
from scheduler_core.analysis.model import Viability
from scheduler_core.api import KubeObject
from scheduler_core.sim import RunOptions

DEFAULT_TIME_LIMIT_S: Final = 10.0
LARGEST: Final = 10**300
"""Larger counts are null in JSON: no number there holds them."""


@dataclass(frozen=True)
class Answer:
    """What the run did beside the optimum, and which of its cycles lost it.

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
