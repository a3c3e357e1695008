"""Where the model and the scheduler differ, and whether that changed the outcome of a cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np

from scheduler_core.analysis.model.cycle.decided import Decided
from scheduler_core.analysis.model.cycle.preempting import Preemption
from scheduler_core.analysis.model.cycle.sets import ClusterSets, PlacementSets
from scheduler_core.analysis.model.cycle.viability import Viability
from scheduler_core.api import Pod
from scheduler_core.api.selectors import tolerations_tolerate
from scheduler_core.cluster.columns import PODS
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.wording import say, some_of

Rule = Literal[
    "queues",
    "preemptionPolicy",
    "preferNoSchedule",
    "phase",
    "requested",
    "normalised",
    "heapRoot",
    "nominated",
    "symmetry",
    "reprieve",
]
MAX_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class Parting:
    """One difference. `flagged`: it changed the outcome of this cycle; `text` says how, or why not.

    `flagged` is None where that is not known.
    """

    rule: Rule
    difference: str
    flagged: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Found:
    """What is known of the cycle."""

    cycle: ReenactedCycle
    decided: Decided
    cluster: ClusterSets
    places: PlacementSets
    viability: Viability | None
    preemption: Preemption | None


def partings(found: Found) -> tuple[Parting, ...]:
    """Return all differences, those that changed the outcome first."""
    every = [part(found) for part in _PARTS]
    return tuple(sorted(every, key=lambda each: not each.flagged))


def _queues(found: Found) -> Parting:
    difference = say(
        "model.parting_pop",
        "The scheduler takes the head of its active queue, in the order of its queue sort; the "
        "model takes a pod of highest priority out of all of Unbound, also one that backs off, "
        "waits for an event, is gated, or is on its way to a node",
    )
    cluster = found.cluster
    if cluster.popped_is_highest:
        n = cluster.highest.n
        if n > 1:
            text = say(
                "model.one_of_highest",
                "{pod} is one of {n} of highest priority",
                pod=cluster.popped,
                n=n,
            )
        else:
            text = say(
                "model.only_highest",
                "{pod} is the only one of highest priority",
                pod=cluster.popped,
            )
        return Parting("queues", difference, False, text)
    first = cluster.highest.members[0] if cluster.highest.members else ""
    where = _where(found.cycle, first)
    text = say(
        "model.pop_differs",
        "The model would take {first} (priority {highest_priority:,}), which "
        "{where}; the scheduler took {popped} (priority {popped_priority:,})",
        first=first,
        highest_priority=cluster.highest_priority,
        where=where,
        popped=cluster.popped,
        popped_priority=cluster.popped_priority,
    )
    return Parting("queues", difference, True, text)


def _where(cycle: ReenactedCycle, key: str) -> str:
    queue = cycle.queue
    places: Sequence[tuple[str, Callable[[], Iterator[str]]]] = (
        (say("model.gated", "is gated"), lambda: (each.key for each in queue.gated_pods())),
        (say("model.backs_off", "backs off"), lambda: (each.key for each in queue.backoff_pods())),
        (
            say("model.waits_event", "waits for an event"),
            lambda: (each.key for each in queue.unschedulable_pods()),
        ),
        (say("model.queued", "is queued, too"), lambda: (each.key for each in queue.active_pods())),
        (
            say("model.in_cycle", "is in a separate cycle"),
            lambda: (each.key for each in queue.in_flight_pods()),
        ),
    )
    for words, keys in places:
        if key in keys():
            return words
    pod = cycle.objects.get(Pod, key)
    if pod is not None and pod.spec.node_name:
        return say(
            "model.bound_to_absent",
            "is bound to {node_name}, which is not there",
            node_name=pod.spec.node_name,
        )
    return say("model.not_queued", "is not in the scheduler's queue")


def _preemption_policy(found: Found) -> Parting:
    difference = say(
        "model.parting_policy",
        "The scheduler does not let a pod preempt whose preemptionPolicy is Never, or whose "
        "earlier victims are still leaving; the model has no such guard",
    )
    reason = found.decided.ineligible
    if not reason:
        return Parting(
            "preemptionPolicy", difference, False, say("model.may_preempt", "The pod may preempt")
        )
    preemption = found.preemption
    enabled = preemption.enabled if preemption is not None else None
    if enabled is False:
        text = say(
            "model.evicts_nobody_either",
            "{reason} The model evicts no pod either: no set of pods makes room",
            reason=reason,
        )
        return Parting("preemptionPolicy", difference, False, text)
    least = preemption.least[0] if preemption is not None and preemption.least else None
    text = say(
        "model.objects_unchanged", "The scheduler leaves Objects unchanged: {reason}", reason=reason
    )
    if least is not None:
        text = say(
            "model.policy_differs",
            "{what} The model evicts {pods} from {node}",
            what=text,
            pods=_set(least.pods),
            node=least.node,
        )
    return Parting("preemptionPolicy", difference, enabled, text)


def _set(pods: Sequence[str]) -> str:
    return f"{{{', '.join(pods)}}}"


def _prefer_no_schedule(found: Found) -> Parting:
    difference = say(
        "model.parting_taints",
        "To the scheduler a PreferNoSchedule taint is a lower score; to the model every taint is "
        "a filter",
    )
    soft = _softly_tainted(found.cycle, found.places.feasible.members)
    if not soft:
        text = say("model.no_soft_taint", "No feasible node has one that the pod does not tolerate")
        return Parting("preferNoSchedule", difference, False, text)
    chosen = found.places.chosen
    text = say(
        "model.soft_taint_differs",
        "{soft} would not be feasible",
        soft=some_of(soft, most=MAX_NAMED),
    )
    if chosen in soft:
        text = say(
            "model.chosen_among",
            "{what}, {chosen} that was chosen among them",
            what=text,
            chosen=chosen,
        )
    return Parting("preferNoSchedule", difference, chosen in soft, text)


def _softly_tainted(cycle: ReenactedCycle, feasible: Sequence[str]) -> list[str]:
    tolerations = cycle.decision.pod.pod.spec.tolerations
    compares = cycle.handle.features.enabled("TaintTolerationComparisonOperators")
    nodes, wanted = cycle.nodes, set(feasible)
    taints = nodes.taints
    bad = [
        any(
            taint.effect == "PreferNoSchedule"
            and not tolerations_tolerate(tolerations, taint, comparison_operators=compares)
            for taint in each
        )
        for each in taints.values
    ]
    ids = taints.ids.tolist()
    return [name for name, i in zip(nodes.names, ids, strict=True) if bad[i] and name in wanted]


def _phase(found: Found) -> Parting:
    difference = say(
        "model.parting_phase",
        "The classic model asks that a node's phase is Running; the scheduler does not read a "
        "phase",
    )
    return Parting(
        "phase",
        difference,
        False,
        say("model.no_phase", "Nodes of today have none, and kviz reads none"),
    )


def _requested(found: Found) -> Parting:
    difference = say(
        "model.parting_requested",
        "The scheduler subtracts what the pods on a node request from its allocatable; the "
        "classic model compares with allocatable alone",
    )
    only = _only_requested(found.cycle)
    if not only:
        return Parting(
            "requested",
            difference,
            False,
            say("model.requested_same", "No node was lost to what others request"),
        )
    text = say(
        "model.requested_differs",
        "By allocatable alone {only} would have room; NodeResourcesFit counts what others request",
        only=some_of(only, most=MAX_NAMED),
    )
    return Parting("requested", difference, True, text)


def _only_requested(cycle: ReenactedCycle) -> list[str]:
    """Return the nodes that were rejected for room though all of it would be enough."""
    rejected = {
        name for name, status in cycle.rejected.items() if status.plugin == "NodeResourcesFit"
    }
    if not rejected:
        return []
    nodes = cycle.nodes
    enough = nodes.allowed_pods >= 1
    for resource, amount in cycle.requests.items():
        if resource != PODS and amount:
            enough &= nodes.allocatable(resource) >= amount
    names = nodes.names
    return [names[i] for i in np.flatnonzero(enough).tolist() if names[i] in rejected]


def _normalised(found: Found) -> Parting:
    difference = say(
        "model.parting_scores",
        "The scheduler scales the scores of each plugin to 0 to 100 before it weighs and adds "
        "them; the classic Viability adds the weights of preferred terms as they are",
    )
    rated = found.viability
    if rated is None:
        return Parting(
            "normalised", difference, False, say("model.not_rated", "Nodes were not rated")
        )
    chosen = found.places.chosen
    if chosen in rated.classic_best:
        text = say(
            "model.scores_same",
            "{chosen} has the highest classic sum, too: {classic_best_sum}",
            chosen=chosen,
            classic_best_sum=rated.classic_best_sum,
        )
        return Parting("normalised", difference, False, text)
    best = rated.classic_best
    text = say(
        "model.scores_differ",
        "By the classic sum {best} would be best with "
        "{classic_best_sum}; {chosen} has the highest total",
        best=some_of(best, most=MAX_NAMED),
        classic_best_sum=rated.classic_best_sum,
        chosen=chosen,
    )
    return Parting("normalised", difference, True, text)


def _heap_root(found: Found) -> Parting:
    difference = say(
        "model.parting_tie",
        "Among equal totals the model takes some node; the scheduler takes the root of a heap of "
        "all feasible nodes",
    )
    viable = found.places.viable
    if not found.places.viability_evaluated or viable.n < 2:
        return Parting("heapRoot", difference, False, say("model.no_tie", "There was no tie"))
    text = say(
        "model.tie",
        "{n} nodes are viable: to the model any of them; the scheduler took {chosen}",
        n=viable.n,
        chosen=found.places.chosen,
    )
    return Parting("heapRoot", difference, True, text)


def _nominated(found: Found) -> Parting:
    difference = say(
        "model.parting_nominated",
        "The scheduler filters a node with nominated pods twice, with them and without; to the "
        "model a pod that is not bound takes no room",
    )
    nodes = found.decided.by_nominated
    if not nodes:
        return Parting(
            "nominated",
            difference,
            False,
            say("model.nominated_same", "No node was lost to a nominated pod"),
        )
    text = say(
        "model.nominated_differs",
        "{nodes} would be feasible if the pods nominated there did not count",
        nodes=some_of(nodes, most=MAX_NAMED),
    )
    return Parting("nominated", difference, True, text)


def _symmetry(found: Found) -> Parting:
    difference = say(
        "model.parting_anti_affinity",
        "Required anti-affinity of pods that are there keeps others out, too, in the scheduler; "
        "the model reads the terms of the popped pod only",
    )
    nodes = found.decided.by_others_anti_affinity
    if not nodes:
        text = say("model.anti_affinity_same", "No node was lost to the anti-affinity of others")
        return Parting("symmetry", difference, False, text)
    text = say(
        "model.anti_affinity_differs",
        "Pods that are there keep this one out of {nodes}",
        nodes=some_of(nodes, most=MAX_NAMED),
    )
    return Parting("symmetry", difference, True, text)


def _reprieve(found: Found) -> Parting:
    difference = say(
        "model.parting_victims",
        "The scheduler finds the pods to evict on one path, from all of lower priority down; the "
        "model looks at all sets, on all nodes",
    )
    preemption = found.preemption
    if preemption is None or preemption.chosen is None:
        return Parting(
            "reprieve", difference, False, say("model.nobody_evicted", "Nobody was evicted")
        )
    chosen = preemption.chosen
    same = any(
        each.node == chosen.node and set(each.pods) == set(chosen.pods) for each in preemption.least
    )
    if same:
        pods, node = _set(chosen.pods), chosen.node
        if preemption.complete:
            text = say(
                "model.least_casualty",
                "{pods} on {node} has the least Casualty",
                pods=pods,
                node=node,
            )
        else:
            text = say(
                "model.least_casualty_tried",
                "{pods} on {node} has the least Casualty of all sets that were tried",
                pods=pods,
                node=node,
            )
        return Parting("reprieve", difference, False, text)
    if not preemption.least:
        return Parting(
            "reprieve",
            difference,
            None,
            say("model.too_many_sets", "There are too many sets to try them"),
        )
    least = preemption.least[0]
    text = say(
        "model.victims_differ",
        "Evicting {pods} from {node} would do less harm by the scheduler's own "
        "criteria than {chosen} from {chosen_node}",
        pods=_set(least.pods),
        node=least.node,
        chosen=_set(chosen.pods),
        chosen_node=chosen.node,
    )
    return Parting("reprieve", difference, True, text)


_PARTS: Final[Sequence[Callable[[Found], Parting]]] = (
    _queues,
    _preemption_policy,
    _prefer_no_schedule,
    _phase,
    _requested,
    _normalised,
    _heap_root,
    _nominated,
    _symmetry,
    _reprieve,
)
