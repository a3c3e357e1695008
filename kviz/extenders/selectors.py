"""Reads: sessions and what was asked in them."""

from __future__ import annotations

from uuid import UUID

from django.db.models import Count, Max, QuerySet

from kviz.accounts.models import Workspace
from kviz.extenders.models import ExtenderRequest, ExtenderSession


def session_of_token(token: str) -> ExtenderSession | None:
    """The session a token may add to; None once it is revoked."""
    return ExtenderSession.objects.filter(token=token, revoked_at=None).first()


def session_get(*, session_id: UUID, workspace: Workspace) -> ExtenderSession | None:
    return ExtenderSession.objects.filter(pk=session_id, workspace=workspace).first()


def session_list(*, workspace: Workspace) -> QuerySet[ExtenderSession]:
    """The sessions of a workspace, with `n_requests` and `last_at`."""
    return ExtenderSession.objects.filter(workspace=workspace).annotate(
        n_requests=Count("requests"), last_at=Max("requests__at")
    )


def latest_requests(*, session: ExtenderSession, limit: int) -> list[ExtenderRequest]:
    """The last so many requests, in the order in which they came."""
    return list(session.requests.order_by("-id")[:limit])[::-1]
