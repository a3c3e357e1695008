"""What begins a search for what would let a pod bind, and what the pod's page shows of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from http import HTTPStatus

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.views.decorators.http import require_POST

from kviz.accounts.middleware import workspace_of
from kviz.common.problems import ErrorItem
from kviz.experiments.models import Experiment
from kviz.experiments.pages.access import (
    experiment_begun,
    page_of_what_begins,
    run_named,
    share_in,
    with_share,
)
from kviz.experiments.selectors import experiments_visible, results_of
from kviz.questions.unblock.report import read
from kviz.runs.models import Run


@require_POST
def unblock_begin(request: HttpRequest) -> HttpResponse:
    """Search for what would let a pending pod of a run bind."""
    pod = request.POST.get("pod", "")
    values = {"run": request.POST.get("run", ""), "snapshot": ""}
    run = run_named(request, values)
    if run is None:
        raise Http404(pod)

    def begin() -> Experiment:
        asked = {"pod": pod, "owner": bool(request.POST.get("owner"))}
        return experiment_begun(request, run, "unblock", asked, "")

    def refused(errors: Sequence[ErrorItem], _status: HTTPStatus) -> HttpResponse:
        for error in errors:
            messages.error(request, str(error["message"]))
        return redirect(with_share(reverse("run-detail", args=[run.pk]), share_in(request)))

    return page_of_what_begins(begin, refused, share_in(request))


def on_pod(request: HttpRequest, run: Run, pod: str) -> Mapping[str, object]:
    """The newest search of the reader about a pod of a run, and what it has found."""
    mine = experiments_visible(workspace=workspace_of(request))
    about = mine.filter(run=run, kind="unblock", asked__pod=pod)
    experiment = about.exclude(status=Experiment.Status.FAILED).first()
    if experiment is None:
        return {}
    results = [each for each in results_of(experiment=experiment) if "problem" not in each.outcome]
    return {"experiment": experiment, "found": read(experiment, results)}
