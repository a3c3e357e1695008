"""A worker gets ready for variants: it has copies rest right before where they may fork."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.utils import timezone

from kviz.runs.execution.fork_points import ForkPoints
from kviz.runs.models import ExpectedFork

EXPECTED_FOR: Final = timedelta(seconds=30)
"""So long after it was asked for a point is still made."""


def expected_fork_prepare(fork_points: ForkPoints) -> bool:
    """Make a point where a variant is expected to fork; False if none is, or not on this way."""
    if not fork_points.are_there:
        return False
    since = timezone.now() - EXPECTED_FOR
    for expected in ExpectedFork.objects.filter(asked_at__gt=since).select_related("run"):
        if fork_points.prepare(expected.run, expected.cycle):
            # One that was asked for meanwhile stays.
            ExpectedFork.objects.filter(pk=expected.pk, asked_at=expected.asked_at).delete()
            return True
    return False
