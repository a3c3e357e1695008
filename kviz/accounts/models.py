"""Who owns what: workspaces, the people who share them, the tokens scripts use to work in them."""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Workspace(models.Model):
    """What one person, a team, or one browser session, uploaded and ran; private to them."""

    class Kind(models.TextChoices):
        LOCAL = "local", "Local"
        GUEST = "guest", "Guest"
        MEMBERS = "members", "Members"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=8, choices=Kind)
    name = models.CharField(max_length=100, blank=True, default="", db_default="")
    """Of one that has members."""
    created_at = models.DateTimeField(auto_now_add=True)
    seen_at = models.DateTimeField(default=timezone.now)
    """When the workspace was last used, to the day; only guests are tracked, as they expire."""

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind"],
                condition=models.Q(kind="local"),
                name="one_local_workspace",
            )
        ]

    def __str__(self) -> str:
        return self.name or f"{self.kind} {self.id}"


class Role(models.TextChoices):
    """What a member may do in a workspace; each may also do what those before it may."""

    VIEWER = "viewer", "Viewer"
    """Reads."""
    EDITOR = "editor", "Editor"
    """Uploads, runs, shares, deletes."""
    OWNER = "owner", "Owner"
    """Says who the members are."""


class Membership(models.Model):
    """A person in a workspace."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="memberships")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships"
    )
    role = models.CharField(max_length=8, choices=Role)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "person"], name="once_in_a_workspace")
        ]

    def __str__(self) -> str:
        return f"{self.person_id} in {self.workspace_id}: {self.role}"


class Invitation(models.Model):
    """A link that makes a member of each signed-in person who opens it."""

    sha256 = models.CharField(max_length=64, unique=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=8, choices=Role)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="invitations"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.sha256[:8]} to {self.workspace_id}: {self.role}"


class AuditEntry(models.Model):
    """Who did what when. It names, and refers to nothing: what it is about may be gone."""

    class What(models.TextChoices):
        SIGN_IN = "sign-in", _("signed in")
        SIGN_IN_FAILED = "sign-in-failed", _("failed to sign in")
        SIGN_OUT = "sign-out", _("signed out")
        PASSWORD = "password", _("changed the password")
        ACCOUNT = "account", _("made or changed an account")
        UPLOAD = "upload", _("uploaded or imported")
        DELETE = "delete", _("deleted")
        SHARE = "share", _("shared by a link")
        UNSHARE = "unshare", _("withdrew a link")
        WORKSPACE = "workspace", _("made or renamed the workspace")
        MEMBER = "member", _("changed the members")
        INVITE = "invite", _("invited by a link")
        TOKEN = "token", _("made a token")
        REVOKE = "revoke", _("revoked")

    at = models.DateTimeField(auto_now_add=True, db_index=True)
    who = models.CharField(max_length=150, blank=True)
    what = models.CharField(max_length=20, choices=What)
    workspace_id = models.UUIDField(null=True, blank=True, db_index=True)
    about = models.CharField(max_length=200, blank=True)

    def __str__(self) -> str:
        return f"{self.at} {self.who} {self.what} {self.about}"

    def save(self, *args: Any, **options: Any) -> None:
        """Add an entry. Raises TypeError for one that is there: they are not changed."""
        if not self._state.adding:
            raise TypeError("an entry of the audit log is not changed")
        super().save(*args, **options)


class ApiToken(models.Model):
    """A bearer token; only the SHA-256 of its text is stored.

    One of a person may do what the person may in the workspace, at the moment it is used.
    """

    class Scope(models.TextChoices):
        READ = "read", "Read"
        WRITE = "write", "Write"

    sha256 = models.CharField(max_length=64, primary_key=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="tokens")
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.CASCADE,
        related_name="tokens",
        null=True,
        blank=True,
    )
    """Nobody: of the workspace itself, as `kviz token` prints it."""
    name = models.CharField(max_length=100, blank=True, default="", db_default="")
    scope = models.CharField(
        max_length=5, choices=Scope, default=Scope.WRITE, db_default=Scope.WRITE.value
    )
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, blank=True)
    """To the hour."""

    def __str__(self) -> str:
        return f"{self.sha256[:8]} of {self.workspace_id}"
