"""Pages for administrators of a server: its accounts, its workspaces, and everybody's tokens."""

from __future__ import annotations

from functools import wraps
from typing import Final

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import connection
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from kviz.accounts import selectors, services
from kviz.accounts.audit import What, note
from kviz.accounts.models import ApiToken
from kviz.accounts.pages import View
from kviz.accounts.workspace_pages import READ_OR_POST, signed_in, signed_in_person
from kviz.common.disk import database_bytes

SHOWN: Final = 500
SHOWN_OF_HASH: Final = 12
"""Characters of the hash of a token that has no name."""


def administrators(view: View) -> View:
    """Let in administrators of this server. Raises PermissionDenied for others."""

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if not signed_in_person(request).is_staff:
            raise PermissionDenied(_("Only administrators of this server may do this."))
        return view(request, *args, **kwargs)

    return signed_in(guarded)


def _note(request: HttpRequest, what: What, about: str) -> None:
    note(what, who=signed_in_person(request).username, about=about)


@require_http_methods(READ_OR_POST)
@administrators
def people(request: HttpRequest) -> HttpResponse:
    """Everybody with an account, and another one."""
    if request.method == "POST":
        return _person_add(request)
    sought = request.GET.get("q", "").strip()
    found = selectors.people(sought=sought)
    context = {
        "tab": "people",
        "people": found[:SHOWN],
        "n_people": found.count(),
        "sought": sought,
        "shown": SHOWN,
        "openid_name": settings.OIDC_NAME if settings.OIDC_ISSUER else _("OpenID Connect"),
    }
    return render(request, "account/server_people.html", context)


def _person_add(request: HttpRequest) -> HttpResponse:
    name, is_admin = request.POST.get("name", "").strip(), bool(request.POST.get("admin"))
    try:
        services.person_add(name=name, password=request.POST.get("password", ""), is_admin=is_admin)
    except ValidationError as problem:
        messages.error(request, " ".join(problem.messages))
        return redirect("server-people")
    _note(request, What.ACCOUNT, "administrator " * is_admin + f"{name}: made")
    messages.success(request, _("%(name)s can sign in.") % {"name": name})
    return redirect("server-people")


@require_POST
@administrators
def person_password(request: HttpRequest) -> HttpResponse:
    """Set a forgotten password, which ends all sessions of its person."""
    person = selectors.person_named(request.POST.get("name", "").strip())
    if person is None:
        messages.error(request, _("Nobody here has this name."))
        return redirect("server-people")
    if not person.has_usable_password():
        messages.error(request, _("Their password is with the OpenID provider."))
        return redirect("server-people")
    try:
        services.person_set_password(person=person, password=request.POST.get("password", ""))
    except ValidationError as problem:
        messages.error(request, " ".join(problem.messages))
        return redirect("server-people")
    _note(request, What.ACCOUNT, f"{person.username}: another password")
    messages.success(request, _("%(name)s has another password.") % {"name": person.username})
    return redirect("server-people")


@require_POST
@administrators
def person_close(request: HttpRequest, person_id: int) -> HttpResponse:
    """Let a person in no more; not oneself, or nobody could undo it here."""
    person = _person(person_id)
    if person == signed_in_person(request):
        messages.error(request, _("Another administrator can close your account."))
        return redirect("server-people")
    return _closed(request, person, is_closed=True)


@require_POST
@administrators
def person_open(request: HttpRequest, person_id: int) -> HttpResponse:
    return _closed(request, _person(person_id), is_closed=False)


def _closed(request: HttpRequest, person: User, *, is_closed: bool) -> HttpResponse:
    services.person_close(person=person, is_closed=is_closed)
    _note(request, What.ACCOUNT, f"{person.username}: {'closed' if is_closed else 'open'}")
    return redirect("server-people")


def _person(person_id: int) -> User:
    """Raises Http404."""
    found = User.objects.filter(pk=person_id).first()
    if found is None:
        raise Http404(person_id)
    return found


@require_GET
@administrators
def workspaces(request: HttpRequest) -> HttpResponse:
    """Workspaces that have members, what is in them, and what there is in all."""
    context = {
        "tab": "workspaces",
        "workspaces": selectors.workspaces_used()[:SHOWN],
        "shown": SHOWN,
        "used": selectors.used_in_all(),
        "n_bytes": database_bytes(connection),
    }
    return render(request, "account/server_workspaces.html", context)


@require_GET
@administrators
def tokens(request: HttpRequest) -> HttpResponse:
    """Everybody's tokens, and those of workspaces themselves."""
    context = {"tab": "tokens", "tokens": selectors.tokens_all()[:SHOWN], "shown": SHOWN}
    return render(request, "account/server_tokens.html", context)


@require_POST
@administrators
def token_revoke(request: HttpRequest, sha256: str) -> HttpResponse:
    found = ApiToken.objects.filter(sha256=sha256).select_related("person").first()
    if found is None:
        raise Http404(sha256)
    services.token_delete(token=found)
    owner = found.person.username if found.person else "kviz token"
    name = found.name or found.sha256[:SHOWN_OF_HASH]
    note(
        What.REVOKE,
        who=signed_in_person(request).username,
        workspace=found.workspace_id,
        about=f"token of {owner}: {name}",
    )
    return redirect("server-tokens")
