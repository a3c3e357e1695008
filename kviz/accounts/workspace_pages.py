"""Pages of workspaces that have members: mine, their members, their invitations."""

from __future__ import annotations

from functools import wraps
from http import HTTPStatus
from typing import Final, cast
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.permissions import SAFE_METHODS

from kviz.accounts import members, selectors, services
from kviz.accounts.audit import What, note
from kviz.accounts.middleware import access_of, person_of
from kviz.accounts.models import AuditEntry, Membership, Role, Workspace
from kviz.accounts.pages import View, server_only
from kviz.common.limits import TooManyAtOnce

READ_OR_POST: Final = ["GET", "HEAD", "POST"]


def signed_in(view: View) -> View:
    """Let in a signed-in person, and lead others to the sign-in page and back; not in local mode.

    What is posted is one transaction: a change without its entry in the log cannot be.
    """

    @wraps(view)
    def whole(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponseBase:
        if request.method in SAFE_METHODS:
            return view(request, *args, **kwargs)
        with transaction.atomic():
            return view(request, *args, **kwargs)

    return server_only(login_required(whole))


def signed_in_person(request: HttpRequest) -> User:
    """The signed-in person, behind `signed_in`."""
    return cast("User", person_of(request))


def _mine(request: HttpRequest, workspace_id: UUID) -> Membership:
    """My membership of a workspace. Raises Http404."""
    found = selectors.membership_get(workspace_id=workspace_id, person=signed_in_person(request))
    if found is None:
        raise Http404(workspace_id)
    return found


def _owned(request: HttpRequest, workspace_id: UUID) -> Membership:
    """The same, if I am an owner. Raises Http404 and PermissionDenied."""
    found = _mine(request, workspace_id)
    if found.role != Role.OWNER:
        raise PermissionDenied(_("Only owners of a workspace say who its members are."))
    return found


def owned_workspace(request: HttpRequest, workspace_id: UUID) -> Workspace:
    """The workspace, if I am an owner. Raises Http404 and PermissionDenied."""
    return _owned(request, workspace_id).workspace


def _note(request: HttpRequest, what: AuditEntry.What, workspace_id: UUID, about: str = "") -> None:
    who = signed_in_person(request).username
    note(what, who=who, workspace=workspace_id, about=about)


def _role(request: HttpRequest) -> Role:
    """The role that a form names. Raises Http404: forms name no others."""
    try:
        return Role(request.POST.get("role", ""))
    except ValueError:
        raise Http404 from None


@require_http_methods(READ_OR_POST)
@signed_in
def workspace_list(request: HttpRequest) -> HttpResponse:
    """My workspaces, and another one."""
    if request.method == "POST":
        if not (name := request.POST.get("name", "").strip()):
            messages.error(request, _("Give the workspace a name."))
            return redirect("workspace-list")
        try:
            workspace = services.workspace_create(person=signed_in_person(request), name=name)
        except TooManyAtOnce as many:
            return _list(request, refused=str(many))
        services.workspace_use(session=request.session, workspace=workspace)
        _note(request, What.WORKSPACE, workspace.pk, workspace.name)
        return redirect("workspace-detail", workspace.pk)
    return _list(request)


def _list(request: HttpRequest, refused: str = "") -> HttpResponse:
    current = access_of(request).workspace  # makes the first one
    context = {
        "mine": selectors.memberships_of(person=signed_in_person(request)),
        "current": current,
    }
    return render(request, "account/workspaces.html", context, status=_told(request, refused))


def _told(request: HttpRequest, refused: str) -> HTTPStatus:
    """Put on the page what there is too much of, if it is; the status that says so, too."""
    if not refused:
        return HTTPStatus.OK
    messages.error(request, refused)
    return HTTPStatus.TOO_MANY_REQUESTS


@require_POST
@signed_in
def workspace_use(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    mine = _mine(request, workspace_id)
    services.workspace_use(session=request.session, workspace=mine.workspace)
    return redirect("run-list")


@require_http_methods(READ_OR_POST)
@signed_in
def workspace_detail(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Its members, and, for its owners, its invitations."""
    mine = _mine(request, workspace_id)
    if request.method == "POST":
        name = request.POST.get("name", "")
        services.workspace_rename(workspace=_owned(request, workspace_id).workspace, name=name)
        _note(request, What.WORKSPACE, workspace_id, name)
        return redirect("workspace-detail", workspace_id)
    return _detail(request, mine)


@require_POST
@signed_in
def workspace_delete(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    """Delete a workspace in which there is nothing any more."""
    workspace = _owned(request, workspace_id).workspace
    if not services.workspace_delete(workspace=workspace):
        messages.error(request, _("Delete its clusters, runs and experiments first."))
        return redirect("workspace-detail", workspace_id)
    _note(request, What.DELETE, workspace_id, f"workspace {workspace.name}")
    return redirect("workspace-list")


def _detail(
    request: HttpRequest, mine: Membership, *, link: str = "", refused: str = ""
) -> HttpResponse:
    context = {
        "mine": mine,
        "workspace": mine.workspace,
        "is_owner": mine.role == Role.OWNER,
        "members": selectors.members_of(workspace=mine.workspace),
        "invitations": selectors.invitations_open(workspace=mine.workspace),
        "roles": Role.values,
        "link": link,
    }
    return render(request, "account/workspace.html", context, status=_told(request, refused))


def _after(request: HttpRequest, workspace_id: UUID, refusal: members.Refused) -> HttpResponse:
    messages.error(request, str(refusal))
    return redirect("workspace-detail", workspace_id)


@require_POST
@signed_in
def member_add(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    workspace, role = _owned(request, workspace_id).workspace, _role(request)
    try:
        added = members.member_add(
            workspace=workspace, name=request.POST.get("name", ""), role=role
        )
    except members.Refused as refusal:
        return _after(request, workspace_id, refusal)
    _note(request, What.MEMBER, workspace_id, f"{added.person.username}: {added.role}")
    return redirect("workspace-detail", workspace_id)


@require_POST
@signed_in
def member_appoint(request: HttpRequest, workspace_id: UUID, membership_id: int) -> HttpResponse:
    workspace, role = _owned(request, workspace_id).workspace, _role(request)
    try:
        name = members.member_appoint(workspace=workspace, membership_id=membership_id, role=role)
    except members.Refused as refusal:
        return _after(request, workspace_id, refusal)
    _note(request, What.MEMBER, workspace_id, f"{name}: {role}")
    return redirect("workspace-detail", workspace_id)


@require_POST
@signed_in
def member_remove(request: HttpRequest, workspace_id: UUID, membership_id: int) -> HttpResponse:
    """Let somebody go, or leave oneself."""
    mine = _mine(request, workspace_id)
    is_leaving = mine.pk == membership_id
    workspace = mine.workspace if is_leaving else _owned(request, workspace_id).workspace
    try:
        name = members.member_remove(workspace=workspace, membership_id=membership_id)
    except members.Refused as refusal:
        return _after(request, workspace_id, refusal)
    _note(request, What.MEMBER, workspace_id, f"{name}: -")
    return redirect("workspace-list") if is_leaving else redirect("workspace-detail", workspace_id)


@require_POST
@signed_in
def invitation_create(request: HttpRequest, workspace_id: UUID) -> HttpResponseBase:
    """Make a link; it is shown now and never again."""
    mine, role = _owned(request, workspace_id), _role(request)
    me = signed_in_person(request)
    try:
        token = members.invitation_create(workspace=mine.workspace, role=role, made_by=me)
    except TooManyAtOnce as many:
        return _detail(request, mine, refused=str(many))
    _note(request, What.INVITE, workspace_id, role)
    link = request.build_absolute_uri(reverse("invitation", args=[token]))
    return _detail(request, mine, link=link)


@require_POST
@signed_in
def invitation_withdraw(
    request: HttpRequest, workspace_id: UUID, invitation_id: int
) -> HttpResponse:
    workspace = _owned(request, workspace_id).workspace
    members.invitation_withdraw(workspace=workspace, invitation_id=invitation_id)
    _note(request, What.UNSHARE, workspace_id, f"invitation {invitation_id}")
    return redirect("workspace-detail", workspace_id)


@require_http_methods(READ_OR_POST)
@signed_in
def invitation(request: HttpRequest, token: str) -> HttpResponse:
    """What one is invited to, and the button that accepts it."""
    found = selectors.invitation_of(token)
    if found is None:
        raise Http404
    if request.method == "POST":
        try:
            joined = members.invitation_accept(invitation=found, person=signed_in_person(request))
        except members.Refused as refusal:
            raise TooManyAtOnce(str(refusal)) from None
        services.workspace_use(session=request.session, workspace=joined.workspace)
        me = signed_in_person(request).username
        _note(request, What.MEMBER, joined.workspace_id, f"{me}: {joined.role}")
        return redirect("workspace-detail", joined.workspace_id)
    return render(request, "account/invitation.html", {"invitation": found})
