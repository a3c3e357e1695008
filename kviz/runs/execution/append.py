"""Writes: a trace grows at its end, chunk by chunk, and the index of cycles and pods with it.

Workers and observers of a real scheduler append through the same `TraceAppender`; they differ in
what makes a run theirs. A run that was saved as a file is stored by `chunk_store` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from operator import attrgetter
from typing import Final, TypeAlias, cast
from uuid import UUID

from django.db import connection, models, transaction
from django.db.models import QuerySet
from django.utils import timezone

from kviz.runs.models import Cycle, PodOutcome, Run, TraceChunk
from scheduler_core.trace.codec import Chunk, TraceWriter
from scheduler_core.trace.events import AnyEvent, DetailEvent
from scheduler_core.trace.index import CycleRow, Delta, PodRow, TraceIndex

# Many rows at once, inserted or updated: what a running simulation stores all the time.
#
# The ORM's `bulk_create` builds SQL for every batch again, which costs more than simulating. This
# is plain SQL that SQLite and PostgreSQL both read.

Field: TypeAlias = "models.Field[object, object]"
Value = bool | int | str | UUID | None


def upsert(
    model: type[models.Model],
    fields: Sequence[str],
    rows: Sequence[Sequence[Value]],
    *,
    unique: Sequence[str],
) -> None:
    """Insert rows, whose values align with `fields`; where `unique` is taken, update instead.

    Values are as the database wants them (`get_db_prep_save` has been applied where it matters).
    """
    quote = connection.ops.quote_name
    found = {name: cast("Field", model._meta.get_field(name)) for name in fields}
    columns = {name: quote(field.column) for name, field in found.items()}
    changes = ", ".join(
        f"{column} = EXCLUDED.{column}" for name, column in columns.items() if name not in unique
    )
    sql = (
        f"INSERT INTO {quote(model._meta.db_table)} ({', '.join(columns.values())}) "
        f"VALUES ({', '.join(['%s'] * len(columns))}) "
        f"ON CONFLICT ({', '.join(columns[name] for name in unique)}) DO UPDATE SET {changes}"
    )
    with connection.cursor() as cursor:
        cursor.executemany(sql, rows)


Owned = Callable[[Run], QuerySet[Run]]
"""The row of a run while the caller may change it, else no row."""


class AppendRefused(Exception):
    """The run is no longer its appender's: paused, over, deleted, or another one was quicker.

    Nothing was stored.
    """


class TraceAppender:
    """Takes events in order and stores them as chunks, for as long as `owned` finds the run."""

    def __init__(self, run: Run, writer: TraceWriter, owned: Owned) -> None:
        self._run = run
        self._owned = owned
        self.writer = writer
        self.index = TraceIndex()
        self._replaces_part = False

    def add(self, event: AnyEvent) -> None:
        """Take the next event; it is stored with the next `cut`."""
        self.writer.add(event)
        if not isinstance(event, DetailEvent):
            self.index.take(event)

    def cut(self, **columns: object) -> bool:
        """Store what was added since the last cut; False if there was nothing.

        `columns` are changes of the run that go with it, in place of what the index has counted.
        Raises AppendRefused.
        """
        chunk, delta = self.writer.cut(), self.index.drain()
        if chunk is None:
            return False
        progress: dict[str, object] = {
            "last_seq": chunk.last_seq,
            "cycles": self.index.n_cycles,
            "bound": self.index.n_bound,
            "pending": self.index.n_pending,
            "heartbeat_at": timezone.now(),
        }
        with transaction.atomic():
            self.update(**progress | columns)
            if self._replaces_part:
                self._run.chunks.filter(first_seq__gte=chunk.first_seq).delete()
            chunk_store(run=self._run, chunk=chunk, delta=delta)
        self._replaces_part = False
        return True

    def resume(self) -> None:
        """Go on after the last whole cycle; a part of the next gives way to the first cut."""
        part = self._run.chunks.filter(last_cycle__gt=self._run.cycles).first()
        if part is not None:
            self._run.last_seq, self._replaces_part = part.first_seq - 1, True
            self.writer = TraceWriter(resume_after=self._run.last_seq)

    def cut_part(self, part: Chunk, owned: Owned, **columns: object) -> bool:
        """Store what may be known of the next cycle, if the run is still as `owned` wants it.

        The cycle's events have not been added. False: nothing was stored.
        """
        with transaction.atomic():
            stored = owned(self._run).update(last_seq=part.last_seq, **columns)
            if stored:
                self._run.chunks.filter(first_seq__gte=part.first_seq).delete()
                chunk_store(run=self._run, chunk=part, delta=Delta([], [], defines=False))
        return bool(stored)

    def update(self, **columns: object) -> None:
        """Change the run itself. Raises AppendRefused."""
        if not self._owned(self._run).update(**columns):
            raise AppendRefused(self._run.pk)
        for name, value in columns.items():
            setattr(self._run, name, value)


def chunk_store(*, run: Run, chunk: Chunk, delta: Delta) -> None:
    """Append a chunk to the trace, and bring the index up to it. Call it in a transaction."""
    TraceChunk.objects.create(
        run=run,
        first_seq=chunk.first_seq,
        last_seq=chunk.last_seq,
        first_cycle=chunk.first_cycle,
        last_cycle=chunk.last_cycle,
        defines=delta.defines,
        headers=chunk.headers,
        details=chunk.details,
    )
    run_id = _key(run)
    upsert(
        Cycle,
        ("run", *_CYCLE_FIELDS, "n_victims"),
        [(run_id, *_CYCLE_VALUES(row), len(row.victims)) for row in delta.cycles],
        unique=("run", "number"),
    )
    upsert(
        PodOutcome,
        ("run", *_POD_FIELDS),
        [(run_id, *_POD_VALUES(row)) for row in delta.pods],
        unique=("run", "pod"),
    )


def _key(run: Run) -> str | UUID:
    """The primary key as the database wants it."""
    key: str | UUID = Run._meta.pk.get_db_prep_save(run.pk, connection)
    return key


_READ_IN_EVENTS: Final = ("victims", "devices", "n_held")
"""What a stored cycle has no column for: the trace has them."""
_CYCLE_FIELDS: Final = [
    field.name for field in fields(CycleRow) if field.name not in _READ_IN_EVENTS
]
_CYCLE_VALUES: Final = attrgetter(*_CYCLE_FIELDS)
_POD_FIELDS: Final = [field.name for field in fields(PodRow)]
_POD_VALUES: Final = attrgetter(*_POD_FIELDS)
