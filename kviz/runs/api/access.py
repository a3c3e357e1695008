"""REST: which run or cluster a request may read, and which run it may change."""

from __future__ import annotations

from http import HTTPStatus
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request

from kviz.accounts.authentication import workspace_in
from kviz.accounts.middleware import share_of
from kviz.common.problems import Problem
from kviz.runs import selectors
from kviz.runs.models import Run
from kviz.runs.sharing import link_opened
from kviz.runs.titles import ended_text
from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import snapshot_get
from scheduler_core.wording import say

SHARE = OpenApiParameter("share", str, description="A share token, instead of the workspace's.")


def readable_run(request: Request, run_id: UUID) -> Run:
    """A run of the workspace, or one that the share token opens. Raises Problem."""
    workspace, share = workspace_in(request), share_of(request._request)
    run = selectors.run_get(run_id=run_id, workspace=workspace, share=share)
    if run is None:
        if (ended := selectors.link_ended(run_id=run_id, share=share)) is not None:
            raise Problem(HTTPStatus.GONE, ended_text(ended))
        raise Problem(
            HTTPStatus.NOT_FOUND, say("run.none", "There is no such run in this workspace.")
        )
    if run.workspace_id != workspace.pk:
        link_opened(token=share)
    return run


def own_run(request: Request, run_id: UUID) -> Run:
    """A run that may be changed: a share token is not enough. Raises Problem."""
    run = readable_run(request, run_id)
    if run.workspace_id != workspace_in(request).pk:
        raise Problem(
            HTTPStatus.FORBIDDEN,
            say("run.of_other_workspace", "This run belongs to another workspace."),
        )
    return run


def readable_snapshot(request: Request, snapshot_id: UUID) -> Snapshot:
    """A cluster of the workspace, a sample, or one that the share token opens. Raises Problem."""
    workspace, share = workspace_in(request), share_of(request._request)
    found = snapshot_get(snapshot_id=snapshot_id, workspace=workspace, share=share)
    if found is None:
        raise Problem(
            HTTPStatus.NOT_FOUND,
            say("snapshot.none", "There is no such snapshot in this workspace."),
        )
    return found
