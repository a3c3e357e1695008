"""Addresses inside a run: every number on a page leads to its evidence. And short messages.

All tags read `run` and `share` from the page's context, so that a shared page links to pages
that are shared as well.
"""

from __future__ import annotations

from django import template
from django.template import Context
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext

from kviz.runs.decoder import reasons_in
from kviz.runs.models import Run
from kviz.snapshots.templatetags.snapshot_titles import title_of

register = template.Library()
register.filter("reasons_in", reasons_in)


def _address(context: Context, name: str, *more: str, **query: str | int | None) -> str:
    address = reverse(name, args=[context["run"].pk, *more])
    kept = {key: value for key, value in query.items() if value is not None and value != ""}
    if share := context.get("share"):
        kept["share"] = share
    return f"{address}?{urlencode(kept)}" if kept else address


@register.simple_tag(takes_context=True)
def explore_url(context: Context, **position: str | int | None) -> str:
    """The Explorer at a position: `c` cycle, `p` point, `g` plugin, `pod`, `n` node, `tab`."""
    return _address(context, "run-explore", **position)


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
def run_url(context: Context) -> str:
    return _address(context, "run-detail")


@register.filter
def run_title(run: Run) -> str:
    """What to call a run in front of people: its own name, or its cluster's."""
    if run.name:
        return run.name
    return title_of(run.snapshot) if run.snapshot else gettext("Live session")


@register.filter
def milliseconds(duration_ns: int) -> str:
    """A duration in nanoseconds as milliseconds."""
    return f"{duration_ns / 1e6:.1f}"
