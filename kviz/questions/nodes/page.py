"""The form that asks which nodes to add, and which could be drained."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any

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
from kviz.experiments.reading.heads import waiting_stated
from kviz.questions.nodes.jobs import shapes_of
from kviz.runs.execution.engine import cluster_of
from scheduler_core.amounts import amounts_text
from scheduler_core.analysis.advice.nodes.adding import MAX_RUNS
from scheduler_core.analysis.advice.nodes.draining import MAX_CANDIDATES
from scheduler_core.analysis.advice.pools import pools_of
from scheduler_core.api import KubeObject, Node
from scheduler_core.cluster.requests import integer_resources
from scheduler_core.config.source import text_value

# What the form of nodes accepts, as REST would be given it.


@dataclass(frozen=True)
class PoolRow:
    """A pool of the cluster, what one of its nodes has, and what was typed about its nodes."""

    name: str
    n_nodes: int
    room: str
    price: str
    at_most: str


def values_of(given: QueryDict) -> dict[str, Any]:
    """What the form holds, after what an address or a sent form says."""
    names = ("snapshot", "run", "shapes", "max_runs", "drain", "name")
    pools, prices, most = (given.getlist(name) for name in ("pool", "price", "most"))
    typed = {pool: (typed_at(prices, i), typed_at(most, i)) for i, pool in enumerate(pools)}
    return {"pools": typed} | {name: given.get(name, "") for name in names}


def asked_in(values: Mapping[str, Any], objects: Sequence[KubeObject]) -> dict[str, object]:
    """What is asked about a cluster of these objects. Raises InvalidInput, with lines."""
    text = values["shapes"]
    shapes_of(text, objects)
    document = text_value(text) if text.strip() else {}
    assert isinstance(document, dict)
    given = document.get("pools")
    named = list(given) if isinstance(given, list) else []
    known = {each["name"] for each in named if isinstance(each, dict)}
    named += [each for each in _pools_typed(values["pools"]) if each["name"] not in known]
    if named:
        text = json.dumps({**document, "pools": named})
    asked: dict[str, object] = {"shapes": text}
    for name in ("max_runs", "drain"):
        if values[name].strip():
            asked[name] = whole_number(name, values[name], 0)
    return asked


def pool_rows(objects: Iterable[KubeObject], typed: Mapping[str, tuple[str, str]]) -> list[PoolRow]:
    """The pools of the nodes, with what was typed about them."""
    rows = []
    for pool in pools_of(item for item in objects if isinstance(item, Node)):
        has = integer_resources(pool.nodes[0].status.allocatable)
        room = amounts_text(has, only=("cpu", "memory"))
        rows.append(PoolRow(pool.name, len(pool.nodes), room, *typed.get(pool.name, ("", ""))))
    return rows


def _pools_typed(typed: Mapping[str, tuple[str, str]]) -> Iterator[dict[str, Any]]:
    for pool, (price, most) in typed.items():
        terms: dict[str, Any] = {}
        if price.strip():
            terms["price"] = _price(pool, price)
        if most.strip():
            terms["atMost"] = whole_number("most", most, 1)
        if terms:
            yield {"name": pool} | terms


def _price(pool: str, text: str) -> float:
    try:
        price = float(text)
    except ValueError:
        price = -1.0
    if not 0 <= price < float("inf"):
        raise refused(
            "price",
            _('The price of %(pool)s is no number: "%(text)s".') % {"pool": pool, "text": text},
        )
    return price


@require_http_methods(["GET", "HEAD", "POST"])
def nodes_new(request: HttpRequest) -> HttpResponse:
    """Which nodes to add so that pending pods bind, and which could be drained."""
    if request.method != "POST":
        return _form(request, values_of(request.GET))
    values = values_of(request.POST)

    def begin() -> Experiment:
        beginning = beginning_of(request, values)
        asked = asked_in(values, cluster_of(beginning)[0])
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
        "pools": pool_rows(objects, values["pools"]),
        "stated": waiting_stated(objects),
        "max_runs": MAX_RUNS,
        "most_drains": MAX_CANDIDATES,
    }
    return render(request, "questions/nodes/page.html", context, status=status)
