"""The form that asks how many more copies of some pods fit."""

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
from kviz.experiments.reading.heads import room_stated
from kviz.questions.capacity import forms


@require_http_methods(["GET", "HEAD", "POST"])
def capacity_new(request: HttpRequest) -> HttpResponse:
    """How many more copies of some pods fit."""
    if request.method != "POST":
        return _form(request, forms.values_of(request.GET))
    values = forms.values_of(request.POST)

    def begin() -> Experiment:
        asked = forms.asked_in(values)
        beginning = beginning_of(request, values)
        return experiment_begun(request, beginning, "capacity", asked, values["name"])

    form = partial(_form, request, values)
    return page_of_what_begins(begin, form, share_in(request))


def _form(
    request: HttpRequest,
    values: Values,
    errors: Sequence[ErrorItem] = (),
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    objects = objects_named(request, values)
    context = form_context(request, values, errors, values["manifest"]) | {
        "pods": forms.pods_offered(objects),
        "stated": room_stated(objects),
        "max_copies": forms.MAX_COPIES,
    }
    return render(request, "questions/capacity/page.html", context, status=status)
