"""An experiment: many variants of one run carried out as one job, and what each came to."""

from __future__ import annotations

import uuid

from django.db import models

from kviz.accounts.models import Workspace
from kviz.common.claiming import QUEUED, Claimed
from kviz.common.said_field import SaidField, SaidTextField
from kviz.runs.models import Run
from kviz.snapshots.models import Snapshot
from scheduler_core.releases import stored_name
from scheduler_core.releases.choosing import in_words


class Experiment(Claimed):
    """What is asked of which cluster, how far the answer is, and the answer."""

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    LIVE = (Status.QUEUED, Status.RUNNING)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="experiments")
    name = models.CharField(max_length=200, blank=True, default="")
    snapshot = models.ForeignKey(Snapshot, on_delete=models.CASCADE, related_name="experiments")
    run = models.ForeignKey(
        Run, on_delete=models.SET_NULL, related_name="experiments", null=True, blank=True
    )
    """The run at whose beginning it starts, if it was not made of a cluster."""
    inputs = models.JSONField(default=dict)
    """What else decides a run: the columns of `Run` in `runs.inputs.INPUTS`, by name."""
    kind = models.CharField(max_length=16)
    """Which of `experiments.kinds` it is."""
    asked = models.JSONField(default=dict)
    """What the question is about; its shape depends on the kind."""

    by_itself = models.BooleanField(default=False, db_default=False)
    """It began when a run was over, and nobody asked for it: all else goes first, no list and no
    limit of a workspace knows it, and it is gone when it is over."""

    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    n_variants = models.PositiveIntegerField(default=0)
    """So many are known to be needed so far; 0 before it begins."""
    n_done = models.PositiveIntegerField(default=0)
    """So many have a row of results."""
    doing = models.JSONField(default=list)
    """The variants under way that have had scheduling cycles, with how many so far.

    Those of the worker that has claimed it; others may run some, too. One without a name is the
    cluster as it is, before there are variants.
    """
    answer = SaidField(null=True)
    """What the results come to; set when it is finished."""
    engine_version = models.CharField(max_length=64, blank=True, default="")
    """Of the engine that the results are of; empty before it begins."""
    error = SaidTextField(blank=True, default="")

    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ("-created_at", "id")
        indexes = [
            models.Index(fields=["workspace", "-created_at"]),
            models.Index(
                fields=["status", "created_at"],
                condition=models.Q(status__in=["queued", "running"]),
                name="experiment_to_claim",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name or self.kind} ({self.status})"

    @property
    def release_text(self) -> str:
        """The release that its runs follow, with what it was chosen by; "" if unknown."""
        name = stored_name(self.inputs.get("release", ""))
        return in_words(name, self.inputs.get("release_told", "")) if name else ""

    @property
    def is_over(self) -> bool:
        return self.status not in self.LIVE


class Portion(Claimed):
    """Some variants of an experiment in a row, which one worker runs.

    It is there as long as one of them has no result.
    """

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="portions")
    first = models.PositiveIntegerField()
    """The place of the first variant, as `Result.variant` has it."""
    stop = models.PositiveIntegerField()
    """The place behind the last."""
    status = models.CharField(max_length=10, default=QUEUED)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["experiment", "first"], name="portion_of_variants"),
        ]

    def __str__(self) -> str:
        return f"{self.experiment_id} variants {self.first} to {self.stop - 1}"


class Result(models.Model):
    """What one variant came to. It is written once, and a variant has one."""

    experiment = models.ForeignKey(Experiment, on_delete=models.CASCADE, related_name="results")
    number = models.PositiveIntegerField()
    """The place at which it was stored, from 1: a reader continues after the last one it has."""
    variant = models.PositiveIntegerField()
    """The variant's place among those of the experiment, from 0."""
    name = models.CharField(max_length=512)
    """What is different, for people."""
    outcome = SaidField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["experiment", "number"], name="number_of_result"),
            models.UniqueConstraint(fields=["experiment", "variant"], name="result_of_variant"),
        ]

    def __str__(self) -> str:
        return f"{self.experiment_id} {self.name}"
