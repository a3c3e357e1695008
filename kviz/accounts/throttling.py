"""How often a workspace may ask for the expensive things (server mode only)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rest_framework.request import Request
from rest_framework.throttling import ScopedRateThrottle

from kviz.accounts.authentication import workspace_in

if TYPE_CHECKING:
    from rest_framework.views import APIView


class WorkspaceRate(ScopedRateThrottle):
    """Counts per workspace; guests, who can get another one for free, per address."""

    def allow_request(self, request: Request, view: APIView) -> bool:
        return request.method in ("GET", "HEAD", "OPTIONS") or super().allow_request(request, view)

    def get_cache_key(self, request: Request, view: APIView) -> str:
        workspace = workspace_in(request)
        ident = self.get_ident(request) if workspace.kind == "guest" else str(workspace.pk)
        return self.cache_format % {"scope": self.scope, "ident": ident}
