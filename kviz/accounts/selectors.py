"""Reads: the workspace of a token or a session, and the signed-in person."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final, cast
from uuid import UUID

from django.conf import settings
from django.contrib import auth
from django.contrib.auth.models import User
from django.db.models import Count, Model, OuterRef, Prefetch, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce
from django.utils import timezone

from kviz.accounts.access import TOKEN_ONLY_READS, Access
from kviz.accounts.models import ApiToken, Invitation, Membership, Role, Workspace
from kviz.common.mode import Mode

SESSION_KEY = "workspace"


def token_sha256(token: str) -> str:
    return hashlib.sha256(token.encode()).hexdigest()


def access_of_token(token: str) -> Access | None:
    """What a token opens now: never more than its person may, nothing once it expired."""
    found = token_get(token)
    if found is None or found.person is None:
        return Access(found.workspace) if found else None
    member = membership_get(workspace_id=found.workspace_id, person=found.person)
    if member is None or not found.person.is_active:
        return None
    if found.scope == ApiToken.Scope.READ:
        return Access(found.workspace, Role.VIEWER, found.person, TOKEN_ONLY_READS)
    return Access(found.workspace, Role(member.role), found.person)


def token_get(token: str) -> ApiToken | None:
    """A token that has not expired."""
    found = ApiToken.objects.filter(sha256=token_sha256(token)).exclude(
        expires_at__lte=timezone.now()
    )
    return found.select_related("workspace", "person").first()


def tokens_of(*, person: User) -> QuerySet[ApiToken]:
    """All tokens of a person, the latest first."""
    return (
        ApiToken.objects.filter(person=person).select_related("workspace").order_by("-created_at")
    )


def access_of_browser(session: Mapping[str, Any]) -> Access | None:
    """What a browser has already: the local workspace, a member's, or the one its session began."""
    if settings.MODE == Mode.LOCAL:
        local = local_workspace()
        return Access(local) if local else None
    known = session.get(SESSION_KEY, "")
    person = person_of(session)
    if person is not None:
        return access_of_person(person, preferred=known)
    if not settings.GUESTS:
        return None
    guests = Workspace.objects.filter(kind=Workspace.Kind.GUEST)
    guest = guests.filter(pk=known).first() if known else None
    return Access(guest) if guest else None


def may_work(session: Mapping[str, Any]) -> bool:
    """Whether a browser may do more than read what links share: where there are guests, any may."""
    return settings.MODE == Mode.LOCAL or settings.GUESTS or person_of(session) is not None


def person_of(session: Mapping[str, Any]) -> User | None:
    """The person signed in with a session, if any."""
    found = auth.get_user(cast("Any", SimpleNamespace(session=session)))
    return found if isinstance(found, User) else None


def access_of_person(person: User, *, preferred: str = "") -> Access | None:
    """Where a person works: in the preferred workspace, else in the one they were in first."""
    mine = list(memberships_of(person=person))
    chosen = [each for each in mine if str(each.workspace_id) == preferred]
    for each in chosen or mine:
        return Access(each.workspace, Role(each.role), person)
    return None


def memberships_of(*, person: User) -> QuerySet[Membership]:
    """The workspaces of a person, and in which role, the first one first."""
    return Membership.objects.filter(person=person).select_related("workspace").order_by("pk")


def membership_get(*, workspace_id: UUID, person: User) -> Membership | None:
    return memberships_of(person=person).filter(workspace=workspace_id).first()


def members_of(*, workspace: Workspace) -> QuerySet[Membership]:
    """Its members, the first one first."""
    return workspace.memberships.select_related("person").order_by("pk")


def invitations_open(*, workspace: Workspace) -> QuerySet[Invitation]:
    """The links that still let somebody in, the latest first."""
    return (
        workspace.invitations.filter(expires_at__gt=timezone.now())
        .select_related("made_by")
        .order_by("-created_at")
    )


def invitation_of(token: str) -> Invitation | None:
    """What a link invites to; None once it expired or was withdrawn."""
    found = Invitation.objects.filter(sha256=token_sha256(token), expires_at__gt=timezone.now())
    return found.select_related("workspace", "made_by").first()


def person_named(name: str) -> User | None:
    return User.objects.filter(username=name).first()


# ---------------------------------------------------------------- all of a server


def people(*, sought: str = "") -> QuerySet[User]:
    """Everybody with an account, by name; with a text, those whose name or address has it.

    Each has `n_workspaces` and `n_tokens`.
    """
    found = User.objects.order_by("username")
    if sought:
        found = found.filter(Q(username__icontains=sought) | Q(email__icontains=sought))
    return found.annotate(
        n_workspaces=Count("memberships", distinct=True), n_tokens=Count("tokens", distinct=True)
    )


USED: Final = ("snapshots", "runs", "experiments")
"""What is counted in a workspace, as it calls what belongs to it."""


def workspaces_used() -> QuerySet[Workspace]:
    """Workspaces that are not a guest's, those with the most runs first.

    Each has `n_members`, `n_snapshots`, `n_runs` and `n_experiments`, and its `owners`.
    """
    owners = Membership.objects.filter(role=Role.OWNER).select_related("person").order_by("pk")
    counts = {f"n_{name}": _counted(name) for name in USED}
    found = Workspace.objects.exclude(kind=Workspace.Kind.GUEST)
    found = found.annotate(n_members=Count("memberships"), **counts)
    return found.order_by("-n_runs", "created_at").prefetch_related(
        Prefetch("memberships", queryset=owners, to_attr="owners")
    )


def used_in_all() -> dict[str, int]:
    """How much there is on this server, of guests, too; samples are nobody's."""
    guests = Workspace.objects.filter(kind=Workspace.Kind.GUEST).count()
    return {
        "people": User.objects.count(),
        "guests": guests,
        "shared": Workspace.objects.count() - guests,
        **{name: _rows(name).exclude(workspace=None).count() for name in USED},
    }


def _counted(name: str) -> Coalesce:
    own = _rows(name).filter(workspace=OuterRef("pk")).order_by().values("workspace")
    return Coalesce(Subquery(own.annotate(n=Count("pk")).values("n")), 0)


def _rows(name: str) -> QuerySet[Model]:
    """What belongs to workspaces under this name."""
    related = Workspace._meta.get_field(name).related_model
    return cast("type[Model]", related)._base_manager.all()


def tokens_all() -> QuerySet[ApiToken]:
    """Everybody's tokens, and those of workspaces themselves; the latest first."""
    return ApiToken.objects.select_related("workspace", "person").order_by("-created_at")


def local_workspace() -> Workspace | None:
    return Workspace.objects.filter(kind=Workspace.Kind.LOCAL).first()


def is_used(*, workspace: Workspace) -> bool:
    """Whether there is anything that its members would miss."""
    return any(_rows(name).filter(workspace=workspace).exists() for name in USED)


def is_empty(*, workspace: Workspace) -> bool:
    """Whether nothing was uploaded, run or begun there."""
    return not any(
        cast("type[Model]", each.related_model)
        ._base_manager.filter(**{each.field.name: workspace})
        .exists()
        for each in Workspace._meta.related_objects
    )
