"""Reads: which workspace a token or a session stands for."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from django.conf import settings

from kviz.accounts.models import Workspace
from kviz.common.mode import Mode

SESSION_KEY = "workspace"


def token_sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def workspace_of_token(token: str) -> Workspace | None:
    return Workspace.objects.filter(tokens__sha256=token_sha256(token)).first()


def workspace_of_browser(session: Mapping[str, object]) -> Workspace | None:
    """The workspace a browser has already: the local one, or the one its session began."""
    if settings.MODE == Mode.LOCAL:
        return local_workspace()
    known = session.get(SESSION_KEY)
    return workspace_by_id(known) if isinstance(known, str) else None


def workspace_by_id(workspace_id: str) -> Workspace | None:
    return Workspace.objects.filter(pk=workspace_id).first()


def local_workspace() -> Workspace | None:
    return Workspace.objects.filter(kind=Workspace.Kind.LOCAL).first()
