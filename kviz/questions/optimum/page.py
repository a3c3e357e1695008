"""HTML: the best placement of a run's pods, and how far the run is from it."""

from __future__ import annotations

import math
from typing import Any, Final, cast, get_args
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
from kviz.questions.optimum.bounds import chart_of
from kviz.questions.optimum.placements import Placement, placements
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Run
from kviz.runs.pages.access import own_run_of, run_context, run_of
from scheduler_core.analysis.model import Viability

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
