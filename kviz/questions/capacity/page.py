"""The form that asks how many more copies of some pods fit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Any, Final

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from kviz.common.problems import ErrorItem
from kviz.experiments.forms import typed_at, whole_number
from kviz.experiments.kinds import refused
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
from scheduler_core.api import KubeObject, Pod
from scheduler_core.cluster.pods import controller_of
from scheduler_core.trace.tables import TERMINAL_PHASES

# What the form of capacity accepts, as REST would be given it.

ROWS: Final = 3
"""So many pods of the cluster can be chosen; pasted ones come on top."""
PODS_OFFERED: Final = 500
MAX_COPIES: Final = 10_000
"""What the form begins with."""


def values_of(given: QueryDict) -> dict[str, Any]:
    """What the form holds, after what an address or a sent form says."""
    pods, weights = given.getlist("pod"), given.getlist("weight")
    rows = [
        {"pod": typed_at(pods, i), "weight": typed_at(weights, i)}
        for i in range(max(ROWS, len(pods)))
    ]
    names = ("snapshot", "run", "manifest", "manifest_weight", "max", "name")
    return {"rows": rows} | {name: given.get(name, "") for name in names}


def asked_in(values: Mapping[str, Any]) -> dict[str, object]:
    """What is asked. Raises InvalidInput."""
    templates: list[dict[str, object]] = [
        {"pod": row["pod"].strip(), "weight": whole_number("weight", row["weight"], 0)}
        for row in values["rows"]
        if row["pod"].strip()
    ]
    if values["manifest"].strip():
        weight = whole_number("weight", values["manifest_weight"], 0)
        templates.append({"manifest": values["manifest"], "weight": weight})
    if not templates:
        raise refused("pod", _("Choose a pod of the cluster, or paste one."))
    return {"templates": templates, "max": whole_number("max", values["max"], MAX_COPIES)}


def pods_offered(objects: Iterable[KubeObject]) -> list[str]:
    """A pod of each owner, and those without one: templates that are there."""
    owners: dict[tuple[str, str, str], str] = {}
    for item in objects:
        if isinstance(item, Pod) and item.status.phase not in TERMINAL_PHASES:
            owner = controller_of(item)
            of = (owner.kind, owner.name) if owner else ("Pod", item.name)
            owners.setdefault((item.namespace, *of), item.key)
    return sorted(owners.values())[:PODS_OFFERED]


@require_http_methods(["GET", "HEAD", "POST"])
def capacity_new(request: HttpRequest) -> HttpResponse:
    """How many more copies of some pods fit."""
    if request.method != "POST":
        return _form(request, values_of(request.GET))
    values = values_of(request.POST)

    def begin() -> Experiment:
        asked = asked_in(values)
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
        "pods": pods_offered(objects),
        "stated": room_stated(objects),
        "max_copies": MAX_COPIES,
    }
    return render(request, "questions/capacity/page.html", context, status=status)
