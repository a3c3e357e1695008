"""Writes: workspaces, their members and tokens come into being here."""

from __future__ import annotations

import datetime as dt
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.contrib.sessions.backends.base import SessionBase
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from kviz.accounts import selectors
from kviz.accounts.access import Access
from kviz.accounts.limits import owns_enough, refuse_another_token, refuse_another_workspace
from kviz.accounts.models import ApiToken, Membership, Role, Workspace
from kviz.common.expiry import in_days
from kviz.common.mode import Mode

USED_AGAIN_AFTER: Final = dt.timedelta(hours=1)
SEEN_AGAIN_AFTER: Final = dt.timedelta(days=1)
MAX_NAME_CHARS: Final = 100


def local_workspace_ensure() -> Workspace:
    """The one workspace of local mode, made on first use."""
    workspace, _ = Workspace.objects.get_or_create(kind=Workspace.Kind.LOCAL)
    return workspace


def access_for_session(*, session: SessionBase, begin: Callable[[], None] | None) -> Access:
    """What a browser works in: the local workspace, a member's, or one for this session alone.

    That one is stored when something is put into it, not when a guest only looks around. `begin`
    is called before, and may raise; None: nothing is stored.
    """
    access = selectors.access_of_browser(session)
    if access is None and settings.MODE == Mode.LOCAL:
        return Access(local_workspace_ensure())
    if access is None and (person := selectors.person_of(session)) is not None:
        return Access(workspace_create(person=person, name=person.username), person=person)
    if access is None and not settings.GUESTS:  # somebody who reads what is shared
        return Access(Workspace(kind=Workspace.Kind.GUEST), Role.VIEWER)
    if access is None:
        if begin is None:
            return Access(Workspace(kind=Workspace.Kind.GUEST))
        begin()
        access = Access(Workspace.objects.create(kind=Workspace.Kind.GUEST))
        session[selectors.SESSION_KEY] = str(access.workspace.pk)
    if workspace_seen(workspace=access.workspace):
        session.modified = True  # or it would end though its guest is there
    return access


def workspace_create(*, person: User, name: str) -> Workspace:
    """A workspace of which a person is the owner. Raises TooManyAtOnce."""
    refuse_another_workspace(person)
    with transaction.atomic():
        workspace = Workspace.objects.create(
            kind=Workspace.Kind.MEMBERS, name=name.strip()[:MAX_NAME_CHARS]
        )
        Membership.objects.create(workspace=workspace, person=person, role=Role.OWNER)
    return workspace


def workspace_rename(*, workspace: Workspace, name: str) -> None:
    """Give a workspace another name; an empty one changes nothing."""
    workspace.name = name.strip()[:MAX_NAME_CHARS] or workspace.name
    workspace.save(update_fields=["name"])


def workspace_delete(*, workspace: Workspace) -> bool:
    """Delete a workspace with its members, links and tokens; False if there is work in it."""
    if selectors.is_used(workspace=workspace):
        return False
    workspace.delete()
    return True


def workspace_use(*, session: SessionBase, workspace: Workspace) -> None:
    """Work in one of one's workspaces from now on, in this browser."""
    session[selectors.SESSION_KEY] = str(workspace.pk)


def person_add(*, name: str, password: str, email: str = "", is_admin: bool = False) -> User:
    """An account with a password. Raises ValidationError, with what is wrong with either."""
    person = User(username=name, email=email, is_staff=is_admin, is_superuser=is_admin)
    person.full_clean(exclude=["password"])
    validate_password(password, person)
    person.set_password(password)
    person.save()
    return person


def person_set_password(*, person: User, password: str) -> None:
    """Another password, which also ends all sessions. Raises ValidationError."""
    validate_password(password, person)
    person.set_password(password)
    person.save(update_fields=["password"])


def person_close(*, person: User, is_closed: bool) -> None:
    """Let a person in no more, or again; what is theirs stays."""
    person.is_active = not is_closed
    person.save(update_fields=["is_active"])


def person_appoint(*, person: User, is_admin: bool) -> None:
    """Say whether a person, who may be about to be stored, is an administrator of this server."""
    person.is_staff = person.is_superuser = is_admin
    if person.pk:
        person.save(update_fields=["is_staff", "is_superuser"])


