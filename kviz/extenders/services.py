"""Writes: sessions in which kviz is the extender of a real scheduler."""

from __future__ import annotations

import secrets
import time
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import ngettext

from kviz.accounts.audit import What, note_done
from kviz.accounts.models import Workspace
from kviz.common.limits import TooManyAtOnce
from kviz.extenders.known import known_sessions
from kviz.extenders.models import ExtenderSession
from kviz.extenders.observer import Observer
from kviz.runs.execution.observe import observed_run_create, observed_run_finish
from kviz.runs.models import Run
from kviz.snapshots.models import Snapshot
from kviz.snapshots.selectors import snapshot_objects


@transaction.atomic
def session_create(
    *,
    workspace: Workspace,
    name: str = "",
    snapshot: Snapshot | None = None,
    filled_by: Run | None = None,
) -> ExtenderSession:
    """Begin a session with a token nobody can guess, and the run that records it.

    Nodes look as in the snapshot, or as the followed cluster tells; without either, only their
    names are known. Raises TooManyAtOnce.
    """
    _refuse_another(workspace)
    observer = Observer()
    known = snapshot_objects(snapshot=snapshot) if snapshot else ()
    observer.begin(time.time_ns(), known)
    run = observed_run_create(
        workspace=workspace,
        name=name,
        snapshot=snapshot,
        events=observer.drain(),
        outcomes_told=filled_by is not None,
    )
    token = secrets.token_urlsafe(32)
    return ExtenderSession.objects.create(run=run, token=token, filled_by=filled_by)


def _refuse_another(workspace: Workspace) -> None:
    """Raise TooManyAtOnce if the workspace has as many sessions listening as it may."""
    most = settings.MAX_SESSIONS
    listening = ExtenderSession.objects.filter(run__workspace=workspace, revoked_at=None)
    if most is None or listening.count() < most:
        return
    text = ngettext(
        "You have %(n)d live session. Revoke it before you begin another.",
        "You have %(n)d live sessions. Revoke one before you begin another.",
        most,
    )
    raise TooManyAtOnce(text % {"n": most})


def session_filled(*, run_id: UUID, seq: int) -> None:
    """Note how far the followed run was read."""
    ExtenderSession.objects.filter(run_id=run_id).update(filled_seq=seq)


def calls_missed(*, run_id: UUID, n: int) -> None:
    """Count calls of a session that could not be recorded."""
    Run.objects.filter(pk=run_id).update(calls_missed=F("calls_missed") + n)


def session_revoke(*, session: ExtenderSession) -> None:
    """Answer no more requests with this session's token, and end its run; what was seen stays."""
    ExtenderSession.objects.filter(pk=session.pk, revoked_at=None).update(revoked_at=timezone.now())
    transaction.on_commit(lambda: known_sessions.forget(session.token))
    observed_run_finish(run_id=session.run_id)


@transaction.atomic
def session_delete(*, session: ExtenderSession) -> None:
    """End the run, which stays, and forget the token."""
    note_done(What.DELETE, reverse("extender-session", args=[session.pk]))
    session_revoke(session=session)
    session.delete()
