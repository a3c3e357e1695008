"""Pages of experiments: the list, the form, one experiment."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from http import HTTPStatus
from typing import Final
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.listing import one_of, page_of, text_in, ticked
from kviz.common.problems import ErrorItem
from kviz.common.wording import translated
from kviz.experiments import selectors, services
from kviz.experiments.forms import asked_of, choices, start_values
from kviz.experiments.kinds import kinds
from kviz.experiments.models import Experiment
from kviz.experiments.pages.access import (
    beginning_of,
    experiment_begun,
    own_experiment_of,
    page_of_what_begins,
    run_named,
    share_in,
)
from kviz.experiments.reading.report import report_of
from kviz.runs.inputs import InvalidInput
from kviz.snapshots import selectors as snapshot_selectors
from kviz.snapshots.models import Snapshot
from kviz.snapshots.templatetags.snapshot_titles import title_of
from scheduler_core.wording import told

ORDERS: Final = {
    "oldest": ("created_at",),
    "cluster": ("snapshot__name", "-created_at"),
}
"""Of the list, but for its own: the newest first."""
MAX_DIGITS = 9
"""Of the number of a variant."""


@require_GET
def experiment_list(request: HttpRequest) -> HttpResponse:
    return _list(request)


def _list(
    request: HttpRequest,
    problems: Sequence[ErrorItem] = (),
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    workspace = workspace_of(request)
    clusters = list(selectors.clusters_asked_about(workspace=workspace))
    wanted = _wanted(request, clusters)
    found = selectors.experiments_filtered(workspace=workspace, wanted=wanted)
    context = {
        "section": "experiments",
        "page": page_of(request, found, ORDERS),
        "wanted": wanted,
        "sort": one_of(request, "sort", ORDERS),
        "orders": ORDERS,
        "clusters": clusters,
        "kinds": [(each.name, each.title({})) for each in kinds()],
        "statuses": Experiment.Status.values,
        "problems": problems,
        "problems_title": _("Nothing was deleted"),
    }
    return render(request, "experiments/list.html", context, status=status)


def _wanted(request: HttpRequest, clusters: Sequence[Snapshot]) -> selectors.ExperimentFilter:
    """What the address asks for; a value that there is not narrows nothing."""
    text = text_in(request)
    cluster = request.GET.get("cluster", "")
    return selectors.ExperimentFilter(
        text=text,
        named=tuple(
            each.pk for each in clusters if text and text.lower() in title_of(each).lower()
        ),
        kind=one_of(request, "kind", [each.name for each in kinds()]),
        snapshot=next((each.pk for each in clusters if str(each.pk) == cluster), None),
        status=one_of(request, "status", Experiment.Status.values),
    )


@require_POST
def experiments_delete(request: HttpRequest) -> HttpResponse:
    """Delete the experiments that were ticked."""
    found = ticked(request, "experiment", own_experiment_of)
    if not found:
        nothing: ErrorItem = {"message": _("Select the experiments to delete.")}
        return _list(request, [nothing], HTTPStatus.BAD_REQUEST)
    services.experiments_delete(experiments=found)
    text = ngettext("%(n)d experiment was deleted.", "%(n)d experiments were deleted.", len(found))
    messages.info(request, text % {"n": len(found)})
    return redirect("experiment-list")


@require_GET
def experiment_detail(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    experiment = own_experiment_of(request, experiment_id)
    report = report_of(experiment)
    answer, more = report.told(is_over=experiment.status == Experiment.Status.FINISHED)
    context = {
        "section": "experiments",
        "experiment": experiment,
        "report": report,
        "answer": answer,
        "more": more,
        "share": share_in(request),
    }
    return render(request, "experiments/detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def experiment_new(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        return _create(request)
    return _form(request, request.GET, (), HTTPStatus.OK)


def _create(request: HttpRequest) -> HttpResponse:
    values = start_values(request.POST)

    def begin() -> Experiment:
        kind, asked = asked_of(request.POST)
        return experiment_begun(request, beginning_of(request, values), kind, asked, values["name"])

    return page_of_what_begins(begin, partial(_form, request, request.POST), share_in(request))


def _form(
    request: HttpRequest,
    given: QueryDict,
    errors: Sequence[ErrorItem],
    status: HTTPStatus,
) -> HttpResponse:
    workspace, share = workspace_of(request), share_in(request)
    values = start_values(given)
    context = {
        "section": "experiments",
        "values": values,
        "errors": errors,
        "run": run_named(request, values),
        "choices": [(each.template, each.shown(given)) for each in choices()],
        "pages": [(each.title({}), each.page) for each in kinds() if each.page],
        "share": share,
        "snapshots": snapshot_selectors.snapshots_visible(workspace=workspace, share=share),
    }
    return render(request, "experiments/new.html", context, status=status)


@require_POST
def experiment_cancel(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    experiment = own_experiment_of(request, experiment_id)
    if services.experiment_cancel(experiment=experiment):
        messages.info(request, _("The experiment was stopped. Its results so far are stored."))
    return redirect("experiment-detail", experiment_id)


@require_POST
def experiment_delete(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    services.experiment_delete(experiment=own_experiment_of(request, experiment_id))
    messages.info(request, _("The experiment was deleted."))
    return redirect("experiment-list")


@require_POST
def experiment_run(request: HttpRequest, experiment_id: UUID) -> HttpResponse:
    """Run the cluster with what the experiment says to add or to change, and step through it."""
    experiment = own_experiment_of(request, experiment_id)
    if refused := too_often(request, "run"):
        messages.error(request, str(refused["message"]))
        return redirect("experiment-detail", experiment_id)
    try:
        variant = request.POST.get("variant", "0")
        number = int(variant) if variant.isdecimal() and len(variant) < MAX_DIGITS else 0
        run = services.experiment_run(experiment=experiment, variant=number)
    except InvalidInput as invalid:
        messages.error(request, translated(told(invalid)))
        return redirect("experiment-detail", experiment_id)
    if "/" in (pod := str(experiment.asked.get("pod", ""))):
        return redirect("run-why", run.pk, *pod.split("/", 1))
    return redirect(f"{reverse('run-explore', args=[run.pk])}?c=1")