def guest_take_along(*, session: SessionBase, person: User) -> bool:
    """Give a person who signs in what they did as a guest: it becomes a workspace of theirs.

    False if they own as many as they may: then it stays the workspace of a guest without a
    browser.
    """
    known = session.pop(selectors.SESSION_KEY, "")
    guest = Workspace.objects.filter(pk=known, kind=Workspace.Kind.GUEST).first() if known else None
    if guest is None:
        return True
    if selectors.is_empty(workspace=guest):
        guest.delete()
        return True
    if owns_enough(person):
        return False
    name = person.username
    if selectors.memberships_of(person=person).exists():
        name = _("Before signing in, %(day)s") % {"day": timezone.now().date().isoformat()}
    with transaction.atomic():
        Membership.objects.create(workspace=guest, person=person, role=Role.OWNER)
        guest.kind, guest.name = Workspace.Kind.MEMBERS, name[:MAX_NAME_CHARS]
        guest.save(update_fields=["kind", "name"])
    session[selectors.SESSION_KEY] = str(guest.pk)
    return True


def workspace_seen(*, workspace: Workspace) -> bool:
    """Note that a guest is there, once a day; say whether that was due."""
    now = timezone.now()
    if workspace.kind != Workspace.Kind.GUEST or now - workspace.seen_at < SEEN_AGAIN_AFTER:
        return False
    workspace.seen_at = now
    workspace.save(update_fields=["seen_at"])
    return True


def guests_prune() -> int:
    """Delete what guests left behind whose sessions have ended; return how many they were."""
    call_command("clearsessions")
    ended = timezone.now() - dt.timedelta(seconds=settings.SESSION_COOKIE_AGE)
    gone = Workspace.objects.filter(kind=Workspace.Kind.GUEST, seen_at__lt=ended - SEEN_AGAIN_AFTER)
    return gone.delete()[1].get(Workspace._meta.label, 0)


def token_create(
    *,
    workspace: Workspace,
    person: User | None = None,
    name: str = "",
    scope: ApiToken.Scope = ApiToken.Scope.WRITE,
    days: int | None = None,
) -> str:
    """Make a token, of a person or of the workspace; return its text, which is not stored.

    Raises TooManyAtOnce if the person has as many as one may.
    """
    if person is not None:
        refuse_another_token(person)
    token = f"kviz_{secrets.token_urlsafe(32)}"
    ApiToken.objects.create(
        sha256=selectors.token_sha256(token),
        workspace=workspace,
        person=person,
        name=name.strip()[:MAX_NAME_CHARS],
        scope=scope,
        expires_at=in_days(days),
    )
    return token


def token_used(*, token: str) -> None:
    """Note when a person's token was used, to the hour; most requests write nothing."""
    now = timezone.now()
    known = ApiToken.objects.filter(sha256=selectors.token_sha256(token), person__isnull=False)
    due = known.exclude(last_used_at__gt=now - USED_AGAIN_AFTER)
    if due.exists():
        due.update(last_used_at=now)


def token_revoke(*, person: User, sha256: str) -> ApiToken | None:
    """Let one of a person's tokens open nothing any more; return which it was."""
    mine = ApiToken.objects.filter(person=person, sha256=sha256)
    found = mine.first()
    mine.delete()
    return found


def token_delete(*, token: ApiToken) -> None:
    """Revoke a token of any person."""
    ApiToken.objects.filter(pk=token.pk).delete()


def local_token_ensure(*, folder: Path) -> str:
    """The token of the local workspace; its text is in a file only the owner can read.

    Without the file there is a new one, and in local mode the old one no longer opens anything.
    """
    file = folder / "token"
    if file.exists():
        token = file.read_text(encoding="ascii").strip()
        if selectors.access_of_token(token) is not None:
            return token
        file.unlink()
    workspace = local_workspace_ensure()
    if settings.MODE == Mode.LOCAL:  # on a server each data folder has its own
        workspace.tokens.all().delete()
    token = token_create(workspace=workspace)
    handle = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as stream:
        stream.write(token + "\n")
    return token
