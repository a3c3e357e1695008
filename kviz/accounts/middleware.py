"""Which workspace a request works in, and who is signed in."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from django.conf import settings
from django.contrib.auth.models import User
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject

from kviz.accounts import services
from kviz.accounts.access import Access
from kviz.accounts.models import Workspace
from kviz.common.mode import Mode


class CurrentWorkspace:
    """Set `request.access`, made on first use, so that static pages cost nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request.access = SimpleLazyObject(  # type: ignore[attr-defined]
            lambda: services.access_for_session(session=request.session)
        )
        request.person = request.user  # type: ignore[attr-defined] # REST puts a workspace there
        return self.get_response(request)


def access_of(request: HttpRequest) -> Access:
    """What an HTML request may do, and where."""
    access: Access = request.access  # type: ignore[attr-defined]
    return access


def workspace_of(request: HttpRequest) -> Workspace:
    """The workspace of an HTML request."""
    return access_of(request).workspace


def person_of(request: HttpRequest) -> User | None:
    """Who is signed in, if anybody is; without touching the database for who has no session."""
    person = getattr(request, "person", None)  # an error may come before there is one
    if settings.MODE == Mode.LOCAL or person is None or not person.is_authenticated:
        return None
    return cast("User", person)


def share_of(request: HttpRequest) -> str:
    """The share token in the address (`?share=`), empty if there is none."""
    return request.GET.get("share", "")


def workspace_context(request: HttpRequest) -> dict[str, object]:
    """For templates: the mode, who is signed in, and how one may do so."""
    return {
        "kviz_mode": settings.MODE,
        "person": person_of(request),
        "openid_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
    }
