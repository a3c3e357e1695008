"""The run of an address, who may see it, and what every page shows of it."""

from __future__ import annotations

from uuid import UUID

from django.http import Http404, HttpRequest
from django.urls import reverse

from kviz.accounts.middleware import share_of, workspace_of
from kviz.common.problems import Gone
from kviz.runs import selectors
from kviz.runs.models import Run
from kviz.runs.sharing import link_opened
from kviz.runs.titles import ended_text


def run_of(request: HttpRequest, run_id: UUID) -> Run:
    """The run this request may see. Raises Http404, and Gone if a link no longer opens it."""
    workspace, share = workspace_of(request), share_of(request)
    run = selectors.run_get(run_id=run_id, workspace=workspace, share=share)
    if run is None:
        if (ended := selectors.link_ended(run_id=run_id, share=share)) is not None:
            raise Gone(ended_text(ended))
        raise Http404(run_id)
    if run.workspace_id != workspace.pk:
        link_opened(token=share)
    return run


def own_run_of(request: HttpRequest, run_id: UUID) -> Run:
    """The run if it belongs to this workspace: sharing opens reading only. Raises Http404."""
    run = selectors.run_get(run_id=run_id, workspace=workspace_of(request))
    if run is None:
        raise Http404(run_id)
    return run


def about(run: Run, pod: str) -> str:
    """Where a person lands after a change: at the pod that was looked at, else at the run."""
    namespace, _, name = pod.partition("/")
    return (
        reverse("run-why", args=[run.pk, namespace, name])
        if name
        else reverse("run-detail", args=[run.pk])
    )


def run_context(request: HttpRequest, run: Run) -> dict[str, object]:
    """What every page of a run needs."""
    return {
        "section": "runs",
        "run": run,
        "is_own": run.workspace_id == workspace_of(request).pk,
        "share": share_of(request),
    }
