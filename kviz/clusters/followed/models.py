"""Followed clusters: the journal behind an observed run, and what checking it found."""

from __future__ import annotations

import uuid

from django.db import models

from kviz.common.said_field import SaidField
from kviz.runs.models import Run
from scheduler_core.releases import UNNAMED, stored_name
from scheduler_core.releases.choosing import in_words


class FollowedCluster(models.Model):
    """A cluster that is or was followed; `run` shows what its scheduler did."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="followed")
    context = models.CharField(max_length=200, blank=True)
    """The context it is followed by; empty for one that was read from a recording."""
    scheduler_config = models.TextField(blank=True)
    """The scheduler's given or guessed configuration; empty means upstream's."""
    config_origin = models.CharField(max_length=300, blank=True)
    """Where the configuration, or its absence, was guessed from; empty if it was given."""
    release = models.CharField(max_length=16, blank=True, default="", db_default="")
    """The release it is compared with; empty: v1.36.2, as of before it could be chosen."""
    release_told = models.CharField(max_length=64, blank=True, default="", db_default="")
    """What the release was chosen by (`scheduler_core.releases.choosing`)."""
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

    @property
    def release_text(self) -> str:
        """The release with what it was chosen by: `1.37.2 (nodes say v1.37.1)`."""
        return in_words(stored_name(self.release) or UNNAMED.name, self.release_told)


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
