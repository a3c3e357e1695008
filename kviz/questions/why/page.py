"""Why pages: why a pod is pending, and why a node takes it or does not."""

from __future__ import annotations

from typing import Final, cast
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from kviz.accounts.middleware import workspace_of
from kviz.common.templatetags.punctuation import full_stop
from kviz.common.wording import translated
from kviz.questions.why.near_devices import PLUGIN, near_devices
from kviz.questions.why.node_table import pair_rows, requirement_rows
from kviz.reference.then_and_now import old_words_in
from kviz.runs.asking import OF_POD, parts_of
from kviz.runs.models import Run
from kviz.runs.pages.access import run_context, run_of
from kviz.runs.reading import trace
from kviz.runs.reading.after_change import after_change
from kviz.runs.reading.decoder import Decoded, decode
from kviz.runs.reading.evidence import (
    NodeEvidenceDocument,
    PodEvidenceDocument,
    UnknownNode,
    node_evidence,
    pod_evidence_at_once,
)
from kviz.runs.reading.held_cycles import CannotReenact, is_at_hand
from kviz.runs.reading.node_groups import node_groups
from kviz.runs.reading.projection import CycleDocument, Json, StatusDocument
from kviz.runs.selectors import own_changes, parent_of, victims_of
from kviz.runs.titles import run_beside
from scheduler_core.wording import told

NODES_OFFERED: Final = 500
MAX_HEADLINE: Final = 120
STARTING: Final = (Run.Status.QUEUED, Run.Status.RUNNING)
UNBLOCKED: Final = ("pending", "gated", "not_attempted")
"""What can be asked about: pods without a node, as a run leaves them."""


@require_GET
def run_node(request: HttpRequest, run_id: UUID, cycle: int, node: str) -> HttpResponse:
    """What a cycle's pod asks and what a node has; `against` sets a second node beside it."""
    run = run_of(request, run_id)
    recorded = trace.cycle_get(run=run, cycle=cycle)
    if recorded is None:
        raise Http404(cycle)
    known = {*recorded["filter"], *recorded["feasible"]}
    against = request.GET.get("against", "").strip()
    context = run_context(request, run) | {
        "cycle": recorded,
        "node": node,
        "status": recorded["filter"].get(node),
        "is_feasible": node in recorded["feasible"],
        "against": against,
        "others": sorted(known - {node})[:NODES_OFFERED],
    }
    found, problem = _looked_at(run, recorded, node, "" if against == node else against)
    if found is None and (not problem or (known and node not in known)):
        raise Http404(node)
    context |= {"problem": problem}
    if found is not None:
        found = translated(found)
        context |= {"found": found, "rows": requirement_rows(found)}
        if found["comparison"] is not None:
            context |= {"both": found["comparison"], "pairs": pair_rows(found["comparison"])}
    return render(request, "questions/why/node.html", context)


def _looked_at(
    run: Run, recorded: CycleDocument, node: str, against: str
) -> tuple[NodeEvidenceDocument | None, str]:
    """The values of a node in a cycle, and what is wrong if they are not available."""
    try:
        return node_evidence(run=run, recorded=recorded, node=node, against=against), ""
    except UnknownNode:
        found, _problem = _looked_at(run, recorded, node, "")
        return found, _("Cycle %(n)s saw no node %(node)s.") % {
            "n": recorded["cycle"],
            "node": against,
        }
    except CannotReenact as refused:
        return None, translated(told(refused))


