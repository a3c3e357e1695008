"""The formal model of a cycle: a page, and its TLA+ module as a file."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from kviz.common.wording import translated
from kviz.runs.pages.access import run_context, run_of
from kviz.runs.reading import trace
from kviz.runs.reading.evidence import UnknownNode
from kviz.runs.reading.formal import formal_model
from kviz.runs.reading.formal_rows import formal_context
from kviz.runs.reading.held_cycles import CannotReenact
from scheduler_core.wording import told

NOTATION: Final = "kviz_notation"
"""The cookie of those who asked for formulas; the Explorer writes it, too."""
A_YEAR_S: Final = 365 * 24 * 3600


@require_GET
def run_model(request: HttpRequest, run_id: UUID, cycle: int) -> HttpResponse:
    """Sets, the control loop, Feasibility, Viability and Objects' of a cycle, with their values.

    `n` names a node; `notation` switches formulas on or off, and is remembered.
    """
    run = run_of(request, run_id)
    recorded = trace.cycle_get(run=run, cycle=cycle)
    if recorded is None:
        raise Http404(cycle)
    node, asked = request.GET.get("n", "").strip(), request.GET.get("notation", "")
    notation = asked or request.COOKIES.get(NOTATION, "")
    context = run_context(request, run) | {
        "cycle": recorded,
        "node": node,
        "notation": notation == "on",
        "previous": cycle - 1,
        "next": cycle + 1 if cycle < run.cycles else 0,
    }
    try:
        context |= formal_context(formal_model(run=run, recorded=recorded, node=node))
    except UnknownNode as unknown:
        raise Http404(node) from unknown
    except CannotReenact as refused:
        context["problem"] = translated(told(refused))
    response = render(request, "runs/model.html", context)
    if asked in ("on", "off"):
        response.set_cookie(NOTATION, asked, max_age=A_YEAR_S, samesite="Lax")
    return response
