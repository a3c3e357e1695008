"""How many of a thing a person or a workspace may have; at the limit 429 says what to do."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.translation import ngettext

from kviz.accounts.models import Membership, Role, Workspace
from kviz.common.limits import TooManyAtOnce


def owns_enough(person: User) -> bool:
    """Whether a person owns as many workspaces as one may."""
    most = settings.MAX_WORKSPACES
    owned = Membership.objects.filter(person=person, role=Role.OWNER)
    return most is not None and owned.count() >= most


def refuse_another_workspace(person: User) -> None:
    """Raise TooManyAtOnce if a person owns as many workspaces as one may."""
    if owns_enough(person):
        most = settings.MAX_WORKSPACES or 0
        text = ngettext(
            "You own %(n)d workspace, and may own no more. Leave or delete it first.",
            "You own %(n)d workspaces, which is the limit. Leave or delete one first.",
            most,
        )
        raise TooManyAtOnce(text % {"n": most})


def refuse_another_token(person: User) -> None:
    """Raise TooManyAtOnce if a person has as many tokens as one may."""
    most = settings.MAX_TOKENS
    if most is not None and person.tokens.count() >= most:
        text = ngettext(
            "You have %(n)d token, and may have no more. Revoke it first.",
            "You have %(n)d tokens, which is the limit. Revoke one first.",
            most,
        )
        raise TooManyAtOnce(text % {"n": most})


def refuse_another_invitation(workspace: Workspace) -> None:
    """Raise TooManyAtOnce if as many links invite to a workspace as may."""
    most = settings.MAX_INVITATIONS
    if most is not None and workspace.invitations.count() >= most:
        text = ngettext(
            "%(n)d link invites to this workspace, and no more may. Withdraw it first.",
            "%(n)d links invite to this workspace, which is the limit. Withdraw one first.",
            most,
        )
        raise TooManyAtOnce(text % {"n": most})
