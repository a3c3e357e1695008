"""Writes: which worker an experiment belongs to (`kviz.common.claiming`)."""

from __future__ import annotations

from typing import Final

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from kviz.common.claiming import Queue
from kviz.experiments.models import Experiment

QUEUE: Final = Queue(lambda: Experiment.objects.select_related("snapshot"), "created_at")


def experiment_claim(*, worker: str) -> Experiment | None:
    """Claim the oldest experiment that waits, or whose worker fell silent; None if none is."""
    return QUEUE.claim(worker, started_at=Coalesce(F("started_at"), timezone.now()))


def experiments_release(*, worker: str) -> int:
    """Give back what `worker` held when it died; for whoever starts it again."""
    return QUEUE.release(worker)


def claimed_experiment(experiment: Experiment, worker: str) -> QuerySet[Experiment]:
    """The row of an experiment as long as the worker's claim holds, else no row."""
    return QUEUE.held(experiment, worker)
