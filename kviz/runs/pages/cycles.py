"""The cycles of a run: as a list, in the Explorer and as tables, as files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.http import urlencode
from django.views.decorators.http import require_GET
from django_vite.core.asset_loader import DjangoViteAssetLoader
from django_vite.core.exceptions import DjangoViteAssetNotFoundError

from kviz.accounts.middleware import share_of
from kviz.common.csv_file import MEDIA_TYPE as CSV
from kviz.common.csv_file import csv_pieces
from kviz.common.streaming import attachment
from kviz.runs import selectors
from kviz.runs.models import Run
from kviz.runs.pages.access import run_context, run_of
from kviz.runs.pages.exports import exports_of
from kviz.runs.portable.saved import file_name
from kviz.runs.reading import tables, trace
from kviz.runs.reading.preemption_table import preemption_table
from kviz.runs.reading.score_table import score_table
from kviz.runs.selectors import CycleKind, cycles_filtered

# The front end that Vite built, or serves while it is developed.

EXPLORER: Final = "src/main.ts"
"""The source file that the Explorer begins with, as `{% vite_asset %}` names it."""


def explorer_is_built() -> bool:
    """Whether a page can load the Explorer; `make setup` builds it."""
    try:
        DjangoViteAssetLoader.instance().generate_vite_asset_url(EXPLORER)
    except DjangoViteAssetNotFoundError:
        return False
    return True


CYCLES_SHOWN = 100
TABLE_ROWS_SHOWN = 200


@require_GET
def run_cycles(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = run_of(request, run_id)
    kind, pod = CycleKind.of(request.GET.get("kind", "")), request.GET.get("pod", "")
    after = _number(request.GET.get("after", ""))
    rows = list(cycles_filtered(run=run, kind=kind, pod=pod, after=after)[: CYCLES_SHOWN + 1])
    shown = rows[:CYCLES_SHOWN]
    query = {"kind": kind, "pod": pod, "share": share_of(request)}
    filled = {name: value for name, value in query.items() if value}
    context = run_context(request, run) | {
        "cycles": shown,
        "kind": kind,
        "pod": pod,
        "after": after,
        "filter": urlencode(filled),
        "next": urlencode(filled | {"after": shown[-1].number}) if len(rows) > len(shown) else "",
        "first": urlencode(filled) if after else "",
    }
    return render(request, "runs/cycles.html", context)


def _number(text: str) -> int:
    """A positive number from an address; 0 for anything else."""
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0


@require_GET
def run_explore(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """The Explorer's mount point, and the same cycle as tables for those who prefer them."""
    run = run_of(request, run_id)
    number = _number(request.GET.get("c", "")) or 1
    cycle = trace.cycle_or_part(run=run, cycle=number)
    shown = None if request.GET.get("rows") == "all" else TABLE_ROWS_SHOWN
    context = run_context(request, run) | {
        "cycle": cycle,
        "rejected": list(cycle["filter"].items())[:shown] if cycle else [],
        "scores": score_table(cycle, shown) if cycle else None,
        "candidates": preemption_table(cycle) if cycle else None,
        "number": number,
        "previous": number - 1,
        "next": number + 1 if number < run.cycles else 0,
        "view": request.GET.get("view", ""),
        "has_devices": selectors.has_devices(run=run),
        "optimum": selectors.optimum_known(run=run),
        **(exports_of(run) if run.is_over else {}),
        "as_tables": request.GET.get("view") == "tables" or not explorer_is_built(),
    }
    return render(request, "runs/explore.html", context)


@require_GET
def run_cycles_csv(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """The cycles of the same filter as a file, all of them."""
    run = run_of(request, run_id)
    kind, pod = CycleKind.of(request.GET.get("kind", "")), request.GET.get("pod", "")
    rows = tables.cycle_rows(run, kind=kind, pod=pod)
    return _table(run, "cycles", csv_pieces(tables.CYCLE_COLUMNS, rows))


@require_GET
def run_pods_csv(request: HttpRequest, run_id: UUID) -> HttpResponseBase:
    """Every pod of the run that was queued or evicted, as a file."""
    run = run_of(request, run_id)
    return _table(run, "pods", csv_pieces(tables.POD_COLUMNS, tables.pod_rows(run)))


def _table(run: Run, name: str, pieces: Iterator[bytes]) -> HttpResponseBase:
    return attachment(pieces, name=file_name(run, f"-{name}.csv"), media_type=CSV)
