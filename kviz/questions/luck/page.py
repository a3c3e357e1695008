"""How lucky a run's placements were: asked, and shown."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from kviz.accounts.throttling import too_often
from kviz.common.problems import ErrorItem
from kviz.experiments.models import Experiment
from kviz.questions.luck.read import luck_of
from kviz.questions.luck.services import RUNS, is_small, luck_find
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Run
from kviz.runs.pages.access import own_run_of, run_context, run_of
from kviz.runs.selectors import may_ask


@require_http_methods(["GET", "HEAD", "POST"])
def run_luck(request: HttpRequest, run_id: UUID) -> HttpResponse:
    """Which placements of the run hold whatever coins come up."""
    if request.method != "POST":
        return _page(request, run_of(request, run_id))
    run = own_run_of(request, run_id)
    if refused := too_often(request, "run"):
        return _page(request, run, [refused], HTTPStatus.TOO_MANY_REQUESTS)
    try:
        luck_find(run=run)
    except InvalidInput as invalid:
        return _page(request, run, list(invalid.errors), HTTPStatus.BAD_REQUEST)
    return redirect("run-luck", run.pk)


def _page(
    request: HttpRequest,
    run: Run,
    errors: list[ErrorItem] | None = None,
    status: HTTPStatus = HTTPStatus.OK,
) -> HttpResponse:
    if not may_ask(run):
        raise Http404(run.pk)
    context = run_context(request, run) | {
        "luck": luck_of(run),
        "is_small": is_small(run),
        "n_runs": RUNS,
        "experiment": _experiment(run),
        "errors": errors or [],
    }
    return render(request, "questions/luck/page.html", context, status=status)


def _experiment(run: Run) -> Experiment | None:
    """The newest finished experiment about a run as it began."""
    found = Experiment.objects.filter(run=run, kind="luck", status=Experiment.Status.FINISHED)
    return found.first()
