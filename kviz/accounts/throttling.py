"""How often a workspace may ask for the expensive things (server mode only)."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Literal, cast

from django.http import HttpRequest
from django.utils.translation import ngettext
from rest_framework.request import Request
from rest_framework.throttling import ScopedRateThrottle

from kviz.accounts.authentication import workspace_in
from kviz.accounts.middleware import workspace_of
from kviz.accounts.models import Workspace

if TYPE_CHECKING:
    from rest_framework.views import APIView

    from kviz.common.problems import ErrorItem


Scope = Literal["upload", "run", "experiment", "check"]
"""What is counted."""


class WorkspaceRate(ScopedRateThrottle):
    """Counts per workspace; guests, who can get another one for free, per address."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        return request.method in ("GET", "HEAD", "OPTIONS") or super().allow_request(request, view)

    def get_cache_key(self, request: Request, view: APIView) -> str:
        workspace = workspace_in(request)
        is_guest = workspace.kind == Workspace.Kind.GUEST
        ident = self.get_ident(request) if is_guest else str(workspace.pk)
        return self.cache_format % {"scope": self.scope, "ident": ident}


def too_often(request: HttpRequest, scope: Scope) -> ErrorItem | None:
    """The error for a browser that posts more often than `scope` allows; None while it does not.

    Pages and REST share one count.
    """
    rest = Request(request)
    rest.user = workspace_of(request)  # type: ignore[assignment]
    throttle = WorkspaceRate()
    if throttle.allow_request(rest, cast("APIView", SimpleNamespace(throttle_scope=scope))):
        return None
    minutes = math.ceil((throttle.wait() or 1) / 60)
    message = ngettext(
        "Too many requests. Try again in %(n)d minute; what you typed stays here.",
        "Too many requests. Try again in %(n)d minutes; what you typed stays here.",
        minutes,
    )
    return {"message": message % {"n": minutes}}
