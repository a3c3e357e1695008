"""The form that asks which nodes to add, and which could be drained."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from kviz.common.problems import ErrorItem
from kviz.experiments.models import Experiment
from kviz.experiments.pages.access import (
    Values,
    beginning_of,
    experiment_begun,
    form_context,
    objects_named,
    page_of_what_begins,
    share_in,
)
from kviz.experiments.reading.heads import waiting_stated
from kviz.questions.nodes import forms
from kviz.runs.execution.engine import cluster_of
from scheduler_core.analysis.advice.nodes.adding import MAX_RUNS
from scheduler_core.analysis.advice.nodes.draining import MAX_CANDIDATES


@require_http_methods(["GET", "HEAD", "POST"])
def nodes_new(request: HttpRequest) -> HttpResponse:
    """Which nodes to add so that pending pods bind, and which could be drained."""
    if request.method != "POST":
        return _form(request, forms.values_of(request.GET))
    values = forms.values_of(request.POST)

    def begin() -> Experiment:
        beginning = beginning_of(request, values)
        asked = forms.asked_in(values, cluster_of(beginning)[0])
        return experiment_begun(request, beginning, "nodes", asked, values["name"])

    return page_of_what_begins(begin, partial(_form, request, values), share_in(request))


def _form(
    request: HttpRequest,
    values: Values,
    errors: Sequence[ErrorItem] = (),
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    objects = objects_named(request, values)
    context = form_context(request, values, errors, values["shapes"]) | {
        "pools": forms.pool_rows(objects, values["pools"]),
        "stated": waiting_stated(objects),
        "max_runs": MAX_RUNS,
        "most_drains": MAX_CANDIDATES,
    }
    return render(request, "questions/nodes/page.html", context, status=status)
