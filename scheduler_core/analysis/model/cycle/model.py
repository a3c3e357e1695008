"""The formal model of one cycle: what the scheduler did, as sets and predicates with their values.

It is computed from the cycle as it was re-enacted, and held against what the trace says of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from scheduler_core.analysis.model.cycle.conjuncts import Feasibility, feasibility
from scheduler_core.analysis.model.cycle.decided import Decided
from scheduler_core.analysis.model.cycle.partings import Found, Parting, partings
from scheduler_core.analysis.model.cycle.preempting import Preemption, preemption
from scheduler_core.analysis.model.cycle.sets import (
    ClusterSets,
    PlacementSets,
    cluster_sets,
    placement_sets,
)
from scheduler_core.analysis.model.cycle.viability import Viability, viability
from scheduler_core.config import ExtensionPoint
from scheduler_core.framework.status import Code
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.wording import say

Branch = Literal["Scheduling", "Preemption", "UNCHANGED"]


@dataclass(frozen=True, slots=True)
class ControlLoop:
    """The CASE with its guards; None where a guard is not known.

    The first line whose guard holds is taken: `branch` in the model, `taken` in v1.36. Where a node
    is feasible, PreemptionEnabled holds by the empty set, and does not count.
    """

    scheduling_enabled: bool | None
    preemption_enabled: bool | None
    branch: Branch | None
    taken: Branch


@dataclass(frozen=True, slots=True)
class After:
    """Objects'. With Scheduling the one field of `pod` that changes; with Preemption who leaves.

    `by_model` may be any of its members; `by_release` is what the scheduler did in the end. `note`
    says what came between, empty if nothing did.
    """

    pod: str
    model_node: str
    model_gone: tuple[str, ...]
    node: str
    gone: tuple[str, ...]
    nominated: str
    note: str


@dataclass(frozen=True, slots=True)
class CycleModel:
    """One cycle; what cannot be known is None, and `unknown` says why."""

    decided: Decided
    cluster: ClusterSets | None
    places: PlacementSets
    loop: ControlLoop
    after: After
    feasibility: Feasibility | None
    viability: Viability | None
    preemption: Preemption | None
    partings: tuple[Parting, ...]
    unknown: str


def cycle_model(cycle: ReenactedCycle, decided: Decided, node: str = "") -> CycleModel:
    """Return the model of a cycle. Raises LookupError where `node` is named and is not there.

    Without a name it is about the node that was chosen, or nominated, or else the first.
    """
    names = cycle.nodes.names
    cluster, places = cluster_sets(cycle), placement_sets(decided, names)
    evicting = None if decided.n_feasible else preemption(cycle, decided, node)
    rated = viability(cycle, node, decided.node or cycle.node)
    loop = _loop(cycle, decided, evicting)
    subject = node or decided.picked or decided.nominated or (names[0] if names else "")
    found = Found(cycle, decided, cluster, places, rated, evicting)
    return CycleModel(
        decided=decided,
        cluster=cluster,
        places=places,
        loop=loop,
        after=_after(decided, loop, places, evicting, cycle.node),
        feasibility=feasibility(cycle.evidence, subject, _filters(cycle)) if subject else None,
        viability=rated,
        preemption=evicting,
        partings=partings(found),
        unknown="",
    )


def recorded_model(decided: Decided, unknown: str) -> CycleModel:
    """Return what the trace alone tells: sets and the branch, without the values behind them."""
    loop = _loop(None, decided, None)
    places = placement_sets(decided, None)
    after = _after(decided, loop, places, None, decided.node)
    return CycleModel(decided, None, places, loop, after, None, None, None, (), unknown)


def _filters(cycle: ReenactedCycle) -> tuple[str, ...]:
    points = cycle.decision.framework.points.get(ExtensionPoint.FILTER, ())
    return tuple(plugin.name for plugin, _ in points)


def _loop(
    cycle: ReenactedCycle | None, decided: Decided, evicting: Preemption | None
) -> ControlLoop:
    scheduling: bool | None = True if decided.n_feasible else _none_feasible(cycle, decided)
    preempting: bool | None = None
    if scheduling:
        preempting = True
    elif evicting is not None:
        preempting = evicting.enabled
    elif decided.victims:
        preempting = True
    elif cycle is not None and _unresolvable(cycle):
        preempting = False
    branch: Branch | None = None
    if scheduling:
        branch = "Scheduling"
    elif scheduling is False and preempting is not None:
        branch = "Preemption" if preempting else "UNCHANGED"
    return ControlLoop(scheduling, preempting, branch, _taken(decided))


def _none_feasible(cycle: ReenactedCycle | None, decided: Decided) -> bool | None:
    """Whether no feasible node means that there is none: not after an error."""
    if decided.result not in ("unschedulable", "unknown"):
        return None
    if cycle is not None:
        return False
    return False if decided.n_examined or not decided.n_nodes else None


def _unresolvable(cycle: ReenactedCycle) -> bool:
    """Whether PreFilter rejects the pod wherever pods run, or there is no node."""
    rejects = cycle.pre_filter.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    return rejects or not cycle.nodes.n


def _taken(decided: Decided) -> Branch:
    if decided.n_feasible and decided.node:
        return "Scheduling"
    return "Preemption" if decided.victims else "UNCHANGED"


def _after(
    decided: Decided,
    loop: ControlLoop,
    places: PlacementSets,
    evicting: Preemption | None,
    picked: str,
) -> After:
    model_node = (picked or decided.node) if loop.branch == "Scheduling" else ""
    gone: tuple[str, ...] = ()
    if loop.branch == "Preemption" and evicting is not None and evicting.least:
        chosen = evicting.chosen
        same = chosen is not None and any(
            each.node == chosen.node and set(each.pods) == set(chosen.pods)
            for each in evicting.least
        )
        gone = chosen.pods if same and chosen is not None else evicting.least[0].pods
    ended = decided.result == "scheduled"
    return After(
        pod=decided.pod,
        model_node=model_node,
        model_gone=gone,
        node=decided.node if ended else "",
        gone=decided.victims,
        nominated=decided.nominated,
        note=_note(decided),
    )


def _note(decided: Decided) -> str:
    match decided.result:
        case "unschedulable" if decided.waited:
            return say(
                "model.held_then_rejected",
                "a Permit plugin holds the pod on {node} and rejects it later; the model has no "
                "such step",
                node=decided.picked,
            )
        case "unschedulable" if decided.picked:
            return say(
                "model.refused_there",
                "{node} was chosen, and a step after that rejected it; the model has no such step",
                node=decided.picked,
            )
        case "scheduled" | "unschedulable":
            return ""
        case "waiting":
            return say(
                "model.permit_holds",
                "a Permit plugin holds the pod: the field changes when it is let go",
            )
        case "unknown":
            return say(
                "model.observed_unknown",
                "a scheduler that is observed does not report what became of the pod",
            )
        case _:
            return say(
                "model.step_failed",
                "a later step failed; the model has no such step",
            )
