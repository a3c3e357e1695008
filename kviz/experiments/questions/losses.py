"""What survives the loss of every zone, or every node, in turn.

Before the losses the scheduler does what it can with the cluster; each of them is then run in a
copy of the process in which the settled cluster stands (`scheduler_core.advice.survival`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from kviz.experiments.questions.question import Asking, Outcome, Variant
from kviz.runs.execution.engine import cluster_of
from kviz.runs.models import Run
from scheduler_core.advice.survival import (
    Aftermath,
    Loss,
    Replicas,
    Standing,
    losses_of_nodes,
    losses_of_zones,
    standing_run,
)
from scheduler_core.sim.run import Run as SimulatedCluster

AS_IT_IS: Final = "as it is"
NAMED: Final = 20
"""So many pods, workloads and budgets an outcome names, of each kind."""


@dataclass(frozen=True)
class Lose(Variant):
    """A loss; without one the cluster is looked at as it stands."""

    loss: Loss | None = None


class Losses:
    """Loses every zone or every node of the settled cluster, each alone."""

    def __init__(self, run: Run, of: str) -> None:
        self._run = run
        self._of = of

    @cached_property
    def _settled(self) -> tuple[SimulatedCluster, Standing]:
        run = standing_run(*cluster_of(self._run))
        return run, Standing.before(run)

    def ask(self) -> Asking[Lose]:
        nodes = self._settled[1].nodes
        losses = losses_of_zones(nodes) if self._of == "zones" else losses_of_nodes(nodes)
        lost = [Lose(f"without {each.kind} {each.name}", each) for each in losses]
        outcomes = yield [Lose(AS_IT_IS), *lost]
        return totals([each.name for each in lost], outcomes[1:])

    def carry_out(self, variant: Lose) -> Outcome:
        run, standing = self._settled
        if variant.loss is None:
            return {
                "bound": sum(bool(pod.spec.node_name) for pod in standing.pods),
                "pending": len(standing.pending),
                "broken": _named([each.name for each in standing.broken]),
            }
        return outcome_of(standing.after(run, variant.loss))


def outcome_of(found: Aftermath) -> Outcome:
    """What a loss comes to: counts, the names of some, and how much it hurts."""
    homeless = [{"pod": each.pod, "message": each.message} for each in found.pending]
    hurt = [each for each in found.workloads if each.after < each.before or not each.at_once]
    return {
        "nodes": len(found.loss.nodes),
        "pods_lost": found.n_lost,
        "pending": {"n": len(homeless), "some": homeless[:NAMED]},
        "gone": _named(found.gone),
        "evicted": _named(found.evicted),
        "down_at_once": _named([each.name for each in found.down_at_once]),
        "down": _named([each.name for each in found.down]),
        "broken_at_once": _named([each.name for each in found.broken_at_once]),
        "broken": _named([each.name for each in found.broken]),
        "workloads": {"n": len(hurt), "some": [_replicas(each) for each in hurt[:NAMED]]},
        "hurt": list(found.hurt),
    }


def _named(names: Sequence[str]) -> dict[str, object]:
    return {"n": len(names), "some": list(names[:NAMED])}


def _replicas(each: Replicas) -> dict[str, object]:
    counts = {"before": each.before, "at_once": each.at_once, "after": each.after}
    return {"name": each.name, **counts}


def n_without_node(outcome: Outcome) -> int:
    """How many pods have no node after a loss, or are gone."""
    counts = (outcome.get("pending"), outcome.get("gone"))
    return sum(int(each["n"]) for each in counts if isinstance(each, dict))


def totals(names: Sequence[str], outcomes: Sequence[Outcome]) -> Outcome:
    """How many losses do no harm in the end, and which hurt, the worst first."""
    run = [(name, each) for name, each in zip(names, outcomes, strict=True) if "hurt" in each]
    harmful = [(name, each) for name, each in run if any(_hurt(each)[:3])]
    worst = sorted(harmful, key=lambda each: _hurt(each[1]), reverse=True)
    return {
        "variants": len(names),
        "harmless": len(run) - len(harmful),
        "problems": len(names) - len(run),
        "ranking": [name for name, _ in worst],
    }


def _hurt(outcome: Outcome) -> list[int]:
    found = outcome["hurt"]
    return found if isinstance(found, list) else []
