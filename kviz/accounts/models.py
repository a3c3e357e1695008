"""Who owns what: workspaces, and the tokens scripts use to work in them."""

from __future__ import annotations

import uuid

from django.db import models
from django.utils import timezone


class Workspace(models.Model):
    """What one person, or one browser session, uploaded and ran; private to them."""

    class Kind(models.TextChoices):
        LOCAL = "local", "Local"
        GUEST = "guest", "Guest"

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=8, choices=Kind)
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
        return f"{self.kind} {self.id}"


class ApiToken(models.Model):
    """A bearer token; only the SHA-256 of its text is stored."""

    sha256 = models.CharField(max_length=64, primary_key=True)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="tokens")
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"{self.sha256[:8]} of {self.workspace_id}"
