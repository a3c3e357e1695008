"""Writes: which worker an experiment belongs to, for as long as it shows that it is alive."""

from __future__ import annotations

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from kviz.experiments.models import Experiment
from kviz.runs.execution.claim import CLAIM_EXPIRES


def experiment_claim(*, worker: str) -> Experiment | None:
    """Claim the oldest experiment that waits, or whose worker fell silent; None if there is none.

    `worker` is a name no other live worker has.
    """
    now = timezone.now()
    silent = Q(status=Experiment.Status.RUNNING, heartbeat_at__lt=now - CLAIM_EXPIRES)
    free = Q(status=Experiment.Status.QUEUED) | silent
    oldest = Experiment.objects.filter(free).order_by("created_at").values_list("pk", flat=True)
    for experiment_id in oldest[:5]:
        claimed = Experiment.objects.filter(free, pk=experiment_id).update(
            status=Experiment.Status.RUNNING,
            claimed_by=worker,
            claims=F("claims") + 1,
            heartbeat_at=now,
            started_at=Coalesce(F("started_at"), now),
        )
        if claimed:
            return Experiment.objects.select_related("snapshot").get(pk=experiment_id)
    return None


def experiments_release(*, worker: str) -> int:
    """Give back what `worker` held when it died; for whoever starts it again."""
    held = Experiment.objects.filter(status=Experiment.Status.RUNNING, claimed_by=worker)
    return held.update(status=Experiment.Status.QUEUED, claimed_by="")


def claimed_experiment(experiment: Experiment, worker: str) -> QuerySet[Experiment]:
    """The row of an experiment as long as the worker's claim holds, else no row."""
    return Experiment.objects.filter(
        pk=experiment.pk, status=Experiment.Status.RUNNING, claimed_by=worker
    )
