"""Reads: which workspace a token or a session stands for."""

from __future__ import annotations

import hashlib

from kviz.accounts.models import Workspace

SESSION_KEY = "workspace"


def token_sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def workspace_of_token(token: str) -> Workspace | None:
    return Workspace.objects.filter(tokens__sha256=token_sha256(token)).first()


def workspace_by_id(workspace_id: str) -> Workspace | None:
    return Workspace.objects.filter(pk=workspace_id).first()


def local_workspace() -> Workspace | None:
    return Workspace.objects.filter(kind=Workspace.Kind.LOCAL).first()
