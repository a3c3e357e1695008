"""A cycle's model in words: the sentence that leads, and all of it as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scheduler_core.analysis.model.cycle.model import Branch, CycleModel
from scheduler_core.analysis.model.cycle.preempting import Casualty, NodeJeopardy
from scheduler_core.analysis.model.cycle.sets import MemberSet
from scheduler_core.api.counting import counted
from scheduler_core.wording import say, series

MAX_MEMBERS: Final = 60

NOT_KNOWN: Final = say("model.not_known", "not known")


def statement(model: CycleModel) -> str:
    """Return what the cycle came to in one or two sentences."""
    decided, places = model.decided, model.places
    if places.feasible.n:
        return _with_feasible(model, _feasible(model))
    n = places.possible.n
    if model.loop.scheduling_enabled is None:
        return say(
            "model.feasible_unknown", "It is not known which of {n} nodes are feasible.", n=n
        )
    none = (
        say("model.only_node_infeasible", "The only node is not feasible")
        if n == 1
        else say("model.none_feasible", "None of {n} nodes is feasible", n=n)
    )
    if not decided.victims:
        return say("model.and_more", "{what}. {more}", what=none, more=_unchanged(model))
    gone, pod, node = series(decided.victims), decided.pod, decided.nominated
    if len(decided.victims) == 1:
        return say(
            "model.nominated_evicts_one",
            "{what}. {pod} is nominated to {node}; the victim is {gone}.",
            what=none,
            pod=pod,
            node=node,
            gone=gone,
        )
    return say(
        "model.nominated_evicts",
        "{what}. {pod} is nominated to {node}; the victims are {gone}.",
        what=none,
        pod=pod,
        node=node,
        gone=gone,
    )


def _feasible(model: CycleModel) -> str:
    """Return how many nodes are feasible, and viable where that was evaluated."""
    places = model.places
    n, of = places.feasible.n, places.possible.n
    if places.feasible.at_least and n == 1:
        text = say("model.feasible_at_least_one", "At least 1 of {of} nodes is feasible", of=of)
    elif places.feasible.at_least:
        text = say("model.feasible_at_least", "At least {n} of {of} nodes are feasible", n=n, of=of)
    elif of == 1:
        text = say("model.feasible_only", "The only node is feasible")
    elif n == 1:
        text = say("model.feasible_one", "1 of {of} nodes is feasible", of=of)
    else:
        text = say("model.feasible", "{n} of {of} nodes are feasible", n=n, of=of)
    if not places.viability_evaluated:
        return text
    return say("model.viable", "{what}, {n} of these viable", what=text, n=places.viable.n)


def _with_feasible(model: CycleModel, what: str) -> str:
    decided = model.decided
    if decided.result == "scheduled":
        return say(
            "model.goes_to",
            "{what}. {pod} goes to {node}.",
            what=what,
            pod=decided.pod,
            node=decided.node,
        )
    if decided.waited and decided.result in ("waiting", "unschedulable"):
        return say("model.and_more", "{what}. {more}", what=what, more=_waiting(model))
    return say(
        "model.gets_no_node",
        "{what}. {pod} does not get a node: {why}.",
        what=what,
        pod=decided.pod,
        why=model.after.note or NOT_KNOWN,
    )


def _waiting(model: CycleModel) -> str:
    """Return that the pod waits on a node, as it does when its cycle ends, and what follows."""
    decided = model.decided
    if decided.result == "waiting":
        return say(
            "model.waits_on",
            "{pod} waits on {node} for Permit.",
            pod=decided.pod,
            node=decided.picked,
        )
    return say(
        "model.waits_on_then_rejected",
        "{pod} waits on {node} for Permit. Later it is rejected: the model has no such step.",
        pod=decided.pod,
        node=decided.picked,
    )


def _unchanged(model: CycleModel) -> str:
    preemption = model.preemption
    enabled = model.loop.preemption_enabled
    if enabled and preemption is not None:
        n = len(preemption.preemptable)
        if n == 1:
            return say(
                "model.evicting_on_one",
                "Evicting pods would make room on one node; the scheduler leaves everything as it "
                "is.",
            )
        return say(
            "model.evicting_on_some",
            "Evicting pods would make room on {n} nodes; the scheduler leaves everything as it is.",
            n=n,
        )
    if enabled is False:
        return say(
            "model.evicting_no_room", "Evicting makes no room either: everything stays as it is."
        )
    return say("model.left_as_is", "The scheduler leaves everything as it is.")


def _count(found: MemberSet) -> str:
    return f"at least {found.n}" if found.at_least else str(found.n)


def guard_text(value: bool | None) -> str:
    return NOT_KNOWN if value is None else "TRUE" if value else "FALSE"


def model_text(model: CycleModel) -> str:
    """Return the model as text, one value a line."""
    return "\n".join(_lines(model)) + "\n"


def _lines(model: CycleModel) -> Iterator[str]:
    decided = model.decided
    yield f"Cycle {decided.cycle}, {decided.pod}"
    if decided.release_text:
        yield f"Kubernetes v{decided.release_text}"
    yield statement(model)
    if model.unknown:
        yield f"Not known here: {model.unknown}"
    yield ""
    yield from _sets(model)
    yield ""
    yield from _loop(model)
    yield from _feasibility(model)
    yield from _viability(model)
    yield ""
    yield from after_lines(model)
    yield from _preemption(model)
    yield from _partings(model)


def _sets(model: CycleModel) -> Iterator[str]:
    cluster, places = model.cluster, model.places
    if cluster is not None:
        objects = ", ".join(f"{n} {kind}" for kind, n in cluster.objects.items())
        yield f"Objects: {objects}"
        yield f"Unbound = {_members(cluster.unbound)}"
        yield f"of highest priority, {cluster.highest_priority:,}: {_members(cluster.highest)}"
        yield f"Pod = {cluster.popped}, priority {cluster.popped_priority:,}"
    yield f"Possible = {_members(places.possible)}"
    yield f"Feasible = {_members(places.feasible)}"
    if places.viability_evaluated:
        yield f"Viable = {_members(places.viable)}"
    elif places.feasible.n == 1:
        yield f"Viable = {_members(places.feasible)}: one node is feasible, Viability not evaluated"
    yield f"chosen: {places.chosen or 'none'}"


def _members(found: MemberSet) -> str:
    if not found.members:
        return f"{_count(found)} members" if found.n else "{}"
    shown = ", ".join(found.members[:MAX_MEMBERS])
    if found.n <= MAX_MEMBERS:
        return f"{{{shown}}}, {_count(found)}"
    return f"{{{shown}, ...}}, showing {MAX_MEMBERS} of {_count(found)}"


def _loop(model: CycleModel) -> Iterator[str]:
    loop = model.loop
    scheduling, preempting = map(guard_text, (loop.scheduling_enabled, loop.preemption_enabled))
    lines: Sequence[tuple[str, str, Branch]] = (
        (f"SchedulingEnabled(Pod): {scheduling}", "Scheduling(Pod)", "Scheduling"),
        (f"PreemptionEnabled(Pod): {preempting}", "Preemption(Pod)", "Preemption"),
        ("OTHER", "UNCHANGED(Objects)", "UNCHANGED"),
    )
    for guard, action, branch in lines:
        marks = "  <- the model" if loop.branch == branch else ""
        marks += "  <- scheduler" if loop.taken == branch else ""
        yield f"{guard} -> {action}{marks}"


def _feasibility(model: CycleModel) -> Iterator[str]:
    found = model.feasibility
    if found is None:
        return
    yield ""
    yield f"Feasibility(Pod, {found.node}, Objects) = {guard_text(found.holds)}"
    for each in found.conjuncts:
        number = f" ({each.classic})" if each.classic else ""
        yield f"  /\\ {each.plugin}{number}: {guard_text(each.holds)}"
        yield from (f"       {'+' if line.holds else '-'} {line.text}" for line in each.lines)


def _viability(model: CycleModel) -> Iterator[str]:
    found = model.viability
    if found is None:
        return
    yield ""
    yield f"Viability: {found.best} is the highest total of {found.n_rated}"
    if found.runner_up is not None:
        yield f"  the next lower one is {found.runner_up}"
    for each in found.nodes:
        terms = " + ".join(f"{s.weight}*{s.normalized} ({s.plugin})" for s in each.scores)
        star = "*" if each.chosen else " "
        yield f" {star} {each.node}: {terms} = {each.total}; classic {each.classic}"


def after_lines(model: CycleModel) -> Iterator[str]:
    """Yield Objects' by the model and by the scheduler, those that are known."""
    after = model.after
    if after.model_node:
        yield f'Objects\': {after.pod} spec.nodeName "" -> "{after.model_node}"'
    elif after.model_gone:
        yield f"Objects' = Objects \\ {{{', '.join(after.model_gone)}}}"
    elif model.loop.branch == "UNCHANGED":
        yield "Objects' = Objects"
    if after.note:
        yield say("model.release_note", "scheduler: {note}", note=after.note)
    elif after.gone:
        yield say(
            "model.release_evicts",
            "scheduler: evicts {gone}; status.nominatedNodeName -> {node}",
            gone=series(after.gone),
            node=after.nominated,
        )
    elif model.loop.taken != model.loop.branch:
        yield "scheduler: Objects' = Objects"


