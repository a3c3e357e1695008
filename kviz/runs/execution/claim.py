"""Writes: which worker a run belongs to (`kviz.common.claiming`)."""

from __future__ import annotations

from typing import Final

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from kviz.common.claiming import Queue
from kviz.runs.models import Run
from kviz.runs.signals import run_advanced

QUEUE: Final = Queue(
    "run",
    lambda: Run.objects.filter(kind=Run.Kind.SIMULATED).select_related("snapshot"),
    "created_at",
)


def run_claim(*, worker: str, key: str = "") -> Run | None:
    """Claim a run, or without `key` the one whose turn it is; None if another has it."""
    started_at = Coalesce(F("started_at"), timezone.now())
    if key:
        return QUEUE.claim_row(key, worker, started_at=started_at)
    return QUEUE.claim(worker, started_at=started_at)


def runs_wait() -> bool:
    """Whether a run waits for a worker, or for another than the one that fell silent."""
    return QUEUE.free().exists()


def runs_release(*, worker: str, **also: int) -> int:
    """Give back what `worker` held; `also` is written with that."""
    return QUEUE.release(worker, **also)


def runs_fail(*, worker: str, error: str) -> None:
    """End what `worker` holds as failed."""
    for run in QUEUE.of_worker(worker):
        values = {"status": Run.Status.FAILED, "error": error, "finished_at": timezone.now()}
        claimed_run(run, worker).update(claimed_by="", **values)
        run_advanced.send(sender=Run, run_id=run.pk, seq=run.last_seq)


def claimed_run(run: Run, worker: str) -> QuerySet[Run]:
    """The row of a run as long as the worker's claim holds, else no row."""
    return QUEUE.held(run, worker)
