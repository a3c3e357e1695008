"""A worker gets ready for variants: it has copies rest right before where they may fork."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.utils import timezone

from kviz.runs.execution.fork_points import ForkPoints
from kviz.runs.models import ExpectedFork

EXPECTED_FOR: Final = timedelta(seconds=30)
"""So long after it was asked for a point is still made."""


def expected_forks() -> list[str]:
    """Keys of runs that somebody is about to fork, those first that were asked for first."""
    since = timezone.now() - EXPECTED_FOR
    expected = ExpectedFork.objects.filter(asked_at__gt=since)
    return [str(key) for key in expected.values_list("run_id", flat=True)]


def expected_fork_prepare(*, key: str, fork_points: ForkPoints) -> bool:
    """Make a point where a run is expected to be forked; False if it is not on this worker's way.

    Then it is left to another worker.
    """
    if not fork_points.are_there:
        return False
    expected = ExpectedFork.objects.filter(run_id=key).select_related("run").first()
    if expected is None or not fork_points.prepare(expected.run, expected.cycle):
        return False
    # One that was asked for meanwhile stays.
    ExpectedFork.objects.filter(pk=expected.pk, asked_at=expected.asked_at).delete()
    return True
