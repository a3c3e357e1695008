"""The runs of a workspace, and opening one from a file."""

from __future__ import annotations

from collections.abc import Sequence
from http import HTTPStatus

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from kviz.accounts.middleware import workspace_of
from kviz.accounts.throttling import too_often
from kviz.common.problems import ErrorItem
from kviz.run_file import RunFileError
from kviz.runs import selectors, services
from kviz.snapshots.api import stream_of
from scheduler_core.wording import told

RUNS_SHOWN = 200


@require_GET
def run_list(request: HttpRequest) -> HttpResponse:
    return _run_list(request)


def _run_list(
    request: HttpRequest, problems: Sequence[ErrorItem] = (), status: HTTPStatus = HTTPStatus.OK
) -> HttpResponse:
    context = {
        "section": "runs",
        "runs": selectors.runs_visible(workspace=workspace_of(request))[:RUNS_SHOWN],
        "has_links": selectors.links_of(workspace=workspace_of(request)).exists(),
        "problems": problems,
        "problems_title": _("This could not be opened"),
    }
    return render(request, "runs/list.html", context, status=status)


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
