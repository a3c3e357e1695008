"""Writes: which worker a run belongs to, for as long as it shows that it is alive."""

from __future__ import annotations

import datetime as dt
from typing import Final
from uuid import UUID

from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from kviz.runs.models import Run

CLAIM_EXPIRES: Final = dt.timedelta(seconds=30)
"""A worker silent for so long is taken for dead, and its run is claimed by another."""
MAX_CLAIMS: Final = 3
"""Workers that may die on a run without having stored anything new, before it is given up."""
COPY: Final = "#"
"""Stands between a worker's name and the process of its copy."""


def run_claim(*, worker: str) -> Run | None:
    """Claim the oldest run that waits, or whose worker fell silent; None if there is none.

    `worker` is a name no other live worker has.
    """
    now = timezone.now()
    free = Q(status=Run.Status.QUEUED) | Q(
        status=Run.Status.RUNNING, heartbeat_at__lt=now - CLAIM_EXPIRES
    )
    free &= Q(kind=Run.Kind.SIMULATED)
    for run_id in Run.objects.filter(free).order_by("created_at").values_list("pk", flat=True)[:5]:
        claimed = Run.objects.filter(free, pk=run_id).update(
            status=Run.Status.RUNNING,
            claimed_by=worker,
            claims=F("claims") + 1,
            heartbeat_at=now,
            started_at=Coalesce(F("started_at"), now),
        )
        if claimed:
            return Run.objects.select_related("snapshot").get(pk=run_id)
    return None


def runs_wait() -> bool:
    """Whether a run waits for a worker."""
    return Run.objects.filter(status=Run.Status.QUEUED, kind=Run.Kind.SIMULATED).exists()


def runs_release(*, worker: str) -> int:
    """Give back what `worker` held when it died; for whoever starts it again."""
    held = _held(worker)
    return held.update(status=Run.Status.QUEUED, claimed_by="")


def run_hand_over(*, run_id: UUID, worker: str, copy: int) -> tuple[Run, str] | None:
    """Let a copy of the worker's process have a run that it claimed; None if it has it no more.

    The copy's own name is returned with it: whoever claims the run next is another, so the copy
    notices, whatever has become of the worker.
    """
    name = f"{worker}{COPY}{copy}"
    held = Run.objects.filter(pk=run_id, status=Run.Status.RUNNING, claimed_by=worker)
    if not held.update(claimed_by=name):
        return None
    return Run.objects.select_related("snapshot").get(pk=run_id), name


def run_take_back(*, run_id: UUID, worker: str) -> Run | None:
    """Claim a run again that a copy of the worker has not finished; None if it is over."""
    if not _held(worker).filter(pk=run_id).update(claimed_by=worker):
        return None
    return Run.objects.select_related("snapshot").get(pk=run_id)


def _held(worker: str) -> QuerySet[Run]:
    """The runs of a worker and of its copies."""
    by_it = Q(claimed_by=worker) | Q(claimed_by__startswith=f"{worker}{COPY}")
    return Run.objects.filter(by_it, status=Run.Status.RUNNING)


def claimed_run(run: Run, worker: str) -> QuerySet[Run]:
    """The row of a run as long as the worker's claim holds, else no row."""
    return Run.objects.filter(pk=run.pk, status=Run.Status.RUNNING, claimed_by=worker)
