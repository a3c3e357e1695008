"""Work that waits in a table: which worker a row belongs to, as long as that shows it is alive.

Each claim, hold and release is one conditional UPDATE, so of several workers one gets a row, and a
worker that lost one learns it by its next write. A worker may die at any time: its row is claimed
by another when it has been silent for `CLAIM_EXPIRES`, or at once when it is started again and
gives back what it held.

So it does not matter who sends a worker to a row, or how often: its own look into the table, or a
message that was delivered twice (`kviz.common.announcing`).
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from django.db import InterfaceError, InternalError, OperationalError, models
from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone

from kviz.common import announcing, work_counts
from kviz.common.announcing import Kind

CLAIM_EXPIRES: Final = dt.timedelta(seconds=20)
"""A worker silent for so long is taken for dead, and what it held is claimed by another: within
half a minute, as workers look into the tables every ten seconds."""
StorageFailed = (OperationalError, InterfaceError, InternalError)
"""The database is away, full or read-only (InternalError, where another PostgreSQL took over):
nobody's fault, and no reason to give a row up."""
MAX_CLAIMS: Final = 3
"""Workers that may die on a row without having stored anything new, before it is given up."""
QUEUED: Final = "queued"
RUNNING: Final = "running"
NEVER: Final = dt.datetime.min.replace(tzinfo=dt.UTC)
TRIED: Final = 5
"""So many of the rows that go first are tried, as others may claim them at the same moment."""


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
    """The rows of a table that workers share.

    `oldest` is the column of when they came, `owner` leads to the workspace they are of. `key` is
    the column whose value names a row to workers; rows that belong together share one.
    """

    kind: Kind
    rows: Callable[[], QuerySet[Row]]
    oldest: str
    owner: str = "workspace"
    key: str = "pk"

    def free(self) -> QuerySet[Row]:
        """The rows that wait, or whose worker fell silent.

        A sign of life from the future is none: the clock was put back since.
        """
        now = timezone.now()
        alive = Q(heartbeat_at__range=(now - CLAIM_EXPIRES, now + CLAIM_EXPIRES))
        return self.rows().filter(Q(status=QUEUED) | (Q(status=RUNNING) & ~alive))

    def waiting(self) -> list[str]:
        """The keys of the free rows that go first.

        Workspaces take turns, so that however much one of them waits for, another's first row is
        next: the oldest row of each, that of who was served longest ago first.
        """
        oldest = list(self.free().order_by(self.oldest).values_list(self.key, self.owner))
        first: dict[object, object] = {}
        for key, owner in oldest:
            first.setdefault(owner, key)
        served = self._served(list(first)) if len(first) > 1 else {}
        turns = sorted(first, key=lambda owner: served.get(owner, NEVER))
        keys = [first[owner] for owner in turns] + [key for key, _ in oldest[:TRIED]]
        return [str(key) for key in dict.fromkeys(keys)][:TRIED]

    def _served(self, owners: list[object]) -> dict[object, dt.datetime]:
        """When a worker last worked for each of some workspaces, where one did."""
        rows = self.rows().filter(**{f"{self.owner}__in": owners}, heartbeat_at__isnull=False)
        return dict(rows.order_by().values_list(self.owner).annotate(Max("heartbeat_at")))

    def claim(self, worker: str, **also: object) -> Row | None:
        """Claim the free row whose turn it is; None if there is none."""
        claims = (self.claim_row(key, worker, **also) for key in self.waiting())
        return next((row for row in claims if row is not None), None)

    def claim_row(self, key: str, worker: str, **also: object) -> Row | None:
        """Claim a row; None if it does not wait, and its worker is alive.

        `worker` is a name that no other live worker has; `also` is written with the claim.
        """
        free = self.free().filter(pk=key)
        is_first = free.filter(heartbeat_at=None).exists()
        claimed = free.update(
            status=RUNNING,
            claimed_by=worker,
            claims=F("claims") + 1,
            heartbeat_at=timezone.now(),
            **also,
        )
        row = self.rows().filter(pk=key).first() if claimed else None
        if row is not None and is_first:
            waited = timezone.now() - getattr(row, self.oldest)
            work_counts.waited(self.kind, waited.total_seconds())
        return row

    def state(self, key: str) -> str:
        """What has become of a row."""
        return self.rows().filter(pk=key).values_list("status", flat=True).first() or "deleted"

    def announce(self, row: Row) -> None:
        """Let workers hear of a row that waits, once it is stored."""
        announcing.announce(self.kind, str(getattr(row, self.key)), self._message(row))

    def withdraw(self, row: Row) -> None:
        """Let workers forget a message about a row that is no longer wanted."""
        announcing.withdraw(self._message(row))

    def _message(self, row: Row) -> str:
        """The id of messages about a row. One that came again later has another."""
        return f"{self.kind}-{row.pk}-{getattr(row, self.oldest).timestamp():.6f}"

    def release(self, worker: str, **also: object) -> int:
        """Give back what a worker held; `also` is written with that."""
        held = list(self.of_worker(worker))
        released = self.of_worker(worker).update(status=QUEUED, claimed_by="", **also)
        for row in held:
            self.announce(row)
        return released

    def give_back(self, row: Row, worker: str) -> None:
        """Let others have a row that a worker has begun: it is wanted elsewhere."""
        if self.held(row, worker).update(status=QUEUED, claimed_by="", claims=0):
            self.announce(row)

    def of_worker(self, worker: str) -> QuerySet[Row]:
        """The rows that a worker holds."""
        return self.rows().filter(claimed_by=worker, status=RUNNING)

    def held(self, row: Row, worker: str) -> QuerySet[Row]:
        """The row as long as the worker's claim holds, else no row."""
        return self.rows().filter(pk=row.pk, status=RUNNING, claimed_by=worker)
