"""The form that asks what an upgrade changes, and the way to both runs side by side."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.http import require_http_methods, require_POST

from kviz.accounts.throttling import too_often
from kviz.common.limits import TooManyAtOnce
from kviz.common.problems import ErrorItem
from kviz.common.wording import translated
from kviz.experiments.kinds import refused
from kviz.experiments.models import Experiment
from kviz.experiments.pages.access import (
    Values,
    beginning_of,
    experiment_begun,
    form_context,
    own_experiment_of,
    page_of_what_begins,
    run_named,
    share_in,
    snapshot_named,
)
from kviz.questions.rehearse.answer import newest_but
from kviz.questions.rehearse.services import both_runs
from kviz.runs.inputs import InvalidInput, release_for
from kviz.runs.models import Run
from scheduler_core.changes.lines import read_gate
from scheduler_core.config import ConfigError
from scheduler_core.releases import LATEST, RELEASES
from scheduler_core.releases.choosing import AUTO, NOTHING, Chosen
from scheduler_core.wording import told

TEXTS: Final = ("snapshot", "run", "from", "to", "scheduler_config", "feature_gates", "name")


@require_http_methods(["GET", "HEAD", "POST"])
def rehearse_new(request: HttpRequest) -> HttpResponse:
    """What an upgrade of the scheduler changes for a cluster."""
    given = request.POST if request.method == "POST" else request.GET
    values = {name: given.get(name, "") for name in TEXTS}
    if request.method != "POST":
        return _form(request, values)

    def begin() -> Experiment:
        beginning = beginning_of(
            request,
            values,
            release=values["from"] or AUTO,
            scheduler_config=values["scheduler_config"] or None,
            feature_gates=_gates(values["feature_gates"]),
        )
        asked = {"to": values["to"]}
        return experiment_begun(request, beginning, "rehearse", asked, values["name"])

    return page_of_what_begins(begin, partial(_form, request, values), share_in(request))


def _gates(text: str) -> dict[str, bool]:
    """The gates that are switched today. Raises InvalidInput."""
    try:
        read = [read_gate(part) for part in text.replace(",", " ").split()]
    except ConfigError as error:
        raise refused("feature_gates", told(error)) from error
    return {each.gate: each.enabled for each in read}


def _begun(run: Run | None, chosen: Chosen | None) -> dict[str, str]:
    """What the form begins with: from what the cluster says, to the newest other release."""
    if run is not None:
        return {"to": newest_but(run.release_name)}
    if chosen is None or chosen.told == NOTHING:
        return {"from": newest_but(LATEST.name), "to": LATEST.name}
    return {"from": AUTO, "to": newest_but(chosen.release.name)}


def _form(
    request: HttpRequest,
    values: Values,
    errors: Sequence[ErrorItem] = (),
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    context = form_context(request, values, errors, values["scheduler_config"])
    run, snapshot = run_named(request, values), snapshot_named(request, values)
    chosen = release_for(AUTO, snapshot) if snapshot else None
    context |= {
        "values": _begun(run, chosen) | {name: text for name, text in values.items() if text},
        "releases": list(RELEASES),
        "auto": AUTO,
        "today": chosen.text if chosen else "",
    }
    return render(request, "questions/rehearse/page.html", context, status=status)


@require_POST
def rehearsal_both(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    """Open the runs under both releases side by side, where they first diverge."""
    experiment = own_experiment_of(request, experiment_id)
    try:
        if refusal := too_often(request, "run"):
            raise TooManyAtOnce(str(refusal["message"]))
        a, b = both_runs(experiment=experiment)
    except (InvalidInput, TooManyAtOnce) as problem:
        messages.error(request, translated(told(problem)))
        return redirect("experiment-detail", experiment_id)
    query = urlencode({"a": str(a.pk), "b": str(b.pk)})
    return redirect(f"{reverse('run-compare')}?{query}")
