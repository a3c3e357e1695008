"""The page of a run: its findings, what it can be saved as, the policies of its cluster."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from kviz.accounts.middleware import share_of, workspace_of
from kviz.runs import selectors
from kviz.runs.asking import BUTTONS
from kviz.runs.models import Run
from kviz.runs.pages.access import run_context, run_of
from kviz.runs.pages.exports import exports_of
from kviz.runs.presets import scenario_named
from kviz.runs.reading import trace
from kviz.runs.reading.findings import Findings, findings
from kviz.runs.reading.headline import answer
from kviz.runs.selectors import pods_pending
from kviz.runs.sharing import DAYS
from kviz.runs.titles import run_before
from kviz.snapshots.policies import policies_of
from kviz.snapshots.selectors import may_place_by_hand
from scheduler_core.sim import recreates

CAUSES_COME_WITHIN: Final = timedelta(minutes=1)
"""After its end: a worker looks for causes with values once a run is over."""


@require_GET
def run_detail(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = run_of(request, run_id)
    found = findings(run=run)
    said = answer(run=run, causes=found.causes, n_evicted=found.n_evicted)
    parent = selectors.parent_of(run=run, workspace=workspace_of(request))
    context = run_context(request, run) | {
        "findings": found,
        "so_far": said,
        "causes_to_come": _causes_to_come(run, found),
        "asks": _asks(request, run),
        "bound_before": max(0, run.bound - found.n_scheduled) if run.last_seq >= 0 else "",
        "steps_refused": trace.steps_refused(run=run),
        "parent": parent,
        "own_scenario": _own_scenario(run, parent),
        "own_changes": selectors.own_changes(run=run),
        "may_recreate": _may_recreate(run),
        "share_days": DAYS,
        "n_links": run.links.open().count(),
        "variants": selectors.variants_of(run=run, workspace=workspace_of(request)),
    }
    if run.is_over:
        context["answer"] = said if run.cycles and not run.is_observed else None
        context |= exports_of(run)
        if run.snapshot is not None and not run.is_observed:
            context["is_for_hands"] = may_place_by_hand(run.snapshot)
        context["before"] = run_before(run, workspace_of(request))
    return render(request, "runs/detail.html", context)


def _asks(request: HttpRequest, run: Run) -> list[dict[str, str]]:
    """What can be asked of the run, in the order of the menu."""
    share = share_of(request)
    return [
        {"label": str(each.label), "hint": str(each.hint), "address": each.address(run, share)}
        for each in sorted(BUTTONS, key=lambda each: each.place)
        if each.is_for(run)
    ]


def _own_scenario(run: Run, parent: Run | None) -> str:
    """What the scenario of a variant is called that its parent does not have, else empty."""
    differs = parent is not None and parent.scenario != run.scenario
    return scenario_named(run.scenario) if differs else ""


def _may_recreate(run: Run) -> bool:
    """Whether an owner would have made an evicted pod again, which the run did not."""
    if run.snapshot is None or run.is_observed or recreates(run.scenario):
        return False
    return selectors.pods_evicted(run=run).exclude(owner="").exists()


def _causes_to_come(run: Run, found: Findings) -> bool:
    """Whether the run ended just now and why its pods are pending is not known with values yet."""
    if (
        run.finished_at is None
        or run.is_observed
        or timezone.now() - run.finished_at > CAUSES_COME_WITHIN
    ):
        return False
    return bool(found.causes) and not pods_pending(run=run).exclude(lead=None).exists()


@require_GET
def run_policies(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Budgets and priority classes of the run's cluster, as uploaded."""
    run = run_of(request, run_id)
    if run.snapshot is None:
        raise Http404(run_id)
    context = run_context(request, run) | {"policies": policies_of(run.snapshot)}
    return render(request, "runs/policies.html", context)
