"""The page of a run: its findings, what it can be saved as, the policies of its cluster."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from kviz.accounts.middleware import workspace_of
from kviz.runs import selectors
from kviz.runs.execution.luck import may_ask
from kviz.runs.pages.access import run_context, run_of
from kviz.runs.pages.exports import exports_of
from kviz.runs.reading import trace
from kviz.runs.reading.findings import findings
from kviz.runs.reading.luck import luck_of
from kviz.runs.sharing import DAYS
from kviz.snapshots.policies import policies_of
from kviz.snapshots.summary import may_place_by_hand


@require_GET
def run_detail(request: HttpRequest, run_id: UUID) -> HttpResponse:
    run = run_of(request, run_id)
    found = findings(run=run)
    context = run_context(request, run) | {
        "findings": found,
        "luck": luck_of(run),
        "may_ask_luck": may_ask(run) and found.n_scheduled > 0,
        "bound_before": max(0, run.bound - found.n_scheduled) if run.last_seq >= 0 else "",
        "steps_refused": trace.steps_refused(run=run),
        "parent": selectors.parent_of(run=run, workspace=workspace_of(request)),
        "own_changes": selectors.own_changes(run=run),
        "share_days": DAYS,
        "n_links": run.links.open().count(),
        "variants": selectors.variants_of(run=run, workspace=workspace_of(request)),
    }
    if run.is_over:
        context |= exports_of(run)
        if run.snapshot is not None and not run.is_observed:
            context["is_for_hands"] = may_place_by_hand(run.snapshot)
        context["before"] = selectors.run_before(run=run, workspace=workspace_of(request))
    return render(request, "runs/detail.html", context)


@require_GET
def run_policies(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Budgets and priority classes of the run's cluster, as uploaded."""
    run = run_of(request, run_id)
    if run.snapshot is None:
        raise Http404(run_id)
    context = run_context(request, run) | {"policies": policies_of(run.snapshot)}
    return render(request, "runs/policies.html", context)
