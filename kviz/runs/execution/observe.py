"""Writes: runs that are observed. Their trace grows by what a real scheduler asks its extender.

Stored, streamed and read it is like any other. No worker has a part in it: the process that
receives the scheduler's calls appends. Several processes may; each appends only behind what it
knows, and one that was overtaken starts again from what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from kviz.accounts.models import Workspace
from kviz.engine_build import engine_build
from kviz.runs.execution.append import AppendRefused, TraceAppender
from kviz.runs.models import Run, TraceChunk
from kviz.runs.signals import run_advanced
from kviz.snapshots.models import Snapshot
from scheduler_core.trace.codec import TraceWriter, read_headers, starts_cycle
from scheduler_core.trace.events import AnyEvent, HeaderEvent, RunFinished
from scheduler_core.wording import made_of

MAX_TRIES: Final = 10
"""How often an end may be overtaken by calls before it is given up."""


class RunIsOver(Exception):
    """The run has ended, or is gone: nothing can be appended."""


class Overtaken(Exception):
    """Another process has appended: read what is stored and come again."""


class ObservedTrace:
    """Appends events to the trace of an observed run."""

    def __init__(self, run: Run) -> None:
        self._run = run
        self._trace = TraceAppender(
            run, TraceWriter.continuing(last_seq=run.last_seq, cycle=run.cycles), owned=_unchanged
        )

    @staticmethod
    def resume(run_id: UUID, take: Callable[[HeaderEvent], None]) -> ObservedTrace:
        """Read a stored trace, handing its headers to `take`, to go on behind it.

        Raises RunIsOver.
        """
        run = _running(run_id)
        trace = ObservedTrace(run)
        index = trace._trace.index
        chunks = TraceChunk.objects.filter(run=run, last_seq__lte=run.last_seq)
        for blob in chunks.order_by("last_seq").values_list("headers", flat=True).iterator(1):
            for event in read_headers(bytes(blob))[1]:
                index.take(event)
                take(event)
        index.drain()
        return trace

    def append(self, events: Iterable[AnyEvent]) -> None:
        """Store events, whole cycles of them.

        Raises RunIsOver, and Overtaken; then nothing is stored and this object is of no more use.
        """
        try:
            with transaction.atomic():
                for event in events:
                    if starts_cycle(event) and self._trace.writer.is_full:
                        self._trace.cut()
                    self._trace.add(event)
                self._trace.cut()
        except AppendRefused:
            raise _why_refused(self._run.pk) from None
        _advanced(self._run)

    def end(self, reason: str) -> None:
        """Store the run's end, with what was counted up to it. Raises RunIsOver and Overtaken."""
        run = self._run
        counts = {"cycles": run.cycles, "bound": run.bound, "pending": run.pending}
        self._trace.add(
            RunFinished(run.cycles, run.bound, run.pending, str(reason), made_of(reason))
        )
        try:
            self._trace.cut(
                **counts,
                status=Run.Status.FINISHED,
                stop_reason=reason,
                finished_at=timezone.now(),
            )
        except AppendRefused:
            raise _why_refused(run.pk) from None
        _advanced(run)


def _unchanged(run: Run) -> QuerySet[Run]:
    """The run's row unless it has ended, or another process has appended."""
    return Run.objects.filter(pk=run.pk, status=Run.Status.RUNNING, last_seq=run.last_seq)


def _running(run_id: UUID) -> Run:
    run = Run.objects.filter(pk=run_id, status=Run.Status.RUNNING).first()
    if run is None:
        raise RunIsOver(run_id)
    return run


def _why_refused(run_id: UUID) -> RunIsOver | Overtaken:
    running = Run.objects.filter(pk=run_id, status=Run.Status.RUNNING).exists()
    return Overtaken(run_id) if running else RunIsOver(run_id)


def _advanced(run: Run) -> None:
    run_advanced.send(sender=Run, run_id=run.pk, seq=run.last_seq)


def observed_run_create(
    *,
    workspace: Workspace,
    name: str,
    snapshot: Snapshot | None,
    events: Iterable[AnyEvent],
    outcomes_told: bool,
) -> Run:
    """Begin a run with the events that say what is known before the scheduler's first call."""
    now = timezone.now()
    with transaction.atomic():
        run = Run.objects.create(
            workspace=workspace,
            kind=Run.Kind.OBSERVED,
            name=name,
            snapshot=snapshot,
            outcomes_told=outcomes_told,
            engine_version=engine_build(),
            status=Run.Status.RUNNING,
            started_at=now,
            heartbeat_at=now,
        )
        ObservedTrace(run).append(events)
    return run


def observed_run_finish(*, run_id: UUID, reason: str = "") -> None:
    """End a run unless it is over; `reason` says why if nobody asked for it."""
    for _ in range(MAX_TRIES):
        try:
            ObservedTrace(_running(run_id)).end(reason)
        except Overtaken:
            continue
        except RunIsOver:
            pass
        return
