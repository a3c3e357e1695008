"""Writes: runs that are observed. Their trace grows by what a real scheduler tells.

Stored, streamed and read it is like any other. No worker has a part in it: whoever hears the
scheduler appends. Several processes may; each appends only behind what it knows, and one that
was overtaken begins anew from what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final
from uuid import UUID

from django.db import transaction
from django.utils import timezone

from kviz.accounts.models import Workspace
from kviz.runs.models import Run, TraceChunk
from kviz.runs.services import chunk_store
from kviz.snapshots.models import Snapshot
from scheduler_core import ENGINE_VERSION
from scheduler_core.trace.codec import TraceWriter, read_headers, starts_cycle
from scheduler_core.trace.events import AnyEvent, DetailEvent, HeaderEvent, RunFinished
from scheduler_core.trace.index import Delta, TraceIndex

MAX_TRIES: Final = 10
"""How often an end may be overtaken by questions before it is given up."""


class RunIsOver(Exception):
    """The run has ended, or is gone: nothing can be appended."""


class Overtaken(Exception):
    """Another process has appended: read what is stored and come again."""


class ObservedTrace:
    """Appends events to the trace of an observed run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._index = TraceIndex()
        self._writer = TraceWriter.continuing(last_seq=run.last_seq, cycle=run.cycles)

    @staticmethod
    def resume(run_id: UUID, take: Callable[[HeaderEvent], None]) -> ObservedTrace:
        """Read a stored trace, handing its headers to `take`, to go on behind it.

        Raises RunIsOver.
        """
        run = Run.objects.filter(pk=run_id, status=Run.Status.RUNNING).first()
        if run is None:
            raise RunIsOver(run_id)
        trace = ObservedTrace(run)
        chunks = TraceChunk.objects.filter(run=run, last_seq__lte=run.last_seq)
        for blob in chunks.order_by("last_seq").values_list("headers", flat=True).iterator(1):
            for event in read_headers(bytes(blob))[1]:
                trace._index.take(event)
                take(event)
        trace._index.drain()
        return trace

    def append(self, events: Iterable[AnyEvent]) -> int:
        """Store events, whole cycles of them; return the last seq.

        Raises RunIsOver, and Overtaken; then nothing is stored and this object is of no more use.
        """
        with transaction.atomic():
            for event in events:
                if starts_cycle(event) and self._writer.is_full:
                    self._cut()
                self._writer.add(event)
                if not isinstance(event, DetailEvent):
                    self._index.take(event)
            self._cut()
        return self._run.last_seq

    def _cut(self) -> None:
        chunk, delta = self._writer.cut(), self._index.drain()
        if chunk is None:
            return
        index = self._index
        behind = Run.objects.filter(
            pk=self._run.pk, status=Run.Status.RUNNING, last_seq=self._run.last_seq
        )
        stored = behind.update(
            last_seq=chunk.last_seq,
            cycles=index.n_cycles,
            bound=index.n_bound,
            pending=index.n_pending,
            heartbeat_at=timezone.now(),
        )
        if not stored:
            raise _why_not(self._run.pk)
        chunk_store(run=self._run, chunk=chunk, delta=delta)
        self._run.last_seq = chunk.last_seq


def _why_not(run_id: UUID) -> RunIsOver | Overtaken:
    running = Run.objects.filter(pk=run_id, status=Run.Status.RUNNING).exists()
    return Overtaken(run_id) if running else RunIsOver(run_id)


def observed_run_create(
    *, workspace: Workspace, name: str, snapshot: Snapshot | None, events: Iterable[AnyEvent]
) -> Run:
    """Begin a run with the events that tell what is known before the scheduler says a word."""
    now = timezone.now()
    with transaction.atomic():
        run = Run.objects.create(
            workspace=workspace,
            kind=Run.Kind.OBSERVED,
            name=name,
            snapshot=snapshot,
            engine_version=ENGINE_VERSION,
            status=Run.Status.RUNNING,
            started_at=now,
            heartbeat_at=now,
        )
        ObservedTrace(run).append(events)
    return run


def observed_run_finish(*, run_id: UUID, reason: str = "") -> int | None:
    """End a run; `reason` says why if nobody asked for it. None if it was over.

    Otherwise the last seq.
    """
    for _ in range(MAX_TRIES):
        try:
            return _finish(run_id, reason)
        except Overtaken:
            continue
        except RunIsOver:
            return None
    return None


def _finish(run_id: UUID, reason: str) -> int:
    with transaction.atomic():
        run = Run.objects.filter(pk=run_id, status=Run.Status.RUNNING).first()
        if run is None:
            raise RunIsOver(run_id)
        writer = TraceWriter.continuing(last_seq=run.last_seq, cycle=run.cycles)
        writer.add(RunFinished(run.cycles, run.bound, run.pending, reason))
        chunk = writer.cut()
        assert chunk is not None
        running = Run.objects.filter(pk=run_id, status=Run.Status.RUNNING, last_seq=run.last_seq)
        ended = running.update(
            last_seq=chunk.last_seq,
            status=Run.Status.FINISHED,
            stop_reason=reason,
            finished_at=timezone.now(),
        )
        if not ended:
            raise _why_not(run_id)
        chunk_store(run=run, chunk=chunk, delta=Delta([], [], False))
    return chunk.last_seq
