"""Answers of extenders to a run; and sessions in which kviz is the extender of a real scheduler."""

from __future__ import annotations

import uuid

from django.db import models

from kviz.runs.models import Run


class ExtenderAnswer(models.Model):
    """The answer to one call of a run, kept so that the run can be replayed without asking."""

    class Kind(models.TextChoices):
        REPLY = "reply", "Reply"
        REQUEST_FAILED = "request_failed", "Request failed"
        BODY_FAILED = "body_failed", "Body failed"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="extender_answers")
    number = models.PositiveIntegerField()
    """Of the call within the run, from 0."""
    request_sha256 = models.CharField(max_length=64)
    """Of URL and body: the answer holds only for the same question."""
    kind = models.CharField(max_length=16, choices=Kind)
    status = models.PositiveSmallIntegerField(default=0)
    body = models.BinaryField(default=b"")
    """zstd of the reply's body."""
    error = models.TextField(blank=True, default="")
    duration_ns = models.BigIntegerField()

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="answer_of_run")]

    def __str__(self) -> str:
        return f"{self.run_id} call {self.number}"


class ExtenderSession(models.Model):
    """A watch over a real scheduler that has kviz as its extender. What it tells is `run`."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    run = models.OneToOneField(Run, on_delete=models.CASCADE, related_name="extender_session")
    token = models.CharField(max_length=64, unique=True)
    """Unguessable; whoever has it can add to the session, but not read it."""
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        return self.run.name or str(self.id)
