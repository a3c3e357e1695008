"""Followed clusters: the journal behind an observed run, and what checking it found."""

from __future__ import annotations

import uuid

from django.db import models

from kviz.common.said_field import SaidField
from kviz.runs.models import Run


class FollowedCluster(models.Model):
    """A cluster that is or was followed; `run` shows what its scheduler did."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="followed")
    context = models.CharField(max_length=200, blank=True)
    """The context it is followed by; empty for one that was read from a recording."""
    scheduler_config = models.TextField(blank=True)
    """The scheduler's configuration as far as it was given or guessed; empty means upstream's."""
    config_origin = models.CharField(max_length=300, blank=True)
    """Where the configuration, or its absence, was guessed from; empty if it was given."""
    protection = models.CharField(max_length=16, blank=True)
    """Whether the server had to prove who it is; empty for a recording."""
    refused = models.JSONField(default=dict)
    """Why kinds may not be read, by kind."""
    checked = SaidField(null=True, blank=True)
    """What the latest check found, as `kviz follow --check --json` prints it."""
    followed_by = models.CharField(max_length=100, blank=True)
    """The server that follows it, and has done so at `heartbeat_at`."""
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        return self.run.name or str(self.id)


class JournalPart(models.Model):
    """Lines of a journal, compressed; parts follow each other by number."""

    followed = models.ForeignKey(FollowedCluster, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    n_changes = models.PositiveIntegerField()
    lines = models.BinaryField()

    class Meta:
        ordering = ("number",)
        constraints = (
            models.UniqueConstraint(fields=("followed", "number"), name="followed_part_number"),
        )

    def __str__(self) -> str:
        return f"{self.followed_id} {self.number}"
