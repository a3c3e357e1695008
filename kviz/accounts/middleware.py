"""The workspace of a request, and the signed-in person."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Final, cast

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.functional import SimpleLazyObject
from rest_framework.permissions import SAFE_METHODS

from kviz.accounts import selectors, services
from kviz.accounts.access import Access
from kviz.accounts.audit import acting
from kviz.accounts.guests import guest_begins
from kviz.accounts.models import Membership, Workspace
from kviz.common.mode import Mode

FOR_VIEWERS: Final = {"set-language", "classic-switch", "class-find", "class-join", "class-end"}
"""What is posted and changes nothing in the workspace; pages of accounts ask for themselves."""


SHARED: Final = {"run_id", "snapshot_id"}
"""What an address names that a link may share."""


class CurrentWorkspace:
    """Set `request.access`, made on first use, so that static pages cost nothing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        begin = None if request.method in SAFE_METHODS else partial(guest_begins, request)
        request.access = SimpleLazyObject(  # type: ignore[attr-defined]
            lambda: services.access_for_session(session=request.session, begin=begin)
        )
        request.person = request.user  # type: ignore[attr-defined] # REST puts a workspace there
        with acting(request):
            return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: object, *_given: object
    ) -> HttpResponseBase | None:
        """Refuse what a viewer may not do, and guests where there are none; REST asks for itself.

        Raises PermissionDenied.
        """
        match = request.resolver_match
        if match is None or match.route.startswith(("api/", "account/")):
            return None
        if not may_come(request) and match.url_name != "set-language":
            return redirect_to_login(request.get_full_path())
        if request.method in SAFE_METHODS or match.url_name in FOR_VIEWERS:
            return None
        if person_of(request) is None or access_of(request).may_change:
            return None
        raise PermissionDenied(access_of(request).refusal)


def access_of(request: HttpRequest) -> Access:
    """What an HTML request may do, and where."""
    access: Access = request.access  # type: ignore[attr-defined]
    return access


def workspace_of(request: HttpRequest) -> Workspace:
    """The workspace of an HTML request."""
    return access_of(request).workspace


def person_of(request: HttpRequest) -> User | None:
    """The signed-in person, if any; without a session this does not touch the database."""
    person = getattr(request, "person", None)  # an error may come before there is one
    if settings.MODE == Mode.LOCAL or person is None or not person.is_authenticated:
        return None
    return cast("User", person)


def may_come(request: HttpRequest) -> bool:
    """Whether the caller may: if guests are switched off, only to read what a link shares."""
    if settings.GUESTS or settings.MODE == Mode.LOCAL or person_of(request) is not None:
        return True
    match = request.resolver_match
    is_one_thing = match is not None and not SHARED.isdisjoint(match.kwargs)
    return is_one_thing and request.method in SAFE_METHODS and share_of(request) != ""


def share_of(request: HttpRequest) -> str:
    """The share token in the address (`?share=`), empty if there is none."""
    return request.GET.get("share", "")


def workspace_context(request: HttpRequest) -> dict[str, object]:
    """For templates: the mode, the signed-in person, their workspace, their rights; lazy."""
    return {
        "kviz_mode": settings.MODE,
        "guests": settings.GUESTS,
        "person": SimpleLazyObject(partial(person_of, request)),
        "may_change": SimpleLazyObject(partial(_may_change, request)),
        "memberships": partial(_memberships, request),
        "openid_name": settings.OIDC_NAME if settings.OIDC_ISSUER else "",
    }


def _may_change(request: HttpRequest) -> bool:
    return person_of(request) is None or access_of(request).may_change


def _memberships(request: HttpRequest) -> list[Membership]:
    person = person_of(request)
    return list(selectors.memberships_of(person=person)) if person else []
