"""A run of the scheduler over a snapshot: its inputs, its trace, and an index into the trace.

What its extenders answered belongs to its inputs.
"""

from __future__ import annotations

import uuid
from typing import Any

from django.conf import settings
from django.db import models
from django.urls import reverse
from django.utils import timezone
from django.utils.http import urlencode

from kviz.accounts.models import Workspace
from kviz.common.claiming import Claimed
from kviz.common.said_field import SaidField, SaidTextField
from kviz.runs.known import Known
from kviz.snapshots.models import Snapshot
from scheduler_core.releases import stored_name
from scheduler_core.releases.choosing import in_words


class Run(Claimed):
    """Inputs and progress. The same inputs, seed and engine version give the same trace hash."""

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        PAUSED = "paused", "Paused"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    class Kind(models.TextChoices):
        SIMULATED = "simulated", "Simulated"
        """The engine schedules, in a worker."""
        OBSERVED = "observed", "Observed"
        """A real scheduler does, and the trace grows by what it asks (`runs.execution.observe`)."""

    LIVE = (Status.QUEUED, Status.RUNNING, Status.PAUSED)

    class Older(models.TextChoices):
        """What becomes of a trace in which an older kviz wrote its sentences in English."""

        WAITING = "waiting", "Waiting"
        COMPUTED_AGAIN = "computed_again", "Computed again"
        """It is the trace of this kviz, which decides alike."""
        DECIDES_OTHERWISE = "decides_otherwise", "Decides otherwise"
        """It stays; the run `again` has what this kviz decides."""
        KEPT = "kept", "Kept"
        """It stays, as it cannot be computed again."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, on_delete=models.CASCADE, related_name="runs")
    kind = models.CharField(max_length=10, choices=Kind, default=Kind.SIMULATED)
    name = models.CharField(max_length=200, blank=True, default="")
    """What people call it; empty: as its snapshot."""
    snapshot = models.ForeignKey(
        Snapshot, on_delete=models.CASCADE, related_name="runs", null=True, blank=True
    )
    """The cluster; one that is observed may do without."""
    scheduler_config = models.TextField(blank=True, default="")
    """A KubeSchedulerConfiguration as given; empty means the default profile."""
    scenario = models.TextField(blank=True, default="")
    seed = models.BigIntegerField(default=0)
    release = models.CharField(max_length=16, blank=True, default="")
    """The Kubernetes release whose scheduler is followed; empty if it is not known."""
    release_told = models.CharField(max_length=64, blank=True, default="", db_default="")
    """What it was chosen by (`scheduler_core.releases.choosing`); empty if somebody named it."""
    feature_gates = models.JSONField(default=dict)
    """Gates that were switched, by name: at the start of the run, or by its scenario."""
    tie_break = models.CharField(max_length=8, default="heap")
    queue_order = models.CharField(max_length=8, default="listed")
    changes = models.JSONField(default=list)
    """What is different from all that: `{"cycle", "change", "sentence", "said"}`, docs/changes.md.

    `cycle` is the one that begins when it has been made, 0: the run begins with it. The first
    `n_inherited` are those of the run's parent.
    """
    n_inherited = models.PositiveIntegerField(default=0)
    parent = models.ForeignKey(
        "self", on_delete=models.SET_NULL, related_name="variants", null=True, blank=True
    )
    """The run that this one is a variant of."""
    forked_at = models.PositiveIntegerField(default=0)
    """The cycle of the parent from which on it may differ; 0: from the beginning."""
    engine_version = models.CharField(max_length=64, blank=True, default="")
    """Of the engine that wrote the trace; empty before it starts."""
    older = models.CharField(max_length=20, choices=Older, blank=True, default="", db_default="")
    """Empty: the trace was made by a kviz that stores sentences by their ids."""
    again_of = models.OneToOneField(
        "self", on_delete=models.SET_NULL, related_name="again", null=True, blank=True
    )
    """The run of an older kviz that this one computes again (`runs.execution.again`)."""
    kept_because = SaidTextField(blank=True, default="", db_default="")
    """Why a run of an older kviz could not be computed again, if that was tried."""
    not_modelled = SaidField(default=list)

    out_of_tree_plugins = models.JSONField(default=list)
    """`{"name", "package", "version"}` of every plugin of other packages that it enables."""

    luck = models.JSONField(null=True)
    """How lucky its placements were, if somebody has asked (docs/luck.md): `kviz luck --json`."""

    hidden_after = models.PositiveIntegerField(null=True, blank=True, db_column="veiled_after")
    """The last cycle that may be known; null: all may. What is hidden is not simulated, so that it
    is nowhere (docs/lessons.md): the run pauses before the next cycle, until more is revealed.
    """
    known_part = models.CharField(
        max_length=500, blank=True, default="", db_default="", db_column="veiled_part"
    )
    """What of the next cycle may be known, too (`runs.known.Known`); empty: nothing.

    That part is stored as the last chunk, which the whole cycle takes the place of. Until then
    neither `cycles` nor the index has the cycle.
    """
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    cycles = models.PositiveIntegerField(default=0)
    outcomes_told = models.BooleanField(default=True)
    """Whether it is known which pods were bound: a scheduler does not tell its extenders."""
    calls_missed = models.PositiveIntegerField(default=0, db_default=0)
    """Of an observed run: calls of the scheduler to kviz that could not be recorded."""
    bound = models.PositiveIntegerField(default=0)
    pending = models.PositiveIntegerField(default=0)
    last_seq = models.BigIntegerField(default=-1)
    """The last stored header event; -1 before the first."""
    trace_hash = models.CharField(max_length=64, blank=True, default="")
    """SHA-256 over all events; set when the run is finished."""
    stop_reason = SaidTextField(blank=True, default="")
    """Why the engine stopped, if not because nothing was left to happen."""
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
                name="run_to_claim",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name or self.snapshot} ({self.status})"

    def get_absolute_url(self) -> str:
        return reverse("run-detail", args=[self.pk])

    @property
    def is_observed(self) -> bool:
        return self.kind == self.Kind.OBSERVED

    @property
    def bound_told(self) -> int | None:
        return self.bound if self.outcomes_told else None

    @property
    def pending_told(self) -> int | None:
        return self.pending if self.outcomes_told else None

    @property
    def pods_known(self) -> int:
        """Pods with and without a node, at the end."""
        return self.bound + self.pending

    @property
    def seed_counts(self) -> bool:
        """Whether another seed could give another run: where lots are drawn."""
        return self.tie_break == "draw" or "prioritizeVerb" in self.scheduler_config

    @property
    def release_name(self) -> str:
        """The release with its patch, which runs of the first releases of kviz do not name."""
        return stored_name(self.release)

    @property
    def release_text(self) -> str:
        """The release with what it was chosen by: `1.37.2 (nodes say v1.37.1)`; "" if unknown."""
        return in_words(self.release_name, self.release_told) if self.release else ""

    @property
    def said_of_all(self) -> dict[str, Any]:
        """What each document about the run, or about a part of it, says."""
        return {"release_text": self.release_text, "not_modelled": self.not_modelled}

    @property
    def is_over(self) -> bool:
        return self.status not in self.LIVE

    @property
    def known(self) -> Known | None:
        """How much may be known; None: all."""
        if self.hidden_after is None:
            return None
        return Known.of(self.hidden_after, self.known_part)

    @property
    def is_hidden(self) -> bool:
        """Whether cycles are hidden, and not simulated, until they are revealed."""
        return self.hidden_after is not None and self.status != self.Status.FINISHED


class ShareLinks(models.QuerySet["ShareLink"]):
    def open(self) -> ShareLinks:
        """Those that open their run now."""
        now = timezone.now()
        return self.filter(revoked_at=None).exclude(expires_at__lte=now)


class ShareLink(models.Model):
    """A link that opens a run, for reading, to everyone who has it (`?share=TOKEN`)."""

    token = models.CharField(max_length=64, unique=True)
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="links")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, related_name="+", null=True, blank=True
    )
    """Null: a guest, the local user, or a person whose account was deleted."""
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    """Null: never."""
    opened_at = models.DateTimeField(null=True, blank=True)
    """When somebody else last opened it, to the hour."""
    revoked_at = models.DateTimeField(null=True, blank=True)

    objects = ShareLinks.as_manager()

    class Meta:
        ordering = ("-created_at", "-id")

    def __str__(self) -> str:
        return f"link {self.pk} to {self.run_id}"

    def get_absolute_url(self) -> str:
        """The address to send, on this site."""
        page = reverse("run-detail", args=[self.run_id])
        return f"{page}?{urlencode({'share': self.token})}"

    @property
    def has_expired(self) -> bool:
        return self.expires_at is not None and self.expires_at <= timezone.now()

    @property
    def is_open(self) -> bool:
        return self.revoked_at is None and not self.has_expired


class TraceChunk(models.Model):
    """Consecutive whole cycles of a trace. A chunk without cycles has first > last cycle."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="chunks")
    first_seq = models.BigIntegerField()
    last_seq = models.BigIntegerField()
    first_cycle = models.PositiveIntegerField()
    last_cycle = models.PositiveIntegerField()
    defines = models.BooleanField(default=False)
    """Whether it introduces nodes, pods or an order of nodes that later cycles refer to."""
    headers = models.BinaryField()
    """gzip(MessagePack `[first_seq, [event, ...]]`): sent to browsers unchanged."""
    details = models.BinaryField()
    """zstd(MessagePack `[[cycle, [detail event, ...]], ...]`)."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "first_seq"], name="chunk_of_run")]
        indexes = [
            models.Index(fields=["run", "last_seq"]),
            models.Index(fields=["run", "last_cycle"]),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} seq {self.first_seq}-{self.last_seq}"


class Cycle(models.Model):
    """One line per scheduling cycle: what lists and findings need without reading the trace."""

    class Result(models.TextChoices):
        """`scheduler_core.trace.events.Result`, as scripts see it."""

        SCHEDULED = "scheduled"
        UNSCHEDULABLE = "unschedulable"
        ERROR = "error"
        BIND_ERROR = "bind_error"
        SKIPPED = "skipped"
        WAITING = "waiting"
        UNKNOWN = "unknown"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="cycle_rows")
    number = models.PositiveIntegerField()
    """From 1."""
    seq = models.BigIntegerField()
    """Of the cycle's first header event."""
    now_ns = models.BigIntegerField()
    pod = models.CharField(max_length=512)
    """`namespace/name`."""
    attempt = models.PositiveIntegerField()
    result = models.CharField(max_length=16, choices=Result)
    node = models.CharField(max_length=256, blank=True)
    nominated_node = models.CharField(max_length=256, blank=True)
    message = models.TextField(blank=True)
    n_nodes = models.PositiveIntegerField(default=0)
    n_examined = models.PositiveIntegerField(default=0)
    n_feasible = models.PositiveIntegerField(default=0)
    n_tied = models.PositiveIntegerField(default=0)
    """How many nodes shared the top total; 0 without scoring."""
    n_victims = models.PositiveIntegerField(default=0)
    first_cause = models.CharField(max_length=100, blank=True)
    """Of a pod that found no node: the plugin that was first to reject most nodes."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="cycle_of_run")]
        indexes = [models.Index(fields=["run", "pod", "number"])]

    def __str__(self) -> str:
        return f"{self.run_id} cycle {self.number}"


class PodOutcome(models.Model):
    """Where a pod stands at the run's last stored event: pods that were queued, or evicted."""

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="pod_outcomes")
    pod = models.CharField(max_length=512)
    """`namespace/name`."""
    priority = models.IntegerField(default=0)
    scheduler_name = models.CharField(max_length=256, blank=True)
    queue = models.CharField(max_length=20)
    """`active`, `backoff`, `unschedulable`, `gated`, `waiting_on_permit`, ...; empty: in none.

    `unknown`: the scheduler that is observed has not reported what became of it.
    """
    node = models.CharField(max_length=256, blank=True)
    nominated_node = models.CharField(max_length=256, blank=True)
    attempts = models.PositiveIntegerField(default=0)
    last_cycle = models.PositiveIntegerField(default=0)
    """The pod's last scheduling cycle; 0 if it never had one."""
    gated_by = models.CharField(max_length=100, blank=True)
    backoff_until_ns = models.BigIntegerField(default=0)
    moved_by = models.CharField(max_length=200, blank=True)
    """The cluster event behind the last queue move."""
    evicted_in_cycle = models.PositiveIntegerField(null=True)
    """0: before the first cycle; null: it was not evicted."""
    evicted_by = models.CharField(max_length=512, blank=True)
    deleted = models.BooleanField(default=False)
    owner = models.CharField(max_length=512, blank=True, default="", db_default="")
    """Its controller, as `ReplicaSet/web`; empty if it has none."""
    lead = models.JSONField(null=True)
    """Why it is pending, one sentence with values (`scheduler_core/evidence`), if that is known."""
    cluster_says = SaidField(null=True)
    """What the cluster said of it, and whether the run says the same: `ClusterSays.document`."""

    class Meta:
        constraints = [models.UniqueConstraint(fields=["run", "pod"], name="outcome_of_pod")]

    def __str__(self) -> str:
        return f"{self.pod} in {self.run_id}"


