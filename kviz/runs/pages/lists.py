"""The runs of a workspace, and opening one from a file."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.listing import one_of, page_of, text_in, ticked
from kviz.common.problems import ErrorItem
from kviz.run_file import RunFileError
from kviz.runs import selectors, services
from kviz.runs.models import Run
from kviz.runs.pages.access import own_run_of
from kviz.runs.selectors import Differs, RunFilter
from kviz.snapshots.api import stream_of
from kviz.snapshots.models import Snapshot
from kviz.snapshots.templatetags.snapshot_titles import title_of
from scheduler_core.wording import told

ORDERS: Final = {
    "oldest": ("created_at",),
    "cluster": ("snapshot__name", "-created_at"),
    "pending": ("-pending", "-created_at"),
}
"""Of the list, but for its own: the newest first."""


@require_GET
def run_list(request: HttpRequest) -> HttpResponse:
    return _run_list(request)


def _run_list(
    request: HttpRequest,
    problems: Sequence[ErrorItem] = (),
    status: HTTPStatus = HTTPStatus.OK,
    refused: str = "",
) -> HttpResponse:
    workspace = workspace_of(request)
    clusters = list(selectors.clusters_run(workspace=workspace))
    wanted = _wanted(request, clusters)
    runs = selectors.runs_filtered(workspace=workspace, wanted=wanted)
    context = {
        "section": "runs",
        "page": page_of(request, runs, ORDERS),
        "sort": one_of(request, "sort", ORDERS),
        "orders": ORDERS,
        "wanted": wanted,
        "clusters": clusters,
        "statuses": Run.Status.values,
        "has_links": selectors.links_of(workspace=workspace).exists(),
        "problems": problems,
        "problems_title": refused or _("This could not be opened"),
    }
    return render(request, "runs/list.html", context, status=status)


def _wanted(request: HttpRequest, clusters: Sequence[Snapshot]) -> RunFilter:
    """What the address asks for; a value that there is not narrows nothing."""
    text = text_in(request)
    cluster = request.GET.get("cluster", "")
    return RunFilter(
        text=text,
        named=tuple(
            each.pk for each in clusters if text and text.lower() in title_of(each).lower()
        ),
        snapshot=next((each.pk for each in clusters if str(each.pk) == cluster), None),
        status=one_of(request, "status", Run.Status.values),
        differs=Differs(one_of(request, "differs", list(Differs))),
    )


@require_POST
def runs_delete(request: HttpRequest) -> HttpResponse:
    """Delete the runs that were ticked."""
    runs = ticked(request, "run", own_run_of)
    if not runs:
        nothing: ErrorItem = {"message": _("Select the runs to delete.")}
        return _run_list(request, [nothing], HTTPStatus.BAD_REQUEST, _("Nothing was deleted"))
    services.runs_delete(runs=runs)
    text = ngettext("%(n)d run was deleted.", "%(n)d runs were deleted.", len(runs))
    messages.info(request, text % {"n": len(runs)})
    return redirect("run-list")


@require_POST
def run_open(request: HttpRequest) -> HttpResponse:
    """Open a run that was saved as a file, here or on another machine."""
    file = request.FILES.get("file") or request.FILES.get("files")
    if file is None:
        nothing: ErrorItem = {"message": _("Choose a file that ends in .kviz.")}
        return _run_list(request, [nothing], HTTPStatus.BAD_REQUEST)
    if refused := too_often(request, "upload"):
        return _run_list(request, [refused], HTTPStatus.TOO_MANY_REQUESTS)
    try:
        run = services.run_open(workspace=workspace_of(request), file=stream_of(file))
    except RunFileError as error:
        problem: ErrorItem = {"file": file.name or "", "message": told(error)}
        return _run_list(request, [problem], HTTPStatus.BAD_REQUEST)
    messages.success(request, _("The run was opened from the file and is now one of your runs."))
    return redirect("run-detail", run.pk)
