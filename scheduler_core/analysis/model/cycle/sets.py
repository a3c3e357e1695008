"""The sets of a cycle with their members: Objects, Unbound, Possible, Feasible, Viable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scheduler_core.analysis.model.cycle.decided import Decided
from scheduler_core.api import Node, Pod
from scheduler_core.sim.reenactment import ReenactedCycle


@dataclass(frozen=True, slots=True)
class MemberSet:
    """`n` members, or at least so many; in the scheduler's order."""

    n: int
    members: tuple[str, ...]
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class ClusterSets:
    """What the cycle began with. `objects` are counted by kind; `highest` is a part of `unbound`.

    `priorities` are those of the unbound pods.
    """

    objects: dict[str, int]
    unbound: MemberSet
    highest: MemberSet
    highest_priority: int
    popped: str
    popped_priority: int
    popped_is_highest: bool
    priorities: dict[str, int]


@dataclass(frozen=True, slots=True)
class PlacementSets:
    """Where the popped pod may go: each set is a part of the one before it.

    `viability_evaluated` is false where one node was feasible: it is taken without being rated.
    """

    possible: MemberSet
    feasible: MemberSet
    viable: MemberSet
    chosen: str
    viability_evaluated: bool


def members(names: Iterable[str], *, at_least: bool = False) -> MemberSet:
    found = tuple(names)
    return MemberSet(len(found), found, at_least)


def cluster_sets(cycle: ReenactedCycle) -> ClusterSets:
    """Return what the cycle began with, as the API server had it."""
    unbound = unbound_pods(cycle)
    popped = cycle.decision.pod
    highest = max((each.spec.priority or 0 for each in unbound), default=0)
    best = [each.key for each in unbound if (each.spec.priority or 0) == highest]
    return ClusterSets(
        objects=dict(sorted(Counter(item.kind for item in cycle.objects.objects()).items())),
        unbound=members(each.key for each in unbound),
        highest=members(best),
        highest_priority=highest,
        popped=popped.key,
        popped_priority=popped.priority,
        popped_is_highest=popped.key in best,
        priorities={each.key: each.spec.priority or 0 for each in unbound},
    )


def unbound_pods(cycle: ReenactedCycle) -> Sequence[Pod]:
    """Return the pods for which no node of Objects has the name in `spec.nodeName`."""
    nodes = {node.name for node in cycle.objects.all(Node)}
    return [pod for pod in cycle.objects.all(Pod) if pod.spec.node_name not in nodes]


def placement_sets(decided: Decided, nodes: Sequence[str] | None) -> PlacementSets:
    """Return where the pod may go, as the trace has it; `nodes` are all, None if not known."""
    early = decided.stopped_early
    one = decided.n_feasible == 1
    top = decided.feasible if one else decided.top
    possible = MemberSet(decided.n_nodes, tuple(nodes or ()))
    return PlacementSets(
        possible=possible,
        feasible=MemberSet(decided.n_feasible, decided.feasible, early),
        viable=MemberSet(1 if one else decided.n_tied, top, early and not one),
        chosen=decided.picked,
        viability_evaluated=decided.n_feasible > 1 and decided.n_tied > 0,
    )
