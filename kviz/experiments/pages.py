"""Pages of experiments: the list, the form, one experiment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.problems import ErrorItem
from kviz.experiments import selectors, services
from kviz.experiments.forms import asked_of, start_values
from kviz.experiments.models import Experiment
from kviz.experiments.reading import report_of
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Run
from kviz.runs.pages.access import uuid_of
from kviz.runs.presets import PRESETS
from kviz.runs.selectors import run_get
from kviz.runs.services import run_prepare
from kviz.snapshots import selectors as snapshot_selectors

SHOWN = 200


@require_GET
def experiment_list(request: HttpRequest) -> HttpResponse:
    experiments = selectors.experiments_visible(workspace=workspace_of(request))[:SHOWN]
    context = {"section": "experiments", "experiments": experiments}
    return render(request, "experiments/list.html", context)


@require_GET
def experiment_detail(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    experiment = _own(request, experiment_id)
    context = {
        "section": "experiments",
        "experiment": experiment,
        "report": report_of(experiment),
    }
    return render(request, "experiments/detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def experiment_new(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        return _create(request)
    return _form(request, start_values(request.GET), (), HTTPStatus.OK)


def _create(request: HttpRequest) -> HttpResponse:
    values = start_values(request.POST)
    if refused := too_often(request, "experiment"):
        return _form(request, values, [refused], HTTPStatus.TOO_MANY_REQUESTS)
    try:
        kind, asked = asked_of(request.POST)
        experiment = services.experiment_create(
            workspace=workspace_of(request),
            beginning=_beginning(request),
            kind=kind,
            asked=asked,
            name=request.POST.get("name", ""),
        )
    except InvalidInput as invalid:
        return _form(request, values, invalid.errors, HTTPStatus.BAD_REQUEST)
    except services.TooManyVariants as refused:
        error: ErrorItem = {"message": str(refused)}
        return _form(request, values, [error], HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    except services.TooManyExperiments as refused:
        error = {"message": str(refused)}
        return _form(request, values, [error], HTTPStatus.TOO_MANY_REQUESTS)
    return redirect("experiment-detail", experiment.pk)


def _beginning(request: HttpRequest) -> Run:
    """The run that the variants differ from. Raises InvalidInput and Http404."""
    workspace, share = workspace_of(request), request.POST.get("share", "")
    if run_id := request.POST.get("run"):
        run = run_get(run_id=uuid_of(run_id), workspace=workspace, share=share)
        if run is None:
            raise Http404(run_id)
        return run
    if not (snapshot_id := request.POST.get("snapshot")):
        raise InvalidInput([{"field": "snapshot", "message": _("Choose a cluster.")}])
    snapshot = snapshot_selectors.snapshot_get(
        snapshot_id=uuid_of(snapshot_id), workspace=workspace, share=share
    )
    if snapshot is None:
        raise Http404(snapshot_id)
    return run_prepare(workspace=workspace, snapshot=snapshot)


def _form(
    request: HttpRequest,
    values: Mapping[str, Any],
    errors: Sequence[ErrorItem],
    status: HTTPStatus,
) -> HttpResponse:
    workspace = workspace_of(request)
    share = request.GET.get("share", "") or request.POST.get("share", "")
    run = None
    if values["run"]:
        run = run_get(run_id=uuid_of(values["run"]), workspace=workspace, share=share)
        if run is None:
            raise Http404(values["run"])
    context = {
        "section": "experiments",
        "values": values,
        "errors": errors,
        "run": run,
        "presets": PRESETS,
        "share": share,
        "snapshots": snapshot_selectors.snapshots_visible(workspace=workspace, share=share),
    }
    return render(request, "experiments/new.html", context, status=status)


@require_POST
def experiment_cancel(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    experiment = _own(request, experiment_id)
    if services.experiment_cancel(experiment=experiment):
        messages.info(request, _("The experiment was stopped. Its results so far are stored."))
    return redirect("experiment-detail", experiment_id)


@require_POST
def experiment_delete(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    services.experiment_delete(experiment=_own(request, experiment_id))
    messages.info(request, _("The experiment was deleted."))
    return redirect("experiment-list")


def _own(request: HttpRequest, experiment_id: UUID) -> Experiment:
    """The experiment if it belongs to this workspace. Raises Http404."""
    workspace = workspace_of(request)
    found = selectors.experiment_get(experiment_id=experiment_id, workspace=workspace)
    if found is None:
        raise Http404(experiment_id)
    return found
