"""Sessions in which kviz is the extender of a real scheduler."""

from __future__ import annotations

import uuid

from django.db import models

from kviz.runs.models import Run


class ExtenderSession(models.Model):
    """A real scheduler has kviz as its extender for a time; `run` records its calls."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="extender_session")
    token = models.CharField(max_length=64, unique=True)
    """Unguessable; everyone who has it can add to the session, but not read it."""
    filled_by = models.ForeignKey(
        Run, on_delete=models.SET_NULL, null=True, blank=True, related_name="fills"
    )
    """The run of its cluster, if that is followed: it has what an extender does not get."""
    filled_seq = models.BigIntegerField(default=-1)
    """The last event of that run which is in this session's run."""
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        return self.run.name or str(self.id)

    @property
    def is_listening(self) -> bool:
        return self.revoked_at is None and not self.run.is_over
