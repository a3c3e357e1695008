"""Work that waits in a table: which worker a row belongs to, as long as that shows it is alive.

Each claim, hold and release is one conditional UPDATE, so of several workers one gets a row, and a
worker that lost one learns it by its next write. A worker may die at any time: its row is claimed
by another when it has been silent for `CLAIM_EXPIRES`, or at once when it is started again and
gives back what it held.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from django.db import models
from django.db.models import F, Q, QuerySet
from django.utils import timezone

CLAIM_EXPIRES: Final = dt.timedelta(seconds=30)
"""A worker silent for so long is taken for dead, and what it held is claimed by another."""
MAX_CLAIMS: Final = 3
"""Workers that may die on a row without having stored anything new, before it is given up."""
COPY: Final = "#"
"""Stands between a worker's name and the process of its copy."""
QUEUED: Final = "queued"
RUNNING: Final = "running"
TRIED: Final = 5
"""So many of the oldest rows are tried, as others may claim them at the same moment."""


class Claimed(models.Model):
    """A row that a worker claims; its `status` is `QUEUED` or `RUNNING` as long as it is open."""

    claimed_by = models.CharField(max_length=100, blank=True, default="")
    claims = models.PositiveSmallIntegerField(default=0)
    """How often it was claimed since anything was stored: what kills workers is given up."""
    heartbeat_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        abstract = True


Row = TypeVar("Row", bound=Claimed)


@dataclass(frozen=True)
class Queue(Generic[Row]):
    """The rows of a table that workers share; `oldest` is the column of when they came."""

    rows: Callable[[], QuerySet[Row]]
    oldest: str

    def claim(self, worker: str, **also: object) -> Row | None:
        """Claim the oldest row that waits, or whose worker fell silent; None if there is none.

        `worker` is a name that no other live worker has; `also` is written with the claim.
        """
        now = timezone.now()
        silent = Q(status=RUNNING, heartbeat_at__lt=now - CLAIM_EXPIRES)
        free = self.rows().filter(Q(status=QUEUED) | silent)
        for key in free.order_by(self.oldest).values_list("pk", flat=True)[:TRIED]:
            claimed = free.filter(pk=key).update(
                status=RUNNING,
                claimed_by=worker,
                claims=F("claims") + 1,
                heartbeat_at=now,
                **also,
            )
            if claimed:
                return self.rows().get(pk=key)
        return None

    def is_waiting(self) -> bool:
        """Whether a row waits for a worker."""
        return self.rows().filter(status=QUEUED).exists()

    def release(self, worker: str) -> int:
        """Give back what a worker and its copies held; for whoever starts it again."""
        return self.of_worker(worker).update(status=QUEUED, claimed_by="")

    def of_worker(self, worker: str) -> QuerySet[Row]:
        """The rows of a worker and of its copies."""
        by_it = Q(claimed_by=worker) | Q(claimed_by__startswith=f"{worker}{COPY}")
        return self.rows().filter(by_it, status=RUNNING)

    def held(self, row: Row, worker: str) -> QuerySet[Row]:
        """The row as long as the worker's claim holds, else no row."""
        return self.rows().filter(pk=row.pk, status=RUNNING, claimed_by=worker)
