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
    TERMINATING,
    UNSCHEDULABLE,
    Candidate,
    Explanation,
    Preemption,
)
from scheduler_core.api.findings import counted, some_of
from scheduler_core.api.quantity import amount_text
from scheduler_core.framework.events import ActionType, ClusterEvent, EventResource
from scheduler_core.trace.shortages import Shortage, shortage_reason
from scheduler_core.trace.why import FunnelStep, NearMiss, why_document

SHOWN: Final = 5
"""Nodes, candidates and victims listed by name."""

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
        "devices": {claim: list(names) for claim, names in explanation.devices.items()},
        "heldBy": explanation.held_by,
        "schedulingGates": list(explanation.gates),
        "nodes": explanation.why.n_nodes,
        "examined": explanation.why.n_examined,
        "feasible": explanation.why.n_feasible,
        "ahead": explanation.n_ahead,
        "funnel": [_step_json(step) for step in explanation.why.funnel],
        "nearest": [_miss_json(miss, explanation.taints) for miss in explanation.why.nearest],
        "why": why_document(explanation.why),
        "preemption": _preemption_json(explanation.preemption) if explanation.preemption else None,
        "waitsFor": {plugin: [event.label for event in events] for plugin, events in wakes.items()},
    }


def _step_json(step: FunnelStep) -> dict[str, object]:
    return {
        "plugin": step.plugin,
        "rejected": len(step.nodes),
        "unresolvable": step.n_unresolvable,
        "left": step.n_left,
        "reasons": {cause.reason: cause.n_nodes for cause in step.causes},
        "nodes": list(step.nodes),
    }


def _miss_json(miss: NearMiss, taints: Mapping[str, Sequence[str]]) -> dict[str, object]:
    return {
        "node": miss.node,
        "plugins": list(miss.plugins),
        "reasons": list(_reasons(miss)),
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
        "taints": list(taints.get(miss.node, ())),
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
    node, n = explanation.node, explanation.why.n_nodes
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
                f"It can be scheduled now: {explanation.why.n_feasible} of {n} nodes would do, "
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
    for claim, devices in explanation.devices.items():
        yield f"For claim {claim} it would get {', '.join(devices)}."
    if explanation.n_ahead:
        yield (
            f"{counted(explanation.n_ahead, 'pending pod')} of higher priority would be tried "
            "first and may take the room."
        )
    if explanation.message:
        yield from ("", "The scheduler says:", f"  {explanation.message}")
    yield from _funnel(explanation)
    if explanation.status in (UNSCHEDULABLE, ERROR):
        yield from _nearest(explanation)
        if explanation.preemption is not None:
            yield from _preemption(explanation.preemption)
        yield from _wakes(explanation.wakes or {})


def _funnel(explanation: Explanation) -> Iterator[str]:
    found = explanation.why
    if not found.funnel:
        return
    yield from ("", "Which plugin rejects them (each node counts for the first that does):")
    yield f"  {found.n_nodes:>6} nodes"
    n_left = found.n_nodes
    for step in found.funnel:
        if step.point == "Filter" and n_left > step.n_left + step.n_rejected:
            n_unseen = n_left - step.n_left - step.n_rejected
            yield f"  {-n_unseen:>6} {'not examined':<32} enough others were found"
        n_left = step.n_left
        yield f"  {-step.n_rejected:>6} {step.plugin or step.point:<32} {_some(step.nodes)}"
        for cause in step.causes:
            yield f"  {'':>6}   {cause.n_nodes} x {cause.reason}"
    yield f"  {found.n_feasible:>6} left"


def _nearest(explanation: Explanation) -> Iterator[str]:
    misses = explanation.why.nearest
    if not misses:
        return
    yield from ("", "Nearest misses:")
    for miss in misses:
        missing = "; ".join(_what_is_missing(miss, explanation.taints.get(miss.node, ())))
        yield f"  {miss.node}  {', '.join(miss.plugins)}: {missing}"


def _reasons(miss: NearMiss) -> Iterator[str]:
    """Yield the reasons of all plugins that reject the node."""
    yield from dict.fromkeys(
        (*miss.reasons, *(text for each in miss.also for text in each.reasons))
    )


def _what_is_missing(miss: NearMiss, taints: Sequence[str]) -> Iterator[str]:
    short = {shortage_reason(shortage): shortage for shortage in miss.shortages}
    for reason in _reasons(miss):
        if reason in short:
            yield _shortage(short.pop(reason))
        elif taints and reason.startswith("node(s) had untolerated taint"):
            yield f"taint {', '.join(taints)} is not tolerated"
        else:
            yield reason
    yield from map(_shortage, short.values())


def _shortage(shortage: Shortage) -> str:
    if not shortage.allocatable:
        amount = amount_text(shortage.resource, shortage.requested)
        return f"asks for {amount} {shortage.resource}, the node has none"
    requested, free, allocatable, short = (
        amount_text(shortage.resource, amount)
        for amount in (shortage.requested, shortage.free, shortage.allocatable, shortage.short)
    )
    text = f"{short} {shortage.resource} short (asks for {requested}, {free} of {allocatable} free"
    if shortage.nominated:
        reserved = amount_text(shortage.resource, shortage.nominated)
        text += f", of which {reserved} is reserved for nominated pods"
    text += ")"
    if shortage.requested > shortage.allocatable:
        text += ", too much even for the empty node"
    return text


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
