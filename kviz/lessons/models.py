"""How far a workspace is in a lesson, and lessons given as homework."""

from __future__ import annotations

import uuid

from django.db import models

from kviz.accounts.models import Workspace
from kviz.runs.models import Run


class Progress(models.Model):
    """One workspace's way through one lesson; kept until it begins the lesson again."""

    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="lessons")
    slug = models.CharField(max_length=100)
    sha256 = models.CharField(max_length=64)
    """Of the lesson's file: of another one its steps may be others."""
    run = models.ForeignKey(Run, on_delete=models.SET_NULL, null=True, related_name="lessons")
    """The lesson's run, hidden as the steps say."""
    reached = models.PositiveIntegerField(default=1)
    """The last step (from 1) that may be opened; one beyond the last: the lesson is done."""
    answers = models.JSONField(default=dict)
    """By step: `{"given", "right", "tries"}`; `given` null where the answer was shown unasked."""
    tried = models.JSONField(default=dict)
    """By step: the wrong answers of a question that may be tried again."""
    attempts = models.JSONField(default=dict)
    """By step: `{"changes", "run"}` of the latest attempt at its task, or of what it supposes."""
    begun_at = models.DateTimeField(auto_now_add=True)
    updated_at = models.DateTimeField(auto_now=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "slug"], name="progress_in_lesson")
        ]

    def __str__(self) -> str:
        return f"{self.slug}, step {self.reached}"


class Homework(models.Model):
    """A lesson that a teacher gives away by a link, until it is over or deleted."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    code = models.CharField(max_length=32, unique=True)
    """The secret in the link: whoever has the link may enter."""
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="homework")
    slug = models.CharField(max_length=100)
    sha256 = models.CharField(max_length=64)
    given_at = models.DateTimeField(auto_now_add=True)
    closes_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.slug}, {self.given_at:%Y-%m-%d}"


class HandIn(models.Model):
    """Somebody who took part, and what they handed in: a copy, which outlives their workspace."""

    homework = models.ForeignKey(Homework, on_delete=models.CASCADE, related_name="hand_ins")
    workspace = models.ForeignKey(
        Workspace, on_delete=models.SET_NULL, null=True, related_name="hand_ins"
    )
    name = models.CharField(max_length=40)
    begun_at = models.DateTimeField(auto_now_add=True)
    handed_at = models.DateTimeField(null=True)
    """Of the latest time; null before the first."""
    answers = models.JSONField(default=dict)
    """As `Progress.answers`."""

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["homework", "workspace"], name="one_hand_in_each")
        ]

    def __str__(self) -> str:
        return self.name
