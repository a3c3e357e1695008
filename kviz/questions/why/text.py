"""An explanation as a document for scripts, and in words for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from kviz.questions.why.answer import (
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
from kviz.questions.why.node_text import node_lines
from kviz.reference.events import event_text
from scheduler_core.amounts import amounts_text
from scheduler_core.analysis.advice.bugs import bugs_documents
from scheduler_core.api.counting import counted
from scheduler_core.config import FeatureGates
from scheduler_core.devices.survey import DeviceAnswer, DeviceSurvey, survey_document
from scheduler_core.evidence.cycle import NodeEvidence
from scheduler_core.evidence.document import (
    free_room_document,
    lead_document,
    node_document,
    requests_document,
)
from scheduler_core.framework.events import ClusterEvent
from scheduler_core.trace.nominated import Nominated, Nominee, nominated_document
from scheduler_core.trace.tables import FIT
from scheduler_core.trace.why import Cause, FunnelStep, NearMiss, why_document
from scheduler_core.wording import some_of

SHOWN: Final = 5
"""Nodes, candidates and victims listed by name."""

# ---------------------------------------------------------------- for scripts


def as_json(explanation: Explanation) -> dict[str, object]:
    """Return what `kviz explain --format json` prints. Cpu is in milli, memory in bytes."""
    wakes = explanation.wakes or {}
    return {
        "pod": explanation.pod,
        "status": explanation.status,
        "lead": lead_document(explanation.lead) if explanation.lead is not None else None,
        "bugs": bugs_documents(explanation.bugs),
        "freeRoom": free_room_document(explanation.free_room) if explanation.free_room else None,
        "requests": requests_document(explanation.requests),
        "evidence": {name: node_document(each) for name, each in explanation.nodes.items()},
        "verdict": verdict(explanation),
        "message": explanation.message,
        "priority": explanation.priority,
        "node": explanation.node,
        "nominatedNodeName": explanation.nominated_node,
        "devices": {claim: list(names) for claim, names in explanation.devices.items()},
        "deviceSurvey": survey_document(explanation.survey),
        "heldBy": explanation.held_by,
        "schedulingGates": list(explanation.gates),
        "nodes": explanation.why.n_nodes,
        "examined": explanation.why.n_examined,
        "feasible": explanation.why.n_feasible,
        "held": explanation.why.n_held,
        "ahead": explanation.n_ahead,
        "funnel": [_step_json(step) for step in explanation.why.funnel],
        "nearest": [_miss_json(miss, explanation.taints) for miss in explanation.why.nearest],
        "why": why_document(explanation.why),
        "preemption": _preemption_json(explanation.preemption) if explanation.preemption else None,
        "waitsFor": {plugin: [event.label for event in events] for plugin, events in wakes.items()},
        "notModelled": list(explanation.not_modelled),
        "incomplete": [each.document for each in explanation.absent],
        "cluster_says": explanation.cluster_says.document if explanation.cluster_says else None,
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
                "nominated": shortage.nominated,
                "short": shortage.short,
            }
            for shortage in miss.shortages
        ],
        "nominated": nominated_document(miss.nominated) if miss.nominated else None,
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
            {
                "pod": victim.pod,
                "priority": victim.priority,
                "violatesPdb": victim.violates_pdb,
                "budgets": list(victim.budgets),
            }
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
            stays = f" {explanation.message}." if explanation.message else ""
            return f"It is being deleted, so the scheduler passes it over.{stays}"
        case "otherScheduler":
            return f"It asks for scheduler {explanation.held_by}, which no profile here has."
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
    winner = explanation.preemption.winner if explanation.preemption else None
    if winner is not None:
        victims = some_of([each.pod for each in winner.victims])
        return (
            f"No node takes it as it is, of {n}; it evicts {victims} and then binds on "
            f"{winner.node}, if nothing comes between."
        )
    text = f"No node takes it, of {n}."
    if explanation.why.n_held:
        held = counted(explanation.why.n_held, "node")
        text += f" Without nominated pods, for which room is held, {held} would."
    return text


def as_text(explanation: Explanation) -> str:
    """Return the explanation as lines of plain text, the cause first."""
    return "\n".join(_lines(explanation)) + "\n"


def as_markdown(explanation: Explanation, gates: FeatureGates) -> str:
    """Return what one pastes into a ticket: the cause, the message, and what plugins rejected.

    The last line says which release and gates that holds for.
    """
    parts = [f"**{explanation.pod}** {_cause(explanation)}", ""]
    parts += [f"- this may be wrong: {text}" for text in explanation.not_modelled]
    if explanation.lead is not None:
        parts += [f"- {each}" for each in [explanation.lead.in_full] if each]
        parts += [f"- also: {each}" for each in explanation.lead.also]
        parts += [f"- {each}" for each in explanation.lead.elsewhere]
    parts += [f"- {each.sentence}" for each in explanation.bugs]
    if explanation.free_room is not None:
        parts.append(f"- {explanation.free_room.sentence}")
    if explanation.message:
        parts += [f"> {explanation.message}", ""]
    if explanation.cluster_says is not None:
        parts += [explanation.cluster_says.sentence, ""]
    if explanation.why.funnel:
        parts += ["| plugin | nodes | because |", "|---|---:|---|"]
    for step in explanation.why.funnel:
        because = "; ".join(f"{each.n_nodes} x {each.reason}" for each in step.causes)
        parts.append(f"| {step.plugin or step.point} | {step.n_rejected} | {because} |")
    if explanation.why.nearest:
        parts += ["", "Nearest misses:", ""]
    for miss in explanation.why.nearest[:SHOWN]:
        missing = "; ".join(_what_is_missing(miss, explanation.nodes))
        parts.append(f"- `{miss.node}` {missing}")
    if parts[-1]:
        parts.append("")
    return "\n".join([*parts, gates.text]) + "\n"


def _cause(explanation: Explanation) -> str:
    """Return the sentence that leads, or the answer where there is none."""
    return explanation.lead.text if explanation.lead is not None else verdict(explanation)


def _lines(explanation: Explanation) -> Iterator[str]:
    yield from _statement(explanation)
    yield from (f"It requests {each.text}." for each in explanation.requests if each.is_composed)
    yield from (f"This may be wrong: {text}" for text in explanation.not_modelled)
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
    if explanation.cluster_says is not None:
        yield from ("", explanation.cluster_says.sentence)
    if explanation.node_asked:
        yield ""
        yield from node_lines(explanation.nodes[explanation.node_asked])
    yield from _funnel(explanation)
    yield from _devices(explanation.survey)
    if explanation.status in (UNSCHEDULABLE, ERROR):
        yield from _nearest(explanation)
        if explanation.preemption is not None:
            yield from _preemption(explanation.preemption)
        yield from _wakes(explanation.wakes or {})


def _statement(explanation: Explanation) -> Iterator[str]:
    """Yield the cause, with what is free where only room is lacking."""
    if explanation.lead is not None:
        yield f"{explanation.pod} {explanation.lead.text}."
        yield from (f"  {each}" for each in [explanation.lead.in_full] if each)
        yield from (f"  also: {each}" for each in explanation.lead.also)
        yield from (f"  {each}" for each in explanation.lead.elsewhere)
        if explanation.status != OTHER_SCHEDULER:  # which the sentence says already
            yield verdict(explanation)
    else:
        yield f"{explanation.pod}: {verdict(explanation)}"
    yield from (each.sentence for each in explanation.bugs)
    yield from explanation.stuck if explanation.lead is not None else ()
    if explanation.free_room is not None:
        yield f"{explanation.free_room.sentence}."


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
            yield f"  {'':>6}   {cause.n_nodes} x {cause.reason}{_only_nominated(cause)}"
    yield f"  {found.n_feasible:>6} left"


def _devices(survey: DeviceSurvey) -> Iterator[str]:
    """Say what became of each device, on the nodes that have any."""
    nodes = [node for node in survey.nodes if any(node.devices.values()) or node.pools]
    if not survey.claims or not nodes:
        return
    yield from ("", "Devices, as its claims see them:")
    for node in nodes[:SHOWN]:
        yield f"  {node.node}{': ' if node.rejection else ''}{node.rejection}"
        yield from (f"    {problem}" for problem in node.pools)
        for device, answers in list(node.devices.items())[:SHOWN]:
            for answer in answers:
                yield f"    {device}  {answer.request}: {answer.text}"
                yield from _selector(answer)
        if len(node.devices) > SHOWN:
            yield f"    and {counted(len(node.devices) - SHOWN, 'more device')}"
    if len(nodes) > SHOWN:
        yield f"  and {counted(len(nodes) - SHOWN, 'more node')} with devices"


def _selector(answer: DeviceAnswer) -> Iterator[str]:
    if answer.expression:
        yield f"      {answer.expression}"
    for name, value in answer.values.items():
        yield f"      {name} is {'not set' if value is None else value}"


def _only_nominated(cause: Cause) -> str:
    if not cause.n_nominated:
        return ""
    n = "" if cause.n_nominated == cause.n_nodes else f"{cause.n_nominated} of them "
    return f" ({n}only because nominated pods count there)"


def _nearest(explanation: Explanation) -> Iterator[str]:
    misses = explanation.why.nearest
    if not misses:
        return
    yield from ("", "Nearest misses:")
    for miss in misses:
        missing = "; ".join(_what_is_missing(miss, explanation.nodes))
        yield f"  {miss.node}  {', '.join(miss.plugins)}: {missing}"


def _reasons(miss: NearMiss) -> Iterator[str]:
    """Yield the reasons of all plugins that reject the node."""
    yield from dict.fromkeys(
        (*miss.reasons, *(text for each in miss.also for text in each.reasons))
    )


def _what_is_missing(miss: NearMiss, nodes: Mapping[str, NodeEvidence]) -> Iterator[str]:
    """Yield why plugins reject a node, with the values where they are known."""
    found = nodes.get(miss.node)
    sentences = [each.sentence for each in found.rejections] if found is not None else []
    yield from sentences or _reasons(miss)
    if miss.nominated is not None:
        yield nominated_text(miss.nominated, lacks_room=miss.plugin == FIT)


def nominated_text(found: Nominated, *, lacks_room: bool) -> str:
    """Say what nominated pods do to a node: `lacks_room` where it is rejected for want of room."""
    is_one = len(found.pods) == 1
    pods = f"nominated {'pod' if is_one else 'pods'} {_nominees(found.pods)}"
    verb = "counts" if is_one else "count"
    match found.effect:
        case "rejects" if lacks_room:
            return f"room is held for {pods}"
        case "rejects":
            return f"only because {pods} {verb} there"
        case "changes":
            return f"{pods} {verb} there as well"
        case "needed":
            return f"it fits only beside {pods}, and Filter does not rely on that"


def _nominees(pods: Sequence[Nominee]) -> str:
    """Name nominated pods with what they take: `shop/a (2 cpu, 1Gi memory)`."""
    return _some([f"{each.pod} ({amounts_text(each.requests) or 'no requests'})" for each in pods])


def _preemption(preemption: Preemption) -> Iterator[str]:
    yield from ("", "Preemption:")
    if preemption.winner is None:
        yield f"  none: {preemption.why_not.rstrip('.')}"
        for reason, n in (preemption.n_by_reason or {}).items():
            yield f"    {counted(n, 'node')}: {reason}"
        return
    yield f"  would nominate it to {preemption.winner.node} and evict there"
    for victim in preemption.winner.victims:
        broken = f", breaks budget {', '.join(victim.budgets)}" if victim.budgets else ""
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
        yield f"  {plugin}: {', '.join(event_text(event.label) for event in events)}"


def _some(names: Sequence[str]) -> str:
    if len(names) <= SHOWN:
        return ", ".join(names)
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"
