"""Addresses inside a run: every number on a page leads to its evidence. And short messages.

All tags read `run` and `share` from the page's context, so that a shared page links to pages
that are shared as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django import template
from django.db.models import QuerySet
from django.template import Context
from django.urls import reverse
from django.utils.http import urlencode

from kviz.accounts.middleware import workspace_of
from kviz.runs import selectors
from kviz.runs.models import Run
from kviz.runs.presets import configuration_named, scenario_named
from kviz.runs.titles import changed_gates, differences_told, draws_ties, run_title
from kviz.snapshots.models import Snapshot
from kviz.snapshots.summary import PendingRow
from scheduler_core.analysis.compare.words import share_text
from scheduler_core.evidence.fit_error import reasons_in

register = template.Library()
register.filter("reasons_in", reasons_in)
register.filter("run_title", run_title)
register.filter("differences_told", differences_told)
register.filter("changed_gates", changed_gates)
register.filter("draws_ties", draws_ties)
register.filter("change_in_words", selectors.sentence_of)


register.filter("share_text", share_text)

RUNS_SHOWN: Final = 20


def _address(context: Context, name: str, *more: str | int, **query: str | int | None) -> str:
    address = reverse(name, args=[context["run"].pk, *more])
    filled = {key: value for key, value in query.items() if value is not None and value != ""}
    if share := context.get("share"):
        filled["share"] = share
    return f"{address}?{urlencode(filled)}" if filled else address


@register.simple_tag(takes_context=True)
def explore_url(context: Context, **position: str | int | None) -> str:
    """The Explorer at a position: `c` cycle, `p` point, `g` plugin, `pod`, `n` node, `tab`."""
    return _address(context, "run-explore", **position)


@register.simple_tag(takes_context=True)
def optimum_url(context: Context, **query: str | int | None) -> str:
    """The optimum of the run: in a `mode`, and `at` a cycle."""
    return _address(context, "run-optimum", **query)


@register.simple_tag(takes_context=True)
def cycles_url(context: Context, **query: str | int | None) -> str:
    """The list of cycles, filtered by `kind` or `pod`."""
    return _address(context, "run-cycles", **query)


@register.simple_tag(takes_context=True)
def why_url(context: Context, pod: str) -> str:
    """The reason page of a pod given as `namespace/name`."""
    namespace, _, name = pod.partition("/")
    return _address(context, "run-why", namespace, name)


@register.simple_tag(takes_context=True)
def markdown_url(context: Context, pod: str) -> str:
    """Why a pod given as `namespace/name` is pending, as a text for a ticket."""
    namespace, _, name = pod.partition("/")
    return _address(context, "api-pod-markdown", namespace, name)


@register.simple_tag(takes_context=True)
def node_url(context: Context, cycle: int, node: str, **query: str | int | None) -> str:
    """What a cycle's pod asks and what a node has, side by side."""
    return _address(context, "run-node", cycle, node, **query)


@register.simple_tag(takes_context=True)
def model_url(context: Context, cycle: int, **query: str | int | None) -> str:
    """The formal model of a cycle; `n` names a node."""
    return _address(context, "run-model", cycle, **query)


@register.simple_tag(takes_context=True)
def tla_url(context: Context, cycle: int) -> str:
    """The TLA+ module of a cycle, a file."""
    return _address(context, "api-cycle-tla", cycle)


@register.simple_tag(takes_context=True)
def run_url(context: Context) -> str:
    return _address(context, "run-detail")


@register.simple_tag(takes_context=True)
def runs_over(context: Context, snapshot: Snapshot) -> QuerySet[Run]:
    """The latest runs of a cluster that the viewer's workspace has."""
    workspace = workspace_of(context["request"])
    return selectors.runs_over(snapshot=snapshot, workspace=workspace)[:RUNS_SHOWN]


@dataclass(frozen=True)
class ComparedPods:
    """Pods of a cluster, each with what it said of them beside `run`; None where unknown."""

    run: Run | None
    rows: Sequence[tuple[PendingRow, dict[str, object] | None]]


@register.simple_tag(takes_context=True)
def compared_pods(context: Context, snapshot: Snapshot, pods: Sequence[PendingRow]) -> ComparedPods:
    """Waiting pods of a cluster beside the latest run that changes nothing in it."""
    run = selectors.run_as_it_is(snapshot=snapshot, workspace=workspace_of(context["request"]))
    said = {}
    if run is not None:
        named = run.pod_outcomes.filter(pod__in=[each.key for each in pods])
        said = dict(named.values_list("pod", "cluster_says"))
    return ComparedPods(run, [(each, said.get(each.key)) for each in pods])


@register.filter
def configuration_title(run: Run) -> str:
    """The title of the preset that a run was started with; any other is custom."""
    return configuration_named(run.scheduler_config)


@register.filter
def scenario_title(run: Run) -> str:
    """The title of a sample scenario, else what the scenario says of itself, if it has one."""
    return scenario_named(run.scenario)


@register.filter
def milliseconds(duration_ns: int) -> str:
    """A duration in nanoseconds as milliseconds."""
    return f"{duration_ns / 1e6:.1f}"
