"""Writes: a search for the optimum of a run is asked for, and ended."""

from __future__ import annotations

from typing import Final

from django.db import transaction
from django.utils import timezone

from kviz.questions.optimum.jobs import QUEUE
from kviz.runs.models import Optimum, Run
from scheduler_core.analysis.model import Viability

OPTIMUM_LIMIT_S: Final = 10.0
MAX_OPTIMUM_LIMIT_S: Final = 60.0
"""How long a worker searches for an optimum; other runs wait meanwhile."""


def optimum_ask(
    *, run: Run, mode: Viability, time_limit_s: float, at_cycle: int = 1
) -> Optimum | None:
    """Queue the search for the optimum of a run, or of what there is when a cycle begins.

    None while the run is not over, or is observed.

    A running search continues.
    """
    if run.is_observed or run.snapshot is None or not run.is_over or run.is_hidden:
        return None
    with transaction.atomic():
        found, _ = Optimum.objects.select_for_update().get_or_create(
            run=run,
            mode=mode,
            at_cycle=at_cycle,
            defaults={"asked_at": timezone.now(), "time_limit_s": time_limit_s},
        )
        if not found.is_open:
            found.status, found.asked_at = Optimum.Status.QUEUED, timezone.now()
            found.answer, found.progress, found.error = None, [], ""
            found.claims, found.time_limit_s = 0, time_limit_s
            found.save()
        QUEUE.announce(found)
    return found


def optimum_cancel(*, run: Run, mode: Viability, at_cycle: int = 1) -> bool:
    """End a search that is under way or waits; False if there is none."""
    searching = run.optima.filter(mode=mode, at_cycle=at_cycle, status__in=Optimum.OPEN)
    for found in searching:
        QUEUE.withdraw(found)
    return searching.update(status=Optimum.Status.CANCELLED, claimed_by="") == 1
