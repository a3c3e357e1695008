"""A cluster as it was uploaded: what was recognised, and the objects themselves."""

from __future__ import annotations

import uuid

from django.db import models
from django.urls import reverse

from kviz.accounts.models import Workspace
from kviz.common.said_field import SaidField
from scheduler_core.api.absent_pods import ABOUT_WORKLOADS
from scheduler_core.releases.choosing import AUTO, chosen_release


class Snapshot(models.Model):
    """An uploaded cluster. The original bytes are never stored: they hold secrets."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(
        Workspace, on_delete=models.CASCADE, null=True, blank=True, related_name="snapshots"
    )
    """The owner; a sample has none and everyone can read it."""
    name = models.CharField(max_length=200)
    sha256 = models.CharField(max_length=64)
    """Of the uploaded files, in the order of their names."""
    counts = models.JSONField(default=dict)
    """Objects per modelled kind."""
    ignored = models.JSONField(default=dict)
    """Objects per kind that scheduling does not look at."""
    warnings = SaidField(default=list)
    """Sentences: what was dropped as secret, what is not modelled, what does not fit together."""
    problems = SaidField(default=list)
    """What could not be read and is missing here, as in a problem document's `errors`."""
    left_out = SaidField(default=list)
    """The same in sentences, the first few: every outcome over this cluster names them."""
    overview = models.JSONField(default=dict)
    """What `kviz.snapshots.overview` makes of the objects; empty for older uploads."""
    release_told = models.CharField(max_length=64, blank=True, default="", db_default="")
    """What is known of the cluster's release (`scheduler_core.releases.choosing`), by the API
    server or by its nodes; empty for older uploads."""
    is_sample = models.BooleanField(default=False)
    share_token = models.CharField(max_length=64, blank=True, default="", db_index=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("-created_at", "id")
        indexes = [models.Index(fields=["workspace", "-created_at"])]
        constraints = [
            models.UniqueConstraint(
                fields=["name"], condition=models.Q(is_sample=True), name="one_sample_per_name"
            )
        ]

    def __str__(self) -> str:
        return self.name

    def get_absolute_url(self) -> str:
        return reverse("snapshot-detail", args=[self.pk])

    @property
    def without_pods(self) -> list[str]:
        """Sentences on workloads of which the upload has no pod, and on pods of a chart's hooks."""
        return [each for each in self.warnings if getattr(each, "id", "") in ABOUT_WORKLOADS]

    @property
    def absent(self) -> list[str]:
        """Sentences on kinds that the upload has none of, though its pods would need them."""
        return [each for each in self.left_out if getattr(each, "id", "") == "absent.kind"]

    @property
    def stuck(self) -> list[str]:
        """Sentences on pods that stay though they were deleted: their node is unreachable."""
        return [each for each in self.warnings if getattr(each, "id", "") == "stuck.terminating"]

    @property
    def release_text(self) -> str:
        """The release that runs follow by themselves, and why; empty for older uploads."""
        return chosen_release(AUTO, self.release_told).text if self.release_told else ""


class SnapshotObjects(models.Model):
    """The objects of a snapshot, packed; apart, so that no list of snapshots loads them."""

    snapshot = models.OneToOneField(
        Snapshot, on_delete=models.CASCADE, primary_key=True, related_name="objects_packed"
    )
    packed = models.BinaryField()
    """What `scheduler_core.api.pack` returned."""
    scheduler_config = models.TextField(blank=True, default="")
    """A KubeSchedulerConfiguration that came with the objects."""
    results = models.JSONField(default=list)
    """What kube-scheduler-simulator wrote on pods, as `SimulatorResult` has it."""

    def __str__(self) -> str:
        return f"objects of {self.snapshot_id}"
