"""Which workspace a request works in."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject

from kviz.accounts import services
from kviz.accounts.models import Workspace


class CurrentWorkspace:
    """Set `request.workspace`, made on first use, so that static pages cost nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.workspace = SimpleLazyObject(  # type: ignore[attr-defined]
            lambda: services.workspace_for_session(session=request.session)
        )
        return self.get_response(request)


def workspace_of(request: HttpRequest) -> Workspace:
    """The workspace of an HTML request."""
    workspace: Workspace = request.workspace  # type: ignore[attr-defined]
    return workspace


def share_of(request: HttpRequest) -> str:
    """The share token in the address (`?share=`), empty if there is none."""
    return request.GET.get("share", "")


def workspace_context(request: HttpRequest) -> dict[str, object]:
    """For templates: the mode, and nothing that would touch the database."""
    return {"kviz_mode": settings.MODE}
