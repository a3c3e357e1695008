"""A run compared with the optimum: what each placed and is worth, and the cycle that lost it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kviz.questions.optimum.solver.best import Best
from kviz.questions.optimum.solver.clock import Clock
from kviz.questions.optimum.solver.search import TooLarge, best_placement
from scheduler_core.analysis.model import (
    Instance,
    RestingWorld,
    RunOutcome,
    Viability,
    build,
    moment_of,
    outcome_of_run,
)
from scheduler_core.analysis.model.check import Objection, objections
from scheduler_core.analysis.model.feasibility import values_of
from scheduler_core.analysis.model.replayed import replayed_value
from scheduler_core.api import KubeObject
from scheduler_core.sim import RunOptions
from scheduler_core.wording import say

MAX_PODS = 2_000
MAX_PAIRS = 50_000
"""Kinds of pods times the nodes they may go to: so many integers a program has at most."""


EVICTIONS = "evictions"


class CheckFailed(Exception):
    """The engine turns down a pod where the search put it: there is no result to show."""

    def __init__(self, found: Sequence[Objection]) -> None:
        super().__init__("; ".join(each.text for each in found[:3]))
        self.objections = tuple(found)


@dataclass(frozen=True)
class RunSide:
    """What the run made of the waiting pods; `value` None where it has none in the mode."""

    placement: dict[str, str]
    placed: dict[int, int]
    value: int | None


@dataclass(frozen=True, eq=False)
class Posed:
    """A problem, and what the scheduler made of it: `own` are the waiting pods it placed."""

    world: RestingWorld
    instance: Instance
    mode: Viability
    outcome: RunOutcome
    own: dict[str, str]
    options: RunOptions
    at_cycle: int = 1


@dataclass(frozen=True)
class Comparison:
    """The whole answer, of what there was when `at_cycle` began.

    `moved` are pods that are elsewhere: the run's node, the optimum's.
    """

    mode: Viability
    at_cycle: int
    n_pods: int
    n_nodes: int
    run: RunSide
    optimum: Best
    not_comparable: tuple[str, ...]

    @property
    def gap(self) -> int | None:
        """Return how much more the optimum is worth; None where the two cannot be compared."""
        if self.not_comparable or self.run.value is None:
            return None
        return self.optimum.value - self.run.value

    @property
    def is_optimal(self) -> bool:
        """Whether the run did as well."""
        return (*self.run.placed.values(), self.run.value) == self.optimum.key

    @property
    def moved(self) -> dict[str, tuple[str, str]]:
        here, there = self.run.placement, self.optimum.placement or {}
        return {
            pod: (here.get(pod, ""), there.get(pod, ""))
            for pod in dict.fromkeys((*here, *there))
            if here.get(pod) != there.get(pod)
        }


def pose(
    objects: Sequence[KubeObject],
    options: RunOptions,
    mode: Viability,
    outcome: RunOutcome | None = None,
    at_cycle: int = 1,
) -> Posed:
    """Write down the problem that a run had when a cycle began: at the first, all of it.

    Without `outcome`, run the scheduler to the end. Raises InstanceError (NoSuchCycle among them)
    and TooLarge; ConfigError and PluginFailure as a run does.
    """
    if outcome is None:
        outcome = outcome_of_run(objects, options)
    if at_cycle > 1:
        moment = moment_of(objects, options, at_cycle)
        objects, options, outcome = moment.objects, moment.options, outcome.since(at_cycle)
    world = RestingWorld(objects, options)
    if len(world.waiting) > MAX_PODS:
        raise TooLarge(
            say(
                "optimum.too_many_pods",
                "{n:,} pods wait; the optimum is for {most:,} at most",
                n=len(world.waiting),
                most=MAX_PODS,
            )
        )
    instance = build(world, mode)
    n_pairs = int(np.count_nonzero(instance.eligible))
    if n_pairs > MAX_PAIRS:
        raise TooLarge(
            say(
                "optimum.too_large",
                "{kinds:,} kinds of pods may go to {n:,} places; the optimum is for {most:,} "
                "at most",
                kinds=instance.n_classes,
                n=n_pairs,
                most=MAX_PAIRS,
            )
        )
    placement = outcome.placement
    own = {pod: placement[pod] for pod in instance.pods if pod in placement}
    own = {pod: node for pod, node in own.items() if node in instance.node_numbers}
    return Posed(world, instance, mode, outcome, own, options, at_cycle)


def compare(posed: Posed, clock: Clock) -> Comparison:
    """Find the best placement of the waiting pods, check it, and hold the run against it.

    Raises TooLarge, Cancelled and CheckFailed.
    """
    instance, world = posed.instance, posed.world
    best = best_placement(world, instance, posed.mode, posed.own, clock)
    if found := objections(world, best.placement or {}):
        raise CheckFailed(found)
    hindrances = (*instance.not_comparable, *_not_comparable(posed))
    return Comparison(
        mode=posed.mode,
        at_cycle=posed.at_cycle,
        n_pods=len(instance.pods),
        n_nodes=len(instance.nodes),
        run=_run_side(posed),
        optimum=best,
        not_comparable=tuple(dict.fromkeys(hindrances)),
    )


def _run_side(posed: Posed) -> RunSide:
    instance, own = posed.instance, posed.own
    counts = instance.counts_of(own)
    if posed.mode == "replayed":
        value = replayed_value(posed.world, own)
    else:
        value = int(values_of(instance, counts[np.newaxis])[0])
    return RunSide(own, instance.placed(counts), value)


def _not_comparable(posed: Posed) -> list[str]:
    """Name what the run did that no placement can: evict, follow a scenario, ask extenders."""
    options, outcome = posed.options, posed.outcome
    found = [f"scheduler extender {each.url_prefix}" for each in options.configuration.extenders]
    if options.scenario.steps or options.later:
        found.append("scenario: objects change during the run")
    if outcome.evicted:
        found.append(f"{EVICTIONS}: the run made room, {', '.join(outcome.evicted)} had to leave")
        return found
    # A rule may hold at a pod's turn and break later, when others come: nobody asks again.
    found += [
        f"not feasible given all others: {each.text}" for each in objections(posed.world, posed.own)
    ]
    return found
