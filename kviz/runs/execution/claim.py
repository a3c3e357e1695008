"""Writes: which worker a run belongs to (`kviz.common.claiming`)."""

from __future__ import annotations

from typing import Final
from uuid import UUID

from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from kviz.common.claiming import COPY, Queue
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
    """Whether a run waits for a worker."""
    return QUEUE.is_waiting()


def runs_release(*, worker: str, **also: int) -> int:
    """Give back what `worker` held; `also` is written with that."""
    return QUEUE.release(worker, **also)


def runs_fail(*, worker: str, error: str) -> list[int]:
    """End what `worker` and its copies hold as failed; the processes of those copies."""
    held = list(QUEUE.of_worker(worker))
    for run in held:
        values = {"status": Run.Status.FAILED, "error": error, "finished_at": timezone.now()}
        claimed_run(run, run.claimed_by).update(claimed_by="", **values)
        run_advanced.send(sender=Run, run_id=run.pk, seq=run.last_seq)
    copies = [run.claimed_by.removeprefix(worker).removeprefix(COPY) for run in held]
    return [int(pid) for pid in copies if pid]


def run_hand_over(*, run_id: UUID, worker: str, copy: int) -> tuple[Run, str] | None:
    """Let a copy of the worker's process have a run that it claimed; None if it has it no more.

    The copy's own name is returned with it: whoever claims the run next is another, so the copy
    notices, whatever has become of the worker.
    """
    name = f"{worker}{COPY}{copy}"
    run = Run.objects.select_related("snapshot").filter(pk=run_id).first()
    if run is None or not QUEUE.held(run, worker).update(claimed_by=name):
        return None
    run.claimed_by = name
    return run, name


def run_to_vary(*, run_id: UUID) -> Run:
    """A run whose beginning a copy simulates once more; it claims nothing of it."""
    return Run.objects.select_related("snapshot").get(pk=run_id)


def run_take_back(*, run_id: UUID, worker: str) -> Run | None:
    """Claim a run again that a copy of the worker has not finished; None if it is over."""
    if not QUEUE.of_worker(worker).filter(pk=run_id).update(claimed_by=worker):
        return None
    return Run.objects.select_related("snapshot").get(pk=run_id)


def claimed_run(run: Run, worker: str) -> QuerySet[Run]:
    """The row of a run as long as the worker's claim holds, else no row."""
    return QUEUE.held(run, worker)
