"""Writes: which worker an experiment belongs to (`kviz.common.claiming`)."""

from __future__ import annotations

from typing import Final

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from kviz.common.claiming import Queue
from kviz.experiments.models import Experiment

QUEUE: Final = Queue(
    "experiment", lambda: Experiment.objects.select_related("snapshot"), "created_at"
)


def experiment_claim(*, worker: str, key: str = "") -> Experiment | None:
    """Claim an experiment, or without `key` the oldest one that waits; None if another has it."""
    started_at = Coalesce(F("started_at"), timezone.now())
    if key:
        return QUEUE.claim_row(key, worker, started_at=started_at)
    return QUEUE.claim(worker, started_at=started_at)


def experiments_release(*, worker: str, **also: int) -> int:
    """Give back what `worker` held; `also` is written with that."""
    return QUEUE.release(worker, **also)


def claimed_experiment(experiment: Experiment, worker: str) -> QuerySet[Experiment]:
    """The row of an experiment as long as the worker's claim holds, else no row."""
    return QUEUE.held(experiment, worker)
