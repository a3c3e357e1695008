"""How a REST request proves its workspace: a bearer token, or the browser's own session."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from django.http import HttpRequest
from django.middleware.csrf import CsrfViewMiddleware
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework import exceptions
from rest_framework.authentication import BaseAuthentication
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from kviz.accounts import selectors, services
from kviz.accounts.access import Access
from kviz.accounts.middleware import access_of, may_come
from kviz.accounts.models import Workspace
from kviz.common.forgery import why_forged

if TYPE_CHECKING:
    from rest_framework.views import APIView


class _Csrf(CsrfViewMiddleware):
    """Django's check, which says why instead of answering."""

    def _reject(self, request: HttpRequest, reason: str) -> str:
        return reason


class WorkspaceAuthentication(BaseAuthentication):
    """`Authorization: Bearer TOKEN`; without it a browser's session, checked for forgery."""

    def authenticate(self, request: Request) -> tuple[Workspace, Access] | None:
        scheme, _space, token = request.headers.get("Authorization", "").partition(" ")
        if scheme:
            if scheme.lower() != "bearer" or not token.strip():
                raise exceptions.AuthenticationFailed(_("Send `Authorization: Bearer TOKEN`."))
            opened = selectors.access_of_token(token.strip())
            if opened is None:
                raise exceptions.AuthenticationFailed(_("This token is not known."))
            services.workspace_seen(workspace=opened.workspace)
            services.token_used(token=token.strip())
            return opened.workspace, opened
        enforce_csrf(request._request)
        if not may_come(request._request):
            raise exceptions.NotAuthenticated(_("Sign in, or send `Authorization: Bearer TOKEN`."))
        access = access_of(request._request)
        return access.workspace, access

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="kviz"'


def enforce_csrf(request: HttpRequest) -> None:
    """Raise PermissionDenied for a request that a foreign page may have made."""
    check = _Csrf(lambda _request: None)  # type: ignore[arg-type]
    check.process_request(request)
    reason = check.process_view(request, None, (), {})  # type: ignore[arg-type]
    if reason:
        text = _("Send `Authorization: Bearer TOKEN` (`kviz token` prints it). %(reason)s")
        raise exceptions.PermissionDenied(text % {"reason": why_forged(str(reason))})


class MayDoIt(BasePermission):
    """Everyone has a workspace, in server mode at least a guest's; a viewer only reads."""

    message: str | Promise = ""

    def has_permission(self, request: Request, view: APIView) -> bool:
        access = cast("Access", request.auth)
        self.message = access.refusal
        return request.method in SAFE_METHODS or access.may_change


def workspace_in(request: Request) -> Workspace:
    """The workspace a REST request was authenticated for."""
    workspace: Workspace = request.user  # type: ignore[assignment]
    return workspace


def access_in(request: Request) -> Access:
    """What a REST request may do, and the caller."""
    return cast("Access", request.auth)


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI schema names the bearer token."""

    target_class = "kviz.accounts.authentication.WorkspaceAuthentication"
    name = "token"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {"type": "http", "scheme": "bearer", "description": "`kviz token` prints one."}
