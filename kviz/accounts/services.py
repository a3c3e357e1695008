"""Writes: workspaces and tokens come into being here."""

from __future__ import annotations

import datetime as dt
import os
import secrets
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.sessions.backends.base import SessionBase
from django.core.management import call_command
from django.utils import timezone

from kviz.accounts import selectors
from kviz.accounts.models import ApiToken, Workspace
from kviz.common.mode import Mode

SEEN_AGAIN_AFTER: Final = dt.timedelta(days=1)


def local_workspace_ensure() -> Workspace:
    """The one workspace of local mode, made on first use."""
    workspace, _ = Workspace.objects.get_or_create(kind=Workspace.Kind.LOCAL)
    return workspace


def workspace_for_session(*, session: SessionBase) -> Workspace:
    """The workspace of a browser: the local one, or in server mode the session's own."""
    workspace = selectors.workspace_of_browser(session)
    if workspace is None and settings.MODE == Mode.LOCAL:
        return local_workspace_ensure()
    if workspace is None:
        workspace = Workspace.objects.create(kind=Workspace.Kind.GUEST)
        session[selectors.SESSION_KEY] = str(workspace.pk)
    if workspace_seen(workspace=workspace):
        session.modified = True  # or it would end though its guest is there
    return workspace


def workspace_seen(*, workspace: Workspace) -> bool:
    """Note that a guest is there, once a day; say whether that was due."""
    now = timezone.now()
    if workspace.kind != Workspace.Kind.GUEST or now - workspace.seen_at < SEEN_AGAIN_AFTER:
        return False
    workspace.seen_at = now
    workspace.save(update_fields=["seen_at"])
    return True


def guests_prune() -> int:
    """Delete what guests left behind whose sessions have ended; return how many they were."""
    call_command("clearsessions")
    ended = timezone.now() - dt.timedelta(seconds=settings.SESSION_COOKIE_AGE)
    gone = Workspace.objects.filter(kind=Workspace.Kind.GUEST, seen_at__lt=ended - SEEN_AGAIN_AFTER)
    return gone.delete()[1].get(Workspace._meta.label, 0)


def token_create(*, workspace: Workspace) -> str:
    """Make a token and return its text, which is not stored."""
    token = f"kviz_{secrets.token_urlsafe(32)}"
    ApiToken.objects.create(sha256=selectors.token_sha256(token), workspace=workspace)
    return token


def local_token_ensure(*, folder: Path) -> str:
    """The token of the local workspace; its text is in a file only the owner can read.

    Without the file there is a new one, and in local mode the old one no longer opens anything.
    """
    file = folder / "token"
    if file.exists():
        token = file.read_text(encoding="ascii").strip()
        if selectors.workspace_of_token(token) is not None:
            return token
        file.unlink()
    workspace = local_workspace_ensure()
    if settings.MODE == Mode.LOCAL:  # on a server each data folder has its own
        workspace.tokens.all().delete()
    token = token_create(workspace=workspace)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(token + "\n")
    return token