class Optimum(Claimed):
    """The best placement of a run's pods in one mode: asked for, searched for by a worker, found.

    docs/optimum.md. A run has one per mode and cycle; asked again, it is searched for again.
    """

    class Status(models.TextChoices):
        QUEUED = "queued", "Queued"
        RUNNING = "running", "Running"
        FINISHED = "finished", "Finished"
        FAILED = "failed", "Failed"
        CANCELLED = "cancelled", "Cancelled"

    OPEN = (Status.QUEUED, Status.RUNNING)

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="optima")
    mode = models.CharField(max_length=8)
    """`classic`, `snapshot` or `replayed`."""
    at_cycle = models.PositiveIntegerField(default=1)
    """Of what there is when this cycle begins; the first: of the whole run."""
    time_limit_s = models.FloatField(default=10.0)
    status = models.CharField(max_length=10, choices=Status, default=Status.QUEUED)
    answer = models.JSONField(null=True)
    """`kviz.questions.optimum.text.as_document`; null unless finished."""
    progress = models.JSONField(default=list)
    """`{"objective", "incumbent", "bound", "elapsed_s"}`, the latest last."""
    error = SaidTextField(blank=True, default="")
    asked_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["run", "mode", "at_cycle"], name="optimum_of_run")
        ]
        indexes = [
            models.Index(
                fields=["asked_at"],
                condition=models.Q(status__in=["queued", "running"]),
                name="optimum_to_claim",
            )
        ]

    def __str__(self) -> str:
        return f"{self.mode} optimum of {self.run_id} ({self.status})"

    @property
    def is_open(self) -> bool:
        return self.status in self.OPEN


class ExtenderAnswer(models.Model):
    """What an extender answered to one call of a run: replayed, the run needs no extender."""

    class Kind(models.TextChoices):
        REPLY = "reply", "Reply"
        REQUEST_FAILED = "request_failed", "Request failed"
        BODY_FAILED = "body_failed", "Body failed"

    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="extender_answers")
    number = models.PositiveIntegerField()
    """Of the call within the run, from 0."""
    request_sha256 = models.CharField(max_length=64)
    """Of URL and body: the answer holds only for the same request."""
    kind = models.CharField(max_length=16, choices=Kind)
    status = models.PositiveSmallIntegerField(default=0)
    body = models.BinaryField(default=b"")
    """zstd of the reply's body."""
    error = models.TextField(blank=True, default="")
    duration_ns = models.BigIntegerField()

    class Meta:
        app_label = "extenders"  # as its table is called
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="answer_of_run")]

    def __str__(self) -> str:
        return f"{self.run_id} call {self.number}"