@require_GET
def run_why(request: HttpRequest, run_id: UUID, namespace: str, name: str) -> HttpResponse:
    """Why a pod is, or was, pending; `message` decodes another message against its last cycle."""
    run = run_of(request, run_id)
    why = trace.pod_why(run=run, namespace=namespace, name=name)
    if why is None and (run.is_over or run.is_observed):
        raise Http404(f"{namespace}/{name}")
    if why is None or (why["status"] == "not_attempted" and run.status in STARTING):
        return _coming(request, run, namespace, name)
    number = why["cycle"]
    cycle = trace.cycle_get(run=run, cycle=number) if isinstance(number, int) else None
    at_hand = cycle is not None and (is_at_hand(run, cycle) or "values" in request.GET)
    found = pod_evidence_at_once(run=run, recorded=cycle) if cycle is not None and at_hand else None
    groups = []
    if why["status"] == "pending" and cycle is not None:
        groups = found["groups"] if found is not None else node_groups(cycle, None)
        why = why | _with_values(why, found)
        why = why | (_with_devices(why, run, cycle) if at_hand else {})
    elif why["status"] == "bound" and found is not None:
        why = why | {"bugs": found["bugs"]}
    why = translated(why)
    before = run_beside(run, workspace_of(request)) if run.is_over else None
    after = after_change(run=run, before=before, pod=f"{namespace}/{name}") if before else None
    may_help = not run.is_observed and not run.is_hidden and why["status"] in UNBLOCKED
    message = request.GET.get("message", "").strip() or str(why["message"])
    context = run_context(request, run) | {
        "why": why,
        "headline": after.sentence + str(full_stop()) if after else headline(why, name),
        "after": after,
        "before": before if after else None,
        "parent": before if after else None,
        "own_changes": own_changes(run=run),
        "groups": groups,
        "values_expected": not at_hand,
        "victims": victims_of(run=run, pod=f"{namespace}/{name}"),
        "namespace": namespace,
        "name": name,
        "message": message,
        "is_other_message": message != why["message"],
        "decoded": _decoded(message, cycle),
        "old_words": old_words_in(message),
        "parts": parts_of(OF_POD, request, run, f"{namespace}/{name}") if may_help else [],
    }
    return render(request, "questions/why/page.html", context)


def _coming(request: HttpRequest, run: Run, namespace: str, name: str) -> HttpResponse:
    """The page of a pod whose run is not over; it comes by itself when it is."""
    context = run_context(request, run) | {
        "namespace": namespace,
        "name": name,
        "parent": parent_of(run=run, workspace=workspace_of(request)),
        "own_changes": own_changes(run=run),
    }
    return render(request, "questions/why/coming.html", context)


def headline(why: Json, name: str) -> str:
    """The answer in at most `MAX_HEADLINE` characters, with the values that decide."""
    lead = cast("dict[str, str] | None", why.get("lead"))
    match why["status"]:
        case "bound":
            return _("%(name)s runs on %(node)s.") % {"name": name, "node": why["node"]}
        case "deleted":
            return _("What happened to %(name)s") % {"name": name}
        case "unknown":
            return name
        case _ if lead is None:
            return _("Why %(name)s is pending") % {"name": name}
    short = lead.get("headline") or lead["sentence"]
    for text in (f"{name} {lead['text']}", lead["text"], f"{name} {short}", short):
        if len(text) < MAX_HEADLINE:
            starts = text if text.startswith(name) else f"{text[:1].upper()}{text[1:]}"
            return f"{starts}{full_stop()}"
    return f"{short[: MAX_HEADLINE - 1]}…"


def _with_values(why: Json, found: PodEvidenceDocument | None) -> Json:
    """The sentence that leads, unless it is stored, what is free, and the nearest misses."""
    if found is None:
        return {}
    nodes = [each["node"] for each in found["nearest"]]
    sentences = {each["node"]: each["sentences"] for each in found["nearest"]}
    nearest = sorted(
        (
            near | {"sentences": sentences.get(str(near["node"]), [])}
            for near in cast("list[Json]", why["nearest"])
        ),
        key=lambda near: nodes.index(str(near["node"])) if near["node"] in nodes else len(nodes),
    )
    return {
        "lead": why["lead"] or found["lead"],
        "bugs": found["bugs"],
        "free_room": found["free_room"],
        "nearest": nearest,
    }


def _with_devices(why: Json, run: Run, recorded: CycleDocument) -> Json:
    """The devices of the nearest misses that have none for the pod's claims; null if too far."""
    nearest = cast("list[Json]", why["nearest"])
    nodes = [str(near["node"]) for near in nearest if PLUGIN in cast("list[str]", near["plugins"])]
    if not nodes:
        return {}
    return {
        "lacks_devices": True,
        "devices": near_devices(run=run, recorded=recorded, nodes=nodes),
    }


def _decoded(message: str, cycle: CycleDocument | None) -> Decoded | None:
    if cycle is None:
        return decode(message, {})
    status = cycle.get("pre_filter", {}).get("status")
    return decode(message, cycle["filter"], cast("StatusDocument | None", status))
