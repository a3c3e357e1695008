"""What would help a pending pod, as text and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

from kviz.command_line.tables import table
from scheduler_core.analysis.advice.answer import Answer
from scheduler_core.analysis.advice.budgets import Disruptions
from scheduler_core.analysis.advice.bugs import bugs_documents
from scheduler_core.analysis.advice.harm import Harm
from scheduler_core.analysis.advice.took_room import TookRoom
from scheduler_core.analysis.advice.unblock import PlanResult, Tried, Unblocked
from scheduler_core.api.counting import counted
from scheduler_core.changes import line_of, read_line
from scheduler_core.evidence.document import free_room_document
from scheduler_core.sim.fate import FROM_THE_START, Fate
from scheduler_core.wording import say, series, some_of

MAX_NAMED = 5
"""So many other pods are named as text; all are in the JSON."""


def as_json(found: Unblocked) -> dict[str, object]:
    """Return what `kviz unblock --json` prints; every change can be given to `--change`."""
    return {
        "pod": found.pod,
        "pods": list(found.pods),
        "bound": found.bound or None,
        "answers": [_answer_json(each) for each in found.answers],
        "verdictsOf": FROM_THE_START,
        "tried": found.n_tried,
        "complete": found.complete,
        "triedByKind": dict(found.tried),
        "plans": [
            {"sentence": each.sentence, "price": each.price, "result": each.result}
            for each in found.plans
        ],
        "freeRoom": free_room_document(found.free_room) if found.free_room else None,
        "bugs": bugs_documents(found.bugs),
        "nowhere": list(found.nowhere),
        "tookRoom": _took_room_json(found.took_room) if found.took_room else None,
    }


def _took_room_json(found: TookRoom) -> dict[str, object]:
    return {
        "sentence": took_room_sentence(found),
        "nodes": found.n_nodes,
        "earlier": found.n_earlier,
        "placements": [
            {"pod": each.pod, "cycle": each.cycle, "node": each.node} for each in found.placements
        ],
        "complete": found.complete,
    }


def _answer_json(answer: Answer) -> dict[str, object]:
    return {
        "changes": [line_of(change) for change in answer.changes],
        "title": answer.title,
        "sentence": answer.sentence,
        "verdict": fate(answer).text,
        "node": answer.node,
        "evicted": list(answer.evicted),
        "others": {
            "newly_bound": list(answer.newly_bound),
            "newly_pending": list(answer.newly_pending),
        },
        "kinds": list(answer.kinds),
        "harm": answer.harm,
        "warnings": list(answer.warnings),
        "price": answer.price,
        "helps": answer.n_helped,
        "leaving": list(answer.leaving),
        "afterwards": list(answer.afterwards),
        "podKinds": dict(answer.pod_kinds),
        "budgets": [_disruptions_json(each) for each in answer.budgets],
    }


def _disruptions_json(found: Disruptions) -> dict[str, object]:
    return {
        "budget": found.budget,
        "pods": list(found.pods),
        "allowed": found.n_allowed,
        "allows": found.are_allowed,
        "sentence": _disruptions_told(found),
    }


def _disruptions_told(found: Disruptions) -> str:
    if found.are_allowed:
        return say(
            "unblock.budget_allows", "PodDisruptionBudget {budget} allows it", budget=found.budget
        )
    if not found.n_allowed:
        return say(
            "unblock.budget_allows_none",
            "PodDisruptionBudget {budget} allows no disruption",
            budget=found.budget,
        )
    return say(
        "unblock.budget_allows_some",
        "PodDisruptionBudget {budget} allows {allowed:,} of the {n:,} disruptions",
        budget=found.budget,
        allowed=found.n_allowed,
        n=len(found.pods),
    )


def tried_json(tried: Tried) -> dict[str, object]:
    """Return what came of a plan as it is stored; `tried_of` is the inverse."""
    answer = tried.answer
    if answer is None:
        return {"has_run": tried.has_run, "answer": None}
    told = _answer_json(answer)
    return {"has_run": True, "answer": told, "base_price": answer.base_price}


def tried_of(stored: Mapping[str, Any]) -> Tried:
    """Read what came of a plan; one that could not be run is none that helps."""
    found = stored.get("answer")
    if found is None:
        return Tried(bool(stored.get("has_run", True)))
    answer = Answer(
        changes=tuple(read_line(line) for line in found["changes"]),
        sentence=found["sentence"],
        node=found["node"],
        evicted=tuple(found["evicted"]),
        newly_bound=tuple(found["others"]["newly_bound"]),
        newly_pending=tuple(found["others"]["newly_pending"]),
        price=found["price"],
        base_price=stored["base_price"],
        kinds=tuple(found.get("kinds") or stored["kinds"]),
        n_helped=found["helps"],
        leaving=tuple(found.get("leaving", ())),
        warnings=tuple(found.get("warnings", ())),
        afterwards=tuple(found.get("afterwards", ())),
        pod_kinds=found.get("podKinds", {}),
        title=found.get("title", ""),
        budgets=tuple(
            Disruptions(each["budget"], tuple(each["pods"]), each["allowed"])
            for each in found.get("budgets", ())
        ),
    )
    return Tried(True, answer)


def as_text(found: Unblocked) -> str:
    """Return the answers, harmless first, and what was tried."""
    return "\n".join(_lines(found)) + "\n"


def _lines(found: Unblocked) -> Iterator[str]:
    if found.bound:
        yield found.bound
        return
    n_more = len(found.pods) - 1
    who = found.pod
    if n_more:
        who = f"{found.pod} and {counted(n_more, 'other pod')} of its owner"
    if found.answers:
        yield f"{who} {'bind' if n_more else 'binds'}, harmless first:"
        if all(each.harm == "risk" for each in found.answers):
            yield ONLY_RISKS
    else:
        yield f"Nothing that was tried lets {who} bind"
    for number, each in enumerate(found.answers, 1):
        yield f"{number:>3}. {each.title}"
        yield f"     {each.sentence}"
        helps = f"; {each.n_helped} of {n_more + 1} bind" if n_more else ""
        cost = harm_told(each.harm, each.losing, each.pod_kinds)
        yield f"     {fate(each).text}{helps}{''.join(_felt(each))}; {cost}"
        yield from (f"     warning: {text}" for text in each.warnings)
        yield from (f"     {text}" for text in each.afterwards)
        yield from (f"     {_disruptions_told(budget)}" for budget in each.budgets)
        if (each.leaving or each.evicted) and not each.budgets:
            yield "     no PodDisruptionBudget covers who leaves"
        yield from (f"     --change '{quoted(line_of(change))}'" for change in each.changes)
    if found.answers:
        yield FROM_THE_START
    yield from ("", tried_sentence(found.n_tried, found.tried, found.complete))
    yield from chain.from_iterable(("", nowhere_sentence(each)) for each in found.nowhere)
    yield from chain.from_iterable(("", each.sentence) for each in found.bugs)
    if found.free_room is not None:
        yield from ("", f"{found.free_room.sentence}.")
    if found.took_room is not None:
        yield from ("", took_room_sentence(found.took_room))
        for placed in found.took_room.placements:
            yield f"  cycle {placed.cycle}: {placed.pod} on {placed.node}"


ONLY_RISKS: Final = say(
    "unblock.only_risks", "Nothing that was tried helps without a risk: read the warnings."
)


def harm_told(harm: Harm, losing: Sequence[str], kinds: Mapping[str, str]) -> str:
    """Say who pays for an answer; the warnings of a risk are told beside it.

    `kinds` is what some of those are called, by their names.
    """
    if losing:
        return say("unblock.others_pay", "at the cost of {pods}", pods=pods_told(losing, kinds))
    if harm == "risk":
        return say("unblock.at_a_risk", "at a risk")
    return say("unblock.nobody_pays", "no other pod is affected")


def pods_told(losing: Sequence[str], kinds: Mapping[str, str]) -> str:
    """Name some of those pods, each with its kind if that is known."""
    pods = [
        say("pod.called", "{pod} ({kind})", pod=key, kind=kinds[key]) if key in kinds else key
        for key in losing
    ]
    return some_of(pods, most=MAX_NAMED)


def nowhere_sentence(resource: str) -> str:
    """Say of a device that no node offers it."""
    return say(
        "unblock.nowhere",
        "No node offers {resource}: a node does when the device plugin for it runs there.",
        resource=resource,
    )


RESULTS: Final[Mapping[PlanResult, str]] = {
    "binds": say("unblock.it_binds", "it binds"),
    "pending": say("unblock.stays_pending", "run: it stays pending"),
    "no node": say("unblock.finds_no_node", "its last cycle finds no node with it"),
    "needless": say("unblock.less_is_answer", "less than this is an answer"),
    "swap": say("unblock.swap", "another pod of its owner has no node instead"),
    "refused": say("unblock.refused", "the cluster refuses it"),
}
"""What came of a plan, in words."""


def plans_text(found: Unblocked) -> str:
    """Return every plan that was tried, in that order, and what came of it."""
    rows = [(RESULTS[each.result], each.sentence) for each in found.plans]
    head = ("CAME TO", "PLAN")
    return "\n".join(table(head, rows, most=len(rows))) + "\n"


def quoted(line: str) -> str:
    """Return a line as it stands between the single quotes of a shell."""
    return line.replace("'", "'\\''")


def fate(answer: Answer) -> Fate:
    """Return what becomes of the pod, as the Lab says it, too."""
    return Fate(answer.node, answer.evicted)


def _felt(answer: Answer) -> Iterator[str]:
    for what, pods in (
        ("also lets bind", answer.newly_bound),
        ("leaves pending", answer.newly_pending),
    ):
        if pods:
            yield f"; {what} {some_of(pods, most=MAX_NAMED)}"


KINDS = {
    "gate": say("unblock.lift_gates", "lifting scheduling gates"),
    "tolerate": say("devices.tolerations", "tolerations"),
    "nodeTaints": say("unblock.honor_taints", "spreading over nodes whose taints it tolerates"),
    "maxSkew": say("unblock.larger_maxskew", "a larger maxSkew"),
    "minDomains": say("unblock.fewer_domains", "fewer minDomains"),
    "rollout": say("unblock.rollout", "rolling out without a surge"),
    "labelKeys": say("unblock.own_revision", "counting only pods of its own revision"),
    "sidecar": say("unblock.plain_init", "sidecars made plain init containers"),
    "wait": say("unblock.waiting_for_node", "waiting for a node to be back"),
    "ready": say("unblock.waiting_until_ready", "waiting until a node is ready"),
    "force": say("unblock.force_deleting", "force-deleting pods that are terminating"),
    "scale": say("unblock.scaling_down", "scaling down"),
    "uncordon": say("unblock.uncordoning", "uncordoning"),
    "shrink": say("unblock.smaller_requests", "smaller requests"),
    "soften": say("unblock.preferring_requires", "preferring what it requires"),
    "selector": say("unblock.dropping_node_selector", "dropping a node selector"),
    "schedule": say("unblock.another_scheduler", "another scheduler"),
    "hostPort": say("unblock.dropping_host_port", "dropping a host port"),
    "label": say("unblock.labels_nodes", "labels of nodes"),
    "untaint": say("unblock.taking_taints_off", "taking taints off"),
    "claim": say("unblock.providing_claim", "providing a claim"),
    "defaultClass": say("unblock.default_class", "a default storage class"),
    "storageClass": say("unblock.storage_class", "another or a new storage class"),
    "devices": say("unblock.asking_other_devices", "asking for other devices"),
    "deviceClass": say("unblock.missing_device_class", "a missing device class"),
    "volume": say("unblock.copying_volume", "copying a volume"),
    "sharedVolume": say("unblock.shared_volume", "shared storage"),
    "volumeLimit": say("unblock.higher_limit_volumes", "a higher limit of volumes"),
    "driver": say("unblock.installing_csi_driver", "installing a CSI driver"),
    "priority": say("unblock.higher_priority", "a higher priority"),
    "class": say("unblock.priority_class_own", "a dedicated priority class"),
    "move": say("unblock.moving_pods", "moving pods"),
    "bring": say("unblock.bringing", "starting the pod that it wants again on the node"),
    "delete": say("unblock.deleting_pods", "deleting pods"),
    "node": say("unblock.more_node", "one more node"),
}
"""What the kinds of actions are called where they are counted."""


def tried_sentence(n_tried: int, by_kind: Mapping[str, int], complete: bool) -> str:
    """Say what was tried, and whether anything cheaper may have been missed."""
    said = [
        say("unblock.counted", "{what} ({n})", what=KINDS[kind], n=n) for kind, n in by_kind.items()
    ]
    plans = (
        say("unblock.plan_one", "1 plan")
        if n_tried == 1
        else say("unblock.plans", "{n:,} plans", n=n_tried)
    )
    tried = series([plans, *said])
    if not complete:
        return say(
            "unblock.tried_not_all",
            "Tried: {tried}. The search was ended before its time; something cheaper may exist.",
            tried=tried,
        )
    return say(
        "unblock.tried_all",
        "Tried: {tried}. Nothing smaller exists among what was tried.",
        tried=tried,
    )


def took_room_sentence(found: TookRoom) -> str:
    """Say which earlier placements took the room, or that none did alone."""
    if found.placements:
        return _took(found)
    where = (
        say("unblock.node_lacks_room", "on the node that lacks only room")
        if found.n_nodes == 1
        else say("unblock.nodes_lack_room", "on the nodes that lack only room")
    )
    if found.n_earlier == 1:
        return say(
            "unblock.earlier_one_not",
            "The one earlier placement {where} did not take the room alone.",
            where=where,
        )
    placed = say("unblock.earlier_placements", "{n:,} earlier placements", n=found.n_earlier)
    if not found.complete:
        return say(
            "unblock.earlier_none_tried",
            "None that was tried of {placed} {where} took the room alone.",
            placed=placed,
            where=where,
        )
    return say(
        "unblock.earlier_none",
        "None of {placed} {where} took the room alone.",
        placed=placed,
        where=where,
    )


def _took(found: TookRoom) -> str:
    n = len(found.placements)
    if n == 1:
        text = say(
            "unblock.earlier_one_took",
            "1 earlier placement took the room: with it taken back, the last cycle finds a node.",
        )
    else:
        text = say(
            "unblock.earlier_some_took",
            "{n:,} earlier placements took the room: with any one of them taken back, the last "
            "cycle finds a node.",
            n=n,
        )
    return (
        text
        if found.complete
        else say("unblock.older_not_tried", "{what} Older ones were not tried.", what=text)
    )
