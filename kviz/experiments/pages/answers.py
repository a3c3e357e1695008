"""How many more fit, which nodes to add or remove, what would help: forms that begin one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.common.problems import ErrorItem
from kviz.experiments import answer_forms as forms
from kviz.experiments.models import Experiment
from kviz.experiments.pages.access import (
    beginning_of,
    experiment_begun,
    page_of_what_begins,
    run_named,
    share_in,
    snapshot_named,
    with_share,
)
from kviz.experiments.reading.heads import room_stated, waiting_stated
from kviz.runs.execution.engine import cluster_of
from kviz.runs.marked_text import marked_lines
from kviz.snapshots.selectors import snapshot_objects_cached, snapshots_visible
from scheduler_core.analysis.advice.nodes.adding import MAX_RUNS
from scheduler_core.analysis.advice.nodes.draining import MAX_CANDIDATES
from scheduler_core.api import KubeObject

Values = Mapping[str, Any]


@require_http_methods(["GET", "HEAD", "POST"])
def capacity_new(request: HttpRequest) -> HttpResponse:
    """How many more copies of some pods fit."""
    if request.method != "POST":
        return _capacity_form(request, forms.capacity_values(request.GET))
    values = forms.capacity_values(request.POST)

    def begin() -> Experiment:
        asked = forms.capacity_asked(values)
        beginning = beginning_of(request, values)
        return experiment_begun(request, beginning, "capacity", asked, values["name"])

    form = partial(_capacity_form, request, values)
    return page_of_what_begins(begin, form, share_in(request))


def _capacity_form(
    request: HttpRequest,
    values: Values,
    errors: Sequence[ErrorItem] = (),
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    objects = _objects(request, values)
    context = _context(request, values, errors, values["manifest"]) | {
        "pods": forms.pods_offered(objects),
        "stated": room_stated(objects),
        "max_copies": forms.MAX_COPIES,
    }
    return render(request, "questions/capacity/page.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def nodes_new(request: HttpRequest) -> HttpResponse:
    """Which nodes to add so that pending pods bind, and which could be drained."""
    if request.method != "POST":
        return _nodes_form(request, forms.nodes_values(request.GET))
    values = forms.nodes_values(request.POST)

    def begin() -> Experiment:
        beginning = beginning_of(request, values)
        asked = forms.nodes_asked(values, cluster_of(beginning)[0])
        return experiment_begun(request, beginning, "nodes", asked, values["name"])

    return page_of_what_begins(begin, partial(_nodes_form, request, values), share_in(request))


def _nodes_form(
    request: HttpRequest,
    values: Values,
    errors: Sequence[ErrorItem] = (),
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    objects = _objects(request, values)
    context = _context(request, values, errors, values["shapes"]) | {
        "pools": forms.pool_rows(objects, values["pools"]),
        "stated": waiting_stated(objects),
        "max_runs": MAX_RUNS,
        "most_drains": MAX_CANDIDATES,
    }
    return render(request, "questions/nodes/page.html", context, status=status)


@require_POST
def unblock_begin(request: HttpRequest) -> HttpResponse:
    """Search for what would let a pending pod of a run bind."""
    pod = request.POST.get("pod", "")
    values = {"run": request.POST.get("run", ""), "snapshot": ""}
    run = run_named(request, values)
    if run is None:
        raise Http404(pod)

    def begin() -> Experiment:
        asked = {"pod": pod, "owner": bool(request.POST.get("owner"))}
        return experiment_begun(request, run, "unblock", asked, "")

    def refused(errors: Sequence[ErrorItem], _status: HTTPStatus) -> HttpResponse:
        for error in errors:
            messages.error(request, str(error["message"]))
        return redirect(with_share(reverse("run-detail", args=[run.pk]), share_in(request)))

    return page_of_what_begins(begin, refused, share_in(request))


def _context(
    request: HttpRequest, values: Values, errors: Sequence[ErrorItem], text: str
) -> dict[str, object]:
    """What both forms show; `text` is what lines of errors are about."""
    workspace, share = workspace_of(request), share_in(request)
    bad = {int(each["line"]) for each in errors if "line" in each}
    return {
        "section": "experiments",
        "values": values,
        "errors": errors,
        "marked": marked_lines(text, bad) if bad else [],
        "found": [each for each in errors if "line" in each],
        "run": run_named(request, values),
        "snapshot": snapshot_named(request, values),
        "share": share,
        "snapshots": snapshots_visible(workspace=workspace, share=share),
    }


def _objects(request: HttpRequest, values: Values) -> Sequence[KubeObject]:
    """The objects of the cluster as it was uploaded, none before one is chosen."""
    run = run_named(request, values)
    snapshot = run.snapshot if run is not None else snapshot_named(request, values)
    return list(snapshot_objects_cached(snapshot=snapshot)) if snapshot is not None else []