def _preemption(model: CycleModel) -> Iterator[str]:
    found = model.preemption
    if found is None:
        return
    yield ""
    yield f"Preemptable = {{{', '.join(found.preemptable[:MAX_MEMBERS])}}}"
    for node in found.nodes:
        yield f"Jeopardy(Pod, {node.node}): {len(node.jeopardy)} pods, {_tried(node)}"
        for each in node.subsets:
            if each.feasible and each.casualty is not None:
                yield f"  {{{', '.join(each.pods)}}}: {casualty_text(each.casualty)}"
        if node.missed:
            yield "  the reprieve does not find the least of these"


def _tried(node: NodeJeopardy) -> str:
    if not node.subsets:
        return f"{node.n_subsets} subsets, too many to try"
    return f"{node.n_feasible} of {node.n_subsets} subsets feasible"


def casualty_text(casualty: Casualty) -> str:
    """Return the criteria by which the scheduler compares."""
    return (
        f"{counted(casualty.pdb_violations, 'budget')} broken, "
        f"highest priority {casualty.highest_priority:,}, sum {casualty.sum_priorities:,}, "
        f"{counted(casualty.n_pods, 'pod')}"
    )


def _partings(model: CycleModel) -> Iterator[str]:
    flagged = [each for each in model.partings if each.flagged]
    if flagged:
        yield ""
        yield "Where the model and the scheduler differ in this cycle:"
        yield from (f"  {each.text}" for each in flagged)
