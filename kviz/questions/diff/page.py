"""HTML: two runs chosen, and held against each other."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET

from kviz.accounts.middleware import share_of, workspace_of
from kviz.common.listing import uuid_of
from kviz.common.wording import translated
from kviz.questions.diff.read import CannotCompare, comparison
from kviz.runs import selectors
from kviz.runs.models import Cycle, Run
from kviz.runs.pages.access import run_of
from scheduler_core.analysis.compare import Comparison, Parting
from scheduler_core.wording import told

ROWS_SHOWN: Final = 100
COLUMNS_SHOWN: Final = 8
MOVES_DRAWN: Final = 30
RUNS_OFFERED: Final = 200
"""So many of the latest runs can be chosen from a menu."""
"""Of each table; REST has all."""


@dataclass(frozen=True)
class Side:
    """One of the two cycles side by side; without `cycle` that run was over."""

    name: str
    run: Run
    value: str | int
    cycle: Cycle | None


@require_GET
def run_compare(request: HttpRequest) -> HttpResponse:
    """Choose two runs; or, with `a` and `b`, where they diverge and what is different.

    A list sends those that were ticked, each as `run`, the newest first.
    """
    if ticked := request.GET.getlist("run")[:2]:
        query = urlencode(dict(zip("ab", reversed(ticked), strict=False)))
        return redirect(f"{reverse('run-compare')}?{query}")
    chosen = [
        run_of(request, uuid_of(request.GET[name])) if request.GET.get(name) else None
        for name in ("a", "b")
    ]
    a, b = chosen
    status = HTTPStatus.OK
    context: dict[str, object] = {
        "section": "compare",
        "a": a,
        "b": b,
        "share": share_of(request),
        "choice": _choice(request, [run for run in chosen if run]),
        "rows": ROWS_SHOWN,
    }
    if a and b:
        try:
            context |= _compared(a, b, comparison(a=a, b=b))
            context |= {"map_a": _map(request, a), "map_b": _map(request, b)}
        except CannotCompare as refused:
            context["refused"] = translated(told(refused))
            context["not_over"] = next((run for run in (a, b) if _is_under_way(run)), None)
            status = HTTPStatus.OK if context["not_over"] else HTTPStatus.CONFLICT
    return render(request, "questions/diff/page.html", context, status=status)


def _is_under_way(run: Run) -> bool:
    return not run.is_over and not run.is_observed


def _choice(request: HttpRequest, chosen: list[Run]) -> list[tuple[str, list[Run]]]:
    """The runs to choose from, in groups: those of a chosen run's cluster before all others."""
    runs = selectors.runs_to_compare(workspace=workspace_of(request))[:RUNS_OFFERED]
    listed = list(dict.fromkeys([*chosen, *runs]))
    clusters = {run.snapshot_id for run in chosen}
    same = [run for run in listed if run.snapshot_id in clusters]
    others = [run for run in listed if run not in same]
    if not same:
        return [("", others)] if others else []
    return [(_("The same cluster"), same), (_("Other clusters"), others)]


def _compared(a: Run, b: Run, found: Comparison) -> dict[str, object]:
    parting, outcome = found.parting, found.outcome
    is_later = parting and outcome and outcome.cycle_a != parting.cycle_a
    return {
        "found": found,
        "headline": _headline(found),
        "grid": _grid(found),
        "parting": parting,
        "sides": _sides(a, b, parting) if parting else [],
        "outcome": outcome if is_later else None,
        "outcome_sides": _sides(a, b, outcome) if outcome and is_later else [],
        "evicted": [("A", a, found.evicted_a), ("B", b, found.evicted_b)],
        "n_luck": sum(each.luck is True for each in found.ends.moved),
        "n_not_examined": sum(each.luck is None for each in found.ends.moved),
    }


def _headline(found: Comparison) -> str:
    """What is different in the end, empty if nothing is."""
    ends = found.ends
    moved, bound, pending = len(ends.moved), len(ends.newly_bound), len(ends.newly_pending)
    if not (moved or bound or pending):
        return ""
    text = ngettext("%(n)s pod moves in B;", "%(n)s pods move in B;", moved) % {"n": f"{moved:,}"}
    counts = {"bound": f"{bound:,}", "pending": f"{pending:,}"}
    return f"{text} {_('%(bound)s newly placed, %(pending)s newly pending.') % counts}"


@dataclass(frozen=True)
class Grid:
    """Moved pods across the nodes: a cell is `a` or `b`, `line` between them, else empty."""

    nodes: Sequence[str]
    rows: Sequence[tuple[str, Sequence[str]]]


def _grid(found: Comparison) -> Grid:
    """Where each moved pod is in both runs; empty if that takes too many columns or rows."""
    moved = found.ends.moved
    nodes = sorted({node for each in moved for node in (each.a, each.b)})
    if len(nodes) > COLUMNS_SHOWN or len(moved) > MOVES_DRAWN:
        return Grid((), ())
    at = {node: i for i, node in enumerate(nodes)}
    return Grid(nodes, [(each.pod, _cells(at[each.a], at[each.b], len(nodes))) for each in moved])


def _cells(a: int, b: int, n: int) -> list[str]:
    ends = {a: "a", b: "b"}
    between = range(min(a, b) + 1, max(a, b))
    return [ends.get(i, "line" if i in between else "") for i in range(n)]


def _sides(a: Run, b: Run, parting: Parting) -> list[Side]:
    it = parting.difference
    numbers = ("A", a, it.a, parting.cycle_a), ("B", b, it.b, parting.cycle_b)
    return [
        Side(name, run, value, run.cycle_rows.filter(number=number).first())
        for name, run, value, number in numbers
    ]


def _map(request: HttpRequest, run: Run) -> str:
    """What one of the two maps is drawn from, as JSON; CYCLE stands where the cycle goes."""
    share = share_of(request)
    query = "?c=CYCLE" + (f"&{urlencode({'share': share})}" if share else "")
    read = {
        "id": str(run.pk),
        "cycles": run.cycles,
        "explorer": reverse("run-explore", args=[run.pk]) + query,
    }
    return json.dumps(read)
