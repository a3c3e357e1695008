"""The page of a person's tokens."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from kviz.accounts import selectors, services
from kviz.accounts.audit import What, note
from kviz.accounts.middleware import access_of
from kviz.accounts.models import ApiToken
from kviz.accounts.workspace_pages import READ_OR_POST, signed_in, signed_in_person
from kviz.common.limits import TooManyAtOnce

DAYS: Final = (7, 30, 90, 365)


@require_http_methods(READ_OR_POST)
@signed_in
def token_list(request: HttpRequest) -> HttpResponse:
    """My tokens, and another one; its text is shown now and never again."""
    person, access, token = signed_in_person(request), access_of(request), ""
    status = HTTPStatus.OK
    if request.method == "POST":
        name, days = request.POST.get("name", "").strip(), request.POST.get("days", "")
        scope = request.POST.get("scope", "")
        if scope not in ApiToken.Scope.values or days not in map(str, DAYS):
            raise Http404  # the form offers no others
        if not name:
            messages.error(request, _("Give the token a name."))
            return redirect("token-list")
        try:
            token = services.token_create(
                workspace=access.workspace,
                person=person,
                name=name,
                scope=ApiToken.Scope(scope),
                days=int(days),
            )
        except TooManyAtOnce as many:
            messages.error(request, str(many))
            status = HTTPStatus.TOO_MANY_REQUESTS
        else:
            note(What.TOKEN, who=person.username, workspace=access.workspace.pk, about=name)
    context = {
        "tokens": selectors.tokens_of(person=person),
        "workspace": access.workspace,
        "token": token,
        "days": DAYS,
    }
    return render(request, "account/tokens.html", context, status=status)


@require_POST
@signed_in
def token_revoke(request: HttpRequest, sha256: str) -> HttpResponse:
    person = signed_in_person(request)
    revoked = services.token_revoke(person=person, sha256=sha256)
    if revoked is not None:
        about = f"token {revoked.name}"
        note(What.REVOKE, who=person.username, workspace=revoked.workspace_id, about=about)
    return redirect("token-list")
