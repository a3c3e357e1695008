"""What a page of experiments is about, and who may see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from typing import Any, Unpack
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.limits import TooManyAtOnce
from kviz.common.listing import uuid_of
from kviz.common.problems import ErrorItem
from kviz.experiments import selectors, services
from kviz.experiments.models import Experiment
from kviz.runs.inputs import InvalidInput
from kviz.runs.marked_text import marked_lines
from kviz.runs.models import Run
from kviz.runs.selectors import run_get
from kviz.runs.services import RunInputs, run_prepare
from kviz.snapshots import selectors as snapshot_selectors
from kviz.snapshots.models import Snapshot
from scheduler_core.api import KubeObject

Values = Mapping[str, Any]
"""What a form holds."""


class NotStarted(Exception):
    """An experiment that a form requests is not possible; `errors` say why."""

    def __init__(self, errors: list[ErrorItem], status: HTTPStatus) -> None:
        super().__init__("; ".join(str(each["message"]) for each in errors))
        self.errors = errors
        self.status = status


def share_in(request: HttpRequest) -> str:
    """The share token of the address or of the form."""
    return request.GET.get("share", "") or request.POST.get("share", "")


def with_share(address: str, share: str) -> str:
    """An address, with the share token if there is one."""
    return f"{address}?{urlencode({'share': share})}" if share else address


def own_experiment_of(request: HttpRequest, experiment_id: UUID) -> Experiment:
    """The experiment if it belongs to this workspace. Raises Http404."""
    workspace = workspace_of(request)
    found = selectors.experiment_get(experiment_id=experiment_id, workspace=workspace)
    if found is None:
        raise Http404(experiment_id)
    return found


def run_named(request: HttpRequest, values: Mapping[str, Any]) -> Run | None:
    """The run at whose beginning it is to start, None if none is named. Raises Http404."""
    if not values["run"]:
        return None
    workspace = workspace_of(request)
    run = run_get(run_id=uuid_of(values["run"]), workspace=workspace, share=share_in(request))
    if run is None:
        raise Http404(values["run"])
    return run


def snapshot_named(request: HttpRequest, values: Mapping[str, Any]) -> Snapshot | None:
    """The cluster that is named, None if none is. Raises Http404."""
    if not values["snapshot"]:
        return None
    found = snapshot_selectors.snapshot_get(
        snapshot_id=uuid_of(values["snapshot"]),
        workspace=workspace_of(request),
        share=share_in(request),
    )
    if found is None:
        raise Http404(values["snapshot"])
    return found


def beginning_of(
    request: HttpRequest, values: Mapping[str, Any], **inputs: Unpack[RunInputs]
) -> Run:
    """The run that the variants differ from; `inputs` are of one that is made of a cluster.

    Raises InvalidInput and Http404.
    """
    run = run_named(request, values)
    if run is not None:
        return run
    snapshot = snapshot_named(request, values)
    if snapshot is None:
        raise InvalidInput([{"field": "snapshot", "message": _("Choose a cluster.")}])
    return run_prepare(workspace=workspace_of(request), snapshot=snapshot, **inputs)


def experiment_begun(
    request: HttpRequest, beginning: Run, kind: str, asked: object, name: str
) -> Experiment:
    """Queue what a form asks for. Raises NotStarted and InvalidInput."""
    if refused := too_often(request, "experiment"):
        raise NotStarted([refused], HTTPStatus.TOO_MANY_REQUESTS)
    try:
        return services.experiment_create(
            workspace=workspace_of(request), beginning=beginning, kind=kind, asked=asked, name=name
        )
    except services.TooManyVariants as many:
        error: ErrorItem = {"message": str(many)}
        raise NotStarted([error], HTTPStatus.REQUEST_ENTITY_TOO_LARGE) from many
    except TooManyAtOnce as many:
        error = {"message": str(many)}
        raise NotStarted([error], HTTPStatus.TOO_MANY_REQUESTS) from many


def page_of_what_begins(
    begin: Callable[[], Experiment],
    form: Callable[[Sequence[ErrorItem], HTTPStatus], HttpResponse],
    share: str,
) -> HttpResponse:
    """Begin an experiment and lead to its page; the form again if it is not possible.

    With `share` the page leads back to a run of somebody else's.
    """
    try:
        experiment = begin()
    except InvalidInput as invalid:
        return form(invalid.errors, HTTPStatus.BAD_REQUEST)
    except NotStarted as refused:
        return form(refused.errors, refused.status)
    return redirect(with_share(reverse("experiment-detail", args=[experiment.pk]), share))


def form_context(
    request: HttpRequest, values: Values, errors: Sequence[ErrorItem], text: str
) -> dict[str, object]:
    """What the form of a question shows; `text` is what lines of errors are about."""
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
        "snapshots": snapshot_selectors.snapshots_visible(workspace=workspace, share=share),
    }


def objects_named(request: HttpRequest, values: Values) -> Sequence[KubeObject]:
    """The objects of the cluster as it was uploaded, none before one is chosen."""
    run = run_named(request, values)
    snapshot = run.snapshot if run is not None else snapshot_named(request, values)
    return (
        list(snapshot_selectors.snapshot_objects(snapshot=snapshot)) if snapshot is not None else []
    )
