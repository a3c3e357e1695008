"""Writes: who the members of a workspace are. A workspace has an owner, whatever happens."""

from __future__ import annotations

import datetime as dt
import secrets
from typing import Final

from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from kviz.accounts.limits import owns_enough, refuse_another_invitation
from kviz.accounts.models import Invitation, Membership, Role, Workspace
from kviz.accounts.selectors import token_sha256

INVITED_FOR: Final = dt.timedelta(days=7)


class Refused(Exception):
    """The members stay as they are; the message says why."""


def member_add(*, workspace: Workspace, name: str, role: Role) -> Membership:
    """Make a member of the person with this account name. Raises Refused."""
    person = User.objects.filter(username=name.strip(), is_active=True).first()
    if person is None:
        raise Refused(_("Nobody here has this name. Invite them with a link instead."))
    return _join(workspace, person, role)


def _join(workspace: Workspace, person: User, role: Role) -> Membership:
    """Make a member of a person; a member keeps their role. Raises Refused."""
    known = workspace.memberships.filter(person=person).first()
    if known is not None:
        return known
    _refuse_another_owned(person, role)
    found, _is_new = Membership.objects.get_or_create(
        workspace=workspace, person=person, defaults={"role": role}
    )
    return found


def member_appoint(*, workspace: Workspace, membership_id: int, role: Role) -> str:
    """Give a member another role; return them. Raises Refused."""
    with transaction.atomic():
        found = _locked(workspace, membership_id)
        if role != Role.OWNER:
            _refuse_without(found)
        elif found.role != Role.OWNER:
            _refuse_another_owned(found.person, role)
        found.role = role
        found.save(update_fields=["role"])
    return found.person.username


def member_remove(*, workspace: Workspace, membership_id: int) -> str:
    """Remove a member; what they made stays. Return them. Raises Refused."""
    with transaction.atomic():
        found = _locked(workspace, membership_id)
        _refuse_without(found)
        found.delete()
    return found.person.username


def _locked(workspace: Workspace, membership_id: int) -> Membership:
    """The membership, while nobody else changes one of the workspace. Raises Refused."""
    Workspace.objects.select_for_update().get(pk=workspace.pk)
    found = workspace.memberships.filter(pk=membership_id).first()
    if found is None:
        raise Refused(_("There is no such member any more."))
    return found


def _refuse_another_owned(person: User, role: Role) -> None:
    """Raise Refused if a person would own more workspaces than one may."""
    if role == Role.OWNER and owns_enough(person):
        text = _("%(name)s already owns the maximum number of workspaces. Choose another role.")
        raise Refused(text % {"name": person.username})


def _refuse_without(leaving: Membership) -> None:
    owners = leaving.workspace.memberships.filter(role=Role.OWNER)
    if not owners.exclude(pk=leaving.pk).exists():
        raise Refused(_("The last owner must stay. Make another member an owner first."))


def invitation_create(*, workspace: Workspace, role: Role, made_by: User) -> str:
    """Return the text of a link's token, which is not stored. Raises TooManyAtOnce."""
    workspace.invitations.filter(expires_at__lte=timezone.now()).delete()
    refuse_another_invitation(workspace)
    token = secrets.token_urlsafe(24)
    workspace.invitations.create(
        sha256=token_sha256(token),
        role=role,
        made_by=made_by,
        expires_at=timezone.now() + INVITED_FOR,
    )
    return token


def invitation_accept(*, invitation: Invitation, person: User) -> Membership:
    """Make a member of who opens the link; more people may. Raises Refused."""
    return _join(invitation.workspace, person, Role(invitation.role))


def invitation_withdraw(*, workspace: Workspace, invitation_id: int) -> None:
    workspace.invitations.filter(pk=invitation_id).delete()
