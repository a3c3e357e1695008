"""Answers of extenders to a run; and what a real scheduler asked while kviz was its extender."""

from __future__ import annotations

import uuid

from django.db import models

from kviz.accounts.models import Workspace
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
    """A watch over a real scheduler that has kviz as its extender."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, related_name="extender_sessions"
    )
    name = models.CharField(max_length=200, blank=True)
    token = models.CharField(max_length=64, unique=True)
    """Unguessable; whoever has it can add to the session, but not read it."""
    created_at = models.DateTimeField(auto_now_add=True)
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "id")

    def __str__(self) -> str:
        return self.name or str(self.id)


class ExtenderRequest(models.Model):
    """One question of the real scheduler."""

    class Verb(models.TextChoices):
        FILTER = "filter", "Filter"
        PRIORITIZE = "prioritize", "Prioritize"
        PREEMPT = "preempt", "Preempt"

    session = models.ForeignKey(ExtenderSession, on_delete=models.CASCADE, related_name="requests")
    at = models.DateTimeField()
    verb = models.CharField(max_length=10, choices=Verb)
    pod = models.CharField(max_length=512)
    """`namespace/name`."""
    pod_uid = models.CharField(max_length=64, blank=True)
    n_nodes = models.PositiveIntegerField()
    nodes = models.JSONField(default=list)
    """Names of the nodes that survived the filters so far, or of the candidates; the first ones."""
    whole_nodes = models.BooleanField(default=False)
    """Whether it came with node objects: then the scheduler scores nodes as if they were empty."""
    victims = models.JSONField(default=dict)
    """For preempt: by node, the victims' names (or uids) and the broken budgets."""

    class Meta:
        indexes = [models.Index(fields=["session", "id"])]

    def __str__(self) -> str:
        return f"{self.verb} for {self.pod}"
