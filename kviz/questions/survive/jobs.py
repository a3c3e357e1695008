"""What survives the loss of every zone, every node, or each of some sets of nodes, in turn.

Before the losses the scheduler does what it can with the cluster; each of them is then run in a
copy of the process in which the settled cluster stands (`scheduler_core.analysis.advice.survival`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from kviz.experiments.question import Beginning, Outcome, Running, Variant
from kviz.forking.copies import ONE
from kviz.questions.survive.text import before_json, loss_json
from scheduler_core.analysis.advice.survival import (
    Loss,
    Standing,
    chosen_loss,
    losses_of_nodes,
    losses_of_zones,
    standing_on_node,
    standing_run,
)
from scheduler_core.sim.run import Run as SimulatedCluster

AS_IT_IS: Final = "as it is"


@dataclass(frozen=True)
class Lose(Variant):
    """A loss; without one the cluster is looked at as it stands."""

    loss: Loss | None = None


class Losses:
    """Loses zones, nodes or `sets` of nodes of the settled cluster, each alone."""

    per_copy: Final = ONE

    def __init__(self, begun: Beginning, of: str, sets: Sequence[Sequence[str]]) -> None:
        self._begun = begun
        self._of = of
        self._sets = sets

    @cached_property
    def _settled(self) -> tuple[SimulatedCluster, Standing]:
        run = standing_run(*self._begun.cluster())
        return run, Standing.before(run)

    def answer(self, running: Running[Lose]) -> Outcome:
        lost = [Lose(f"without {each.kind} {each.name}", each) for each in self._losses()]
        outcomes = running.all([Lose(AS_IT_IS), *lost])
        return totals(*outcomes)

    def _losses(self) -> Sequence[Loss]:
        nodes = self._settled[1].nodes
        match self._of:
            case "zones":
                return losses_of_zones(nodes)
            case "nodes":
                return losses_of_nodes(nodes)
            case _:
                return [chosen_loss(names) for names in self._sets]

    def carry_out(self, variant: Lose) -> Outcome:
        run, standing = self._settled
        if variant.loss is None:
            bound = sum(standing_on_node(pod) for pod in standing.pods)
            return {"bound": bound, **before_json(len(standing.pending), standing.broken)}
        return loss_json(standing.after(run, variant.loss))


@dataclass(frozen=True)
class Hurt:
    """How much a loss hurts, by what `loss_json` says of it."""

    outcome: Outcome

    def n(self, name: str) -> int:
        """How many there are of something: pods, workloads or budgets."""
        found = self.outcome[name]
        return len(found) if isinstance(found, list) else 0

    @property
    def without_node(self) -> int:
        """How many pods have no node in the end, or are gone."""
        return self.n("pending") + self.n("gone")

    @property
    def in_the_end(self) -> tuple[int, ...]:
        """What is amiss in the end; the order is that of `Aftermath.hurt`."""
        return (self.n("down"), self.n("broken"), self.without_node)

    @property
    def key(self) -> tuple[object, ...]:
        """What losses are ranked by: more hurts more."""
        at_once = (self.n("down_at_once"), self.n("broken_at_once"))
        return (*self.in_the_end, *at_once, self.outcome["pods_lost"])


def totals(before: Outcome, *losses: Outcome) -> Outcome:
    """How many losses do no harm in the end, all of them by how they hurt, and how it was before.

    `ranking` and `before` are what `kviz survive` prints.
    """
    run = [Hurt(each) for each in losses if "problem" not in each]
    worst = sorted(run, key=lambda each: each.key, reverse=True)
    return {
        "variants": len(losses),
        "harmless": sum(not any(each.in_the_end) for each in run),
        "problems": len(losses) - len(run),
        "ranking": [{name: each.outcome[name] for name in ("kind", "name")} for each in worst],
        "before": {name: value for name, value in before.items() if name != "bound"},
    }
