"""HTML: the best placement of a run's pods, and how far the run is from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, TypedDict, cast, get_args
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_POST

from kviz.accounts.throttling import too_often
from kviz.questions.optimum import services
from kviz.runs.execution.engine import cluster_of
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Optimum, Run
from kviz.runs.pages.access import own_run_of, run_context, run_of
from scheduler_core.analysis.model import Viability
from scheduler_core.api import Node, Pod
from scheduler_core.cluster.requests import integer_resources, pod_requests
from scheduler_core.cluster.topology_keys import ZONE
from scheduler_core.trace.tables import TERMINAL_PHASES

# A run and the optimum as two placements, as two maps side by side are drawn from.

MAX_DRAWN: Final = 5_000
"""So many nodes and pods are sent along with a page."""
DRAWN: Final = ("cpu", "memory")


class NodeDrawn(TypedDict):
    name: str
    zone: str
    allocatable: dict[str, int]


class PodDrawn(TypedDict):
    pod: str
    node: str
    requests: dict[str, int]


class Moved(TypedDict):
    """A pod that is elsewhere; a node is empty where it is pending."""

    pod: str
    run: str
    optimum: str


class Placement(TypedDict):
    """What one map is drawn from (docs/comparing.md)."""

    title: str
    nodes: list[NodeDrawn]
    pods: list[PodDrawn]


def placements(
    run: Run, moved: Sequence[Moved], assignment: dict[str, str]
) -> dict[str, Placement] | None:
    """Return the run as `a` and the optimum as `b`; None where they are too large to be sent."""
    objects, _options = cluster_of(run)
    nodes = [_node(item) for item in objects if isinstance(item, Node)]
    pods = [item for item in objects if isinstance(item, Pod) and _takes_room(item)]
    if len(nodes) + len(pods) > MAX_DRAWN:
        return None
    there = {pod.key: pod.spec.node_name for pod in pods} | assignment
    at_best = there | {each["pod"]: each["optimum"] for each in moved}
    as_run = there | {each["pod"]: each["run"] for each in moved}
    return {
        "a": {
            "title": _("As the scheduler placed them"),
            "nodes": nodes,
            "pods": [_pod(pod, as_run[pod.key]) for pod in pods],
        },
        "b": {
            "title": _("At best"),
            "nodes": nodes,
            "pods": [_pod(pod, at_best[pod.key]) for pod in pods],
        },
    }


def _takes_room(pod: Pod) -> bool:
    return pod.status.phase not in TERMINAL_PHASES


def _node(node: Node) -> NodeDrawn:
    has = integer_resources(node.status.allocatable)
    return {
        "name": node.name,
        "zone": node.metadata.labels.get(ZONE, ""),
        "allocatable": {name: has[name] for name in DRAWN if name in has},
    }


def _pod(pod: Pod, node: str) -> PodDrawn:
    asked = pod_requests(pod).asked
    return {
        "pod": pod.key,
        "node": node,
        "requests": {name: asked[name] for name in DRAWN if name in asked},
    }


# The search for an optimum as a chart: what it found, and what nobody can exceed, over time.

WIDTH: Final = 600
HEIGHT: Final = 120


@dataclass(frozen=True)
class Chart:
    """Points of two lines in an SVG of `WIDTH` x `HEIGHT`, of the objective pursued last.

    `incumbent` and `bound` are the latest values, None where there is none yet.
    """

    objective: str
    found: str
    most: str
    incumbent: int | None
    bound: int | None


def chart_of(search: Optimum) -> Chart | None:
    """Draw the steps of the objective pursued last; None where no bound is known yet."""
    steps = [step for step in search.progress if step["bound"] is not None]
    if not steps:
        return None
    objective = steps[-1]["objective"]
    steps = [step for step in steps if step["objective"] == objective]
    values = [
        value for step in steps for value in (step["incumbent"], step["bound"]) if value is not None
    ]
    low, high = min(values), max(values)
    begin_s, end_s = steps[0]["elapsed_s"], max(search.time_limit_s, steps[-1]["elapsed_s"])

    def points(name: str) -> str:
        return " ".join(
            f"{WIDTH * (step['elapsed_s'] - begin_s) / max(end_s - begin_s, 0.01):.0f},"
            f"{HEIGHT - (HEIGHT - 8) * (step[name] - low) / max(high - low, 1) - 4:.0f}"
            for step in steps
            if step[name] is not None
        )

    last = steps[-1]
    return Chart(objective, points("incumbent"), points("bound"), last["incumbent"], last["bound"])


ROWS_SHOWN: Final = 100
"""Of the pods that are elsewhere; REST has all."""

MODES: Final = {
    "classic": gettext_lazy("classic: the weights of the preferred terms that match"),
    "snapshot": gettext_lazy("Score totals at the snapshot: in the cluster as it is"),
    "replayed": gettext_lazy("Score totals replayed: at each pod's turn, small clusters"),
}


@require_GET
def run_optimum(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """What is found in one mode; the one asked for last unless `mode` names another.

    `at` is a cycle: of what there is when it begins.
    """
    run = _simulated(run_of(request, run_id))
    at_cycle = _cycle(request.GET.get("at", ""), run)
    all_asked = run.optima.order_by("asked_at")
    asked = {each.mode: each for each in all_asked.filter(at_cycle=at_cycle)}
    mode = request.GET.get("mode", "")
    if mode not in MODES:
        mode = next(reversed(asked), "classic")
    found = asked.get(mode)
    answer = found.answer if found is not None else None
    context = run_context(request, run) | {
        "found": found,
        "answer": answer,
        "mode": mode,
        "at_cycle": at_cycle,
        "moments": all_asked.filter(mode=mode).exclude(at_cycle=at_cycle).order_by("at_cycle"),
        "modes": [(name, text, asked.get(name)) for name, text in MODES.items()],
        "rows": ROWS_SHOWN,
        "levels": _levels(answer) if answer else [],
        "chart": chart_of(found) if found is not None else None,
        "placements": _placements(run, answer) if answer else None,
    }
    return render(request, "questions/optimum/page.html", context)


def _simulated(run: Run) -> Run:
    if run.is_observed or run.snapshot is None:
        raise Http404(run.pk)
    return run


def _placements(run: Run, answer: dict[str, Any]) -> dict[str, Placement] | None:
    """What the two maps are drawn from, where anybody is elsewhere and nobody was evicted."""
    if not answer["moved"] or answer["not_comparable"]:
        return None
    try:
        return placements(run, answer["moved"], answer["optimum"]["assignment"])
    except InvalidInput:  # made with plugins that are no longer installed
        return None


def _levels(answer: dict[str, dict[str, dict[str, int]]]) -> list[dict[str, object]]:
    """How many pods are placed at each priority: by the run, at best, and what is the most."""
    run, best, bound = (answer[side]["placed"] for side in ("run", "optimum", "bound"))
    return [
        {"priority": int(level), "run": run[level], "best": n, "bound": bound[level]}
        for level, n in best.items()
    ]


@require_POST
def run_optimum_ask(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = _simulated(own_run_of(request, run_id))
    mode, at_cycle = _mode(request), _cycle(request.POST.get("at", ""), run)
    limit_s = _limit_s(request)
    if refused := too_often(request, "run"):
        messages.error(request, str(refused["message"]))
    elif not services.optimum_ask(run=run, mode=mode, time_limit_s=limit_s, at_cycle=at_cycle):
        messages.error(request, _("The run is not over yet; its optimum is computed when it is."))
    return redirect(_address(run, mode, at_cycle))


@require_POST
def run_optimum_cancel(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = _simulated(own_run_of(request, run_id))
    mode, at_cycle = _mode(request), _cycle(request.POST.get("at", ""), run)
    services.optimum_cancel(run=run, mode=mode, at_cycle=at_cycle)
    return redirect(_address(run, mode, at_cycle))


def _mode(request: HttpRequest) -> Viability:
    mode = request.POST.get("mode", "")
    return cast("Viability", mode) if mode in get_args(Viability) else "classic"


def _limit_s(request: HttpRequest) -> float:
    """The time limit that was typed, within what a worker gives; the default otherwise."""
    try:
        typed = float(request.POST.get("time_limit", ""))
    except ValueError:
        typed = services.OPTIMUM_LIMIT_S
    if not math.isfinite(typed):
        typed = services.OPTIMUM_LIMIT_S
    return min(max(typed, 1.0), services.MAX_OPTIMUM_LIMIT_S)


def _cycle(text: str, run: Run) -> int:
    """The cycle that was asked for, within the run's; the first unless it is a number."""
    wanted = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 1
    return min(max(wanted, 1), max(run.cycles, 1))


def _address(run: Run, mode: str, at_cycle: int) -> str:
    query = {"mode": mode} | ({"at": at_cycle} if at_cycle > 1 else {})
    return f"{reverse('run-optimum', args=[run.pk])}?{urlencode(query)}"
