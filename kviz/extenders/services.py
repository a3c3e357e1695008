"""Writes: sessions in which kviz is the extender of a real scheduler."""

from __future__ import annotations

import secrets

from django.utils import timezone

from kviz.accounts.models import Workspace
from kviz.extenders.models import ExtenderSession


def session_create(*, workspace: Workspace, name: str = "") -> ExtenderSession:
    """Begin a session with a token nobody can guess."""
    return ExtenderSession.objects.create(
        workspace=workspace, name=name, token=secrets.token_urlsafe(32)
    )


def session_revoke(*, session: ExtenderSession) -> None:
    """Answer no more requests with this session's token; what was seen stays."""
    ExtenderSession.objects.filter(pk=session.pk, revoked_at=None).update(revoked_at=timezone.now())


def session_delete(*, session: ExtenderSession) -> None:
    session.delete()
