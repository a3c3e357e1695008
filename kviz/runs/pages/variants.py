"""The form of a run that does something differently."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.limits import TooManyAtOnce
from kviz.common.problems import ErrorItem
from kviz.runs import services
from kviz.runs.inputs import (
    InvalidInput,
    at_lines,
    changes_of,
    changes_typed,
    cycle_typed,
)
from kviz.runs.marked_text import marked_lines
from kviz.runs.models import Run
from kviz.runs.pages.access import about, run_context, run_of
from kviz.runs.selectors import sentence_of
from kviz.snapshots.selectors import snapshot_objects
from scheduler_core.changes import limits
from scheduler_core.sim import recreates, recreating

# What a real cluster may have to say to the changes of a run, before it is made.


@dataclass(frozen=True)
class ChangeChecked:
    """A change in words, and what a real cluster may have to say to it."""

    sentence: str
    limits: tuple[str, ...]


def change_limits(*, variant: Run) -> list[ChangeChecked]:
    """Return the changes of a variant that are its own, in their order."""
    if variant.snapshot is None:
        return []
    objects = list(snapshot_objects(snapshot=variant.snapshot))
    said = limits(objects, [each.change for each in changes_of(variant)])
    sentences = list(map(sentence_of, variant.changes))
    own = slice(variant.n_inherited, None)
    return [
        ChangeChecked(sentence, each)
        for sentence, each in zip(sentences[own], said[own], strict=True)
    ]


@require_http_methods(["GET", "HEAD", "POST"])
def run_differently(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Make a variant of a run: a list of changes, one per line, and when they are made."""
    run = run_of(request, run_id)
    if run.is_observed or run.snapshot is None:
        raise Http404(run_id)
    asked = request.POST if request.method == "POST" else request.GET
    values = {name: asked.get(name, "") for name in ("changes", "cycle", "recreate", "pod")}
    if request.method != "POST":
        return _vary_form(request, run, values, (), HTTPStatus.OK)
    if refused := too_often(request, "run"):
        return _vary_form(request, run, values, [refused], HTTPStatus.TOO_MANY_REQUESTS)
    make = services.variant_prepare if "check" in request.POST else services.run_vary
    try:
        variant = make(
            workspace=workspace_of(request),
            parent=run,
            changes=changes_typed(values["changes"]),
            cycle=cycle_typed(values["cycle"]),
            scenario=recreating(run.scenario) if values["recreate"] else None,
        )
    except InvalidInput as invalid:
        errors = at_lines(invalid.errors, values["changes"])
        return _vary_form(request, run, values, errors, HTTPStatus.BAD_REQUEST)
    except TooManyAtOnce as many:
        full: ErrorItem = {"message": str(many)}
        return _vary_form(request, run, values, [full], HTTPStatus.TOO_MANY_REQUESTS)
    if "check" in request.POST:
        return _vary_form(request, run, values, (), HTTPStatus.OK, change_limits(variant=variant))
    return redirect(about(variant, values["pod"]))


def _vary_form(
    request: HttpRequest,
    run: Run,
    values: dict[str, str],
    errors: Sequence[ErrorItem],
    status: HTTPStatus,
    checked: Sequence[ChangeChecked] | None = None,
) -> HttpResponse:
    bad = {int(error["line"]) for error in errors if "line" in error}
    context = run_context(request, run) | {
        "values": values,
        "recreates": recreates(run.scenario),
        "errors": errors,
        "marked": marked_lines(values["changes"], bad) if bad else [],
        "checked": checked,
        "found": [error for error in errors if "line" in error],
    }
    return render(request, "runs/differently.html", context, status=status)
