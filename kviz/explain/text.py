"""An explanation as a document for scripts, and in words for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kviz.explain.explanation import (
    BOUND,
    ERROR,
    FINISHED,
    GATED,
    OTHER_SCHEDULER,
    SCHEDULABLE,
    TERMINATING,
    UNSCHEDULABLE,
    Candidate,
    Explanation,
    FunnelStep,
    NearMiss,
    Preemption,
    Shortage,
)
from scheduler_core.api.findings import counted, some_of
from scheduler_core.api.quantity import binary_text, milli_text
from scheduler_core.framework.events import ActionType, ClusterEvent, EventResource

SHOWN: Final = 5
"""Nodes, candidates and victims told by name."""

# ---------------------------------------------------------------- for scripts


def as_json(explanation: Explanation) -> dict[str, object]:
    """Return what `kviz explain --format json` prints. Cpu is in milli, memory in bytes."""
    wakes = explanation.wakes or {}
    return {
        "pod": explanation.pod,
        "status": explanation.status,
        "verdict": verdict(explanation),
        "message": explanation.message,
        "priority": explanation.priority,
        "node": explanation.node,
        "nominatedNodeName": explanation.nominated_node,
        "heldBy": explanation.held_by,
        "schedulingGates": list(explanation.gates),
        "nodes": explanation.n_nodes,
        "examined": explanation.n_examined,
        "feasible": explanation.n_feasible,
        "ahead": explanation.n_ahead,
        "funnel": [_step_json(step) for step in explanation.funnel],
        "nearest": [_miss_json(miss) for miss in explanation.nearest],
        "preemption": _preemption_json(explanation.preemption) if explanation.preemption else None,
        "waitsFor": {plugin: [event.label for event in events] for plugin, events in wakes.items()},
    }


def _step_json(step: FunnelStep) -> dict[str, object]:
    return {
        "plugin": step.plugin,
        "rejected": len(step.nodes),
        "unresolvable": step.n_unresolvable,
        "left": step.n_left,
        "reasons": dict(step.n_by_reason),
        "nodes": list(step.nodes),
    }


def _miss_json(miss: NearMiss) -> dict[str, object]:
    return {
        "node": miss.node,
        "plugins": list(miss.plugins),
        "reasons": list(miss.reasons),
        "shortages": [
            {
                "resource": shortage.resource,
                "requested": shortage.requested,
                "free": shortage.free,
                "allocatable": shortage.allocatable,
                "short": shortage.short,
            }
            for shortage in miss.shortages
        ],
        "taints": list(miss.taints),
    }


def _preemption_json(preemption: Preemption) -> dict[str, object]:
    return {
        "whyNot": preemption.why_not,
        "potentialNodes": preemption.n_potential,
        "winner": _candidate_json(preemption.winner) if preemption.winner else None,
        "otherCandidates": [_candidate_json(candidate) for candidate in preemption.others],
        "reasons": dict(preemption.n_by_reason or {}),
    }


def _candidate_json(candidate: Candidate) -> dict[str, object]:
    return {
        "node": candidate.node,
        "victims": [
            {"pod": victim.pod, "priority": victim.priority, "violatesPdb": victim.violates_pdb}
            for victim in candidate.victims
        ],
    }


# ---------------------------------------------------------------- for people


def verdict(explanation: Explanation) -> str:
    """Return the answer in one sentence."""
    node, n = explanation.node, explanation.n_nodes
    match explanation.status:
        case "bound":
            return f"It is not pending: it is on node {node}."
        case "finished":
            return f"It is not pending: it has ended ({explanation.message})."
        case "terminating":
            return "It is being deleted, so the scheduler passes it over."
        case "otherScheduler":
            return (
                f"It asks for the scheduler {explanation.held_by}, which is none of those "
                "configured here."
            )
        case "gated":
            gates = ", ".join(explanation.gates)
            held = f" by the gates {gates}" if gates else ""
            return f"{explanation.held_by} keeps it out of the queue{held}."
        case "schedulable":
            return (
                f"It can be scheduled now: {explanation.n_feasible} of {n} nodes would do, "
                f"and it would go to {node}."
            )
        case "error":
            return "The attempt fails with an error, and will be made again."
    return f"No node takes it, of {n}."


def as_text(explanation: Explanation) -> str:
    """Return the explanation as lines of plain text."""
    return "\n".join(_lines(explanation)) + "\n"


def _lines(explanation: Explanation) -> Iterator[str]:
    yield f"{explanation.pod}: {verdict(explanation)}"
    if explanation.status in (BOUND, FINISHED, TERMINATING, OTHER_SCHEDULER, GATED):
        return
    if explanation.nominated_node:
        yield f"An earlier preemption nominated it to node {explanation.nominated_node}."
    if explanation.n_ahead:
        yield (
            f"{counted(explanation.n_ahead, 'pending pod')} of higher priority would be tried "
            "first and may take the room."
        )
    if explanation.message:
        yield from ("", "The scheduler says:", f"  {explanation.message}")
    yield from _funnel(explanation)
    if explanation.status in (UNSCHEDULABLE, ERROR):
        yield from _nearest(explanation.nearest)
        if explanation.preemption is not None:
            yield from _preemption(explanation.preemption)
        yield from _wakes(explanation.wakes or {})


def _funnel(explanation: Explanation) -> Iterator[str]:
    if not explanation.funnel:
        return
    yield from ("", "Who turned it down (each node counts for the first plugin that does):")
    yield f"  {explanation.n_nodes:>6} nodes"
    for step in explanation.funnel:
        yield f"  {-len(step.nodes):>6} {step.plugin:<32} {_some(step.nodes)}"
        for reason, n in step.n_by_reason.items():
            yield f"  {'':>6}   {n} x {reason}"
    n_unseen = explanation.n_nodes - explanation.n_examined
    if explanation.status == SCHEDULABLE and n_unseen:
        yield f"  {-n_unseen:>6} {'not looked at':<32} enough others were found"
    yield f"  {explanation.n_feasible:>6} left"


def _nearest(misses: Sequence[NearMiss]) -> Iterator[str]:
    if not misses:
        return
    n_plugins = len(misses[0].plugins)
    if n_plugins == 0:
        heading = "Only room kept for nominated pods stands in the way on:"
    elif n_plugins == 1:
        heading = "Nearest misses (only one plugin is against them):"
    else:
        heading = f"Nearest misses (at least {n_plugins} plugins are against every node):"
    yield from ("", heading)
    for miss in misses:
        yield f"  {miss.node}  {', '.join(miss.plugins)}: {'; '.join(_what_is_missing(miss))}"


def _what_is_missing(miss: NearMiss) -> Iterator[str]:
    short = {f"Insufficient {shortage.resource}": shortage for shortage in miss.shortages}
    for reason in miss.reasons:
        if reason in short:
            yield _shortage(short[reason])
        elif miss.taints and reason.startswith("node(s) had untolerated taint"):
            yield f"taint {', '.join(miss.taints)} is not tolerated"
        else:
            yield reason


def _shortage(shortage: Shortage) -> str:
    if not shortage.allocatable:
        amount = amount_text(shortage.resource, shortage.requested)
        return f"asks for {amount} {shortage.resource}, the node has none"
    requested, free, allocatable, short = (
        amount_text(shortage.resource, amount)
        for amount in (shortage.requested, shortage.free, shortage.allocatable, shortage.short)
    )
    text = f"{short} {shortage.resource} short (asks for {requested}, {free} of {allocatable} free)"
    if shortage.requested > shortage.allocatable:
        text += ", too much even for the empty node"
    return text


def amount_text(resource: str, amount: int) -> str:
    """Return an amount as a quantity: `1500m`, `2Gi`, `4`."""
    if resource == "cpu":
        return milli_text(amount)
    is_bytes = resource in ("memory", "ephemeral-storage") or resource.startswith("hugepages-")
    return binary_text(amount) if is_bytes else str(amount)


def _preemption(preemption: Preemption) -> Iterator[str]:
    yield from ("", "Preemption:")
    if preemption.winner is None:
        yield f"  none: {preemption.why_not.rstrip('.')}"
        for reason, n in (preemption.n_by_reason or {}).items():
            yield f"    {counted(n, 'node')}: {reason}"
        return
    yield f"  would nominate it to {preemption.winner.node} and evict there"
    for victim in preemption.winner.victims:
        broken = ", against its disruption budget" if victim.violates_pdb else ""
        yield f"    {victim.pod} (priority {victim.priority}{broken})"
    for candidate in preemption.others[:SHOWN]:
        victims = some_of([victim.pod for victim in candidate.victims])
        yield f"  instead of {candidate.node}: {victims}"
    if len(preemption.others) > SHOWN:
        yield f"  or one of {len(preemption.others) - SHOWN} other nodes"


def _wakes(wakes: Mapping[str, Sequence[ClusterEvent]]) -> Iterator[str]:
    if not wakes:
        return
    yield from ("", "It is tried again when one of these happens in a way that helps:")
    for plugin, events in wakes.items():
        yield f"  {plugin}: {', '.join(_event_text(event) for event in events)}"


def _some(names: Sequence[str]) -> str:
    if len(names) <= SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"


_NOUNS: Final[Mapping[EventResource, str]] = {
    EventResource.POD: "pod",
    EventResource.ASSIGNED_POD: "placed pod",
    EventResource.UNSCHEDULABLE_POD: "pending pod",
    EventResource.NODE: "node",
    EventResource.PERSISTENT_VOLUME: "volume",
    EventResource.PERSISTENT_VOLUME_CLAIM: "volume claim",
    EventResource.CSI_NODE: "CSI node",
    EventResource.CSI_DRIVER: "CSI driver",
    EventResource.VOLUME_ATTACHMENT: "volume attachment",
    EventResource.CSI_STORAGE_CAPACITY: "storage capacity",
    EventResource.STORAGE_CLASS: "storage class",
    EventResource.RESOURCE_CLAIM: "resource claim",
    EventResource.RESOURCE_SLICE: "resource slice",
    EventResource.DEVICE_CLASS: "device class",
    EventResource.POD_GROUP: "pod group",
    EventResource.WILD_CARD: "anything",
}

_VERBS: Final[Mapping[ActionType, str]] = {
    ActionType.ADD: "added",
    ActionType.DELETE: "deleted",
    ActionType.UPDATE: "changed",
    ActionType.UPDATE_NODE_ALLOCATABLE: "with other allocatable resources",
    ActionType.UPDATE_NODE_LABEL: "relabelled",
    ActionType.UPDATE_NODE_TAINT: "with other taints",
    ActionType.UPDATE_NODE_CONDITION: "with other conditions",
    ActionType.UPDATE_NODE_ANNOTATION: "with other annotations",
    ActionType.UPDATE_NODE_DECLARED_FEATURE: "with other declared features",
    ActionType.UPDATE_POD_LABEL: "relabelled",
    ActionType.UPDATE_POD_SCALE_DOWN: "scaled down in place",
    ActionType.UPDATE_POD_TOLERATION: "with other tolerations",
    ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "without its scheduling gates",
    ActionType.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "with its resource claim",
}


def _event_text(event: ClusterEvent) -> str:
    return f"{_NOUNS[event.resource]} {_VERBS.get(event.action, 'changed')}"
