"""Reads: sessions in which kviz is the extender of a real scheduler."""

from __future__ import annotations

from uuid import UUID

from django.db.models import QuerySet

from kviz.accounts.models import Workspace
from kviz.extenders.models import ExtenderSession
from kviz.runs.models import Run


def session_of_token(token: str) -> ExtenderSession | None:
    """The session a token may add to, with its run; None once it is revoked."""
    sessions = ExtenderSession.objects.select_related("run")
    return sessions.filter(token=token, revoked_at=None).first()


def run_of_token(token: str) -> UUID | None:
    """The run that records what the scheduler with this token calls."""
    sessions = ExtenderSession.objects.filter(token=token)
    return sessions.values_list("run_id", flat=True).first()


def session_of_run(run_id: UUID) -> ExtenderSession | None:
    return ExtenderSession.objects.filter(run_id=run_id).first()


def runs_that_fill(*, workspace: Workspace) -> QuerySet[Run]:
    """Runs of clusters that are followed now, whose events may fill a session."""
    return Run.objects.filter(
        workspace=workspace,
        kind=Run.Kind.OBSERVED,
        outcomes_told=True,
        status=Run.Status.RUNNING,
        extender_session=None,
    )


def session_get(*, session_id: UUID, workspace: Workspace) -> ExtenderSession | None:
    return session_list(workspace=workspace).filter(pk=session_id).first()


def session_list(*, workspace: Workspace) -> QuerySet[ExtenderSession]:
    sessions = ExtenderSession.objects.filter(run__workspace=workspace)
    return sessions.select_related("run__snapshot")
