"""Who did what when: entries are added, read, and deleted when they are old; nothing changes one.

Services note what they did (`note_done`); who signs in and who the members are is noted by the
pages of accounts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final
from uuid import UUID

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils import timezone

from kviz.accounts.access import Access
from kviz.accounts.models import AuditEntry

What = AuditEntry.What
MAX_ABOUT_CHARS: Final = 200

_ACTING: Final[ContextVar[HttpRequest | None]] = ContextVar("acting", default=None)
"""The request that is being answered."""


def note(what: What, *, who: str, workspace: UUID | None = None, about: str = "") -> AuditEntry:
    """Write down what somebody did, in a workspace or on the server."""
    return AuditEntry.objects.create(
        what=what, who=who, workspace_id=workspace, about=about[:MAX_ABOUT_CHARS]
    )


@contextmanager
def acting(request: HttpRequest) -> Iterator[None]:
    """Attribute what services record meanwhile to the person who made the request."""
    token = _ACTING.set(request)
    try:
        yield
    finally:
        _ACTING.reset(token)


def note_done(what: What, about: str) -> None:
    """Write down what a service did, if a person asked for it, from a browser or with a token.

    Nothing is written for guests, in local mode, and for what workers and commands do.
    """
    request = _ACTING.get()
    if request is None:
        return
    access: Access = getattr(request, "auth", None) or request.access  # type: ignore[attr-defined]
    if access.person is not None:
        note(what, who=access.person.username, workspace=access.workspace.pk, about=about)


def entries_of(*, workspace_id: UUID) -> QuerySet[AuditEntry]:
    """What was done in a workspace, the latest first."""
    return AuditEntry.objects.filter(workspace_id=workspace_id).order_by("-pk")


def entries_all() -> QuerySet[AuditEntry]:
    """What was done on this server, the latest first."""
    return AuditEntry.objects.order_by("-pk")


def audit_prune() -> int:
    """Delete what is older than the log is kept; return how many entries."""
    kept_since = timezone.now() - dt.timedelta(days=settings.AUDIT_DAYS)
    return AuditEntry.objects.filter(at__lt=kept_since).delete()[0]


def known_name(name: object) -> str:
    """A name that failed to sign in, if there is such an account: others may be passwords."""
    return name if isinstance(name, str) and User.objects.filter(username=name).exists() else ""
