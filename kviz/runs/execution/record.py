"""Writes: a worker executes the run it has claimed, and records what the engine emits."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import Final

from django.db import transaction
from django.utils import timezone

from kviz.runs.execution.append import AppendRefused, TraceAppender
from kviz.runs.execution.causes import causes_store
from kviz.runs.execution.claim import MAX_CLAIMS, claimed_run
from kviz.runs.execution.engine import simulate_run
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Run
from kviz.runs.signals import run_advanced
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.trace.codec import TraceWriter, starts_cycle
from scheduler_core.trace.events import AnyEvent, RunStarted

log = logging.getLogger(__name__)

HEARTBEAT_S: Final = 1.0
FLUSH_S: Final = 0.25
"""How long events wait at most (to the end of their cycle) before viewers can see them."""

Engine = Callable[[Run], Iterable[AnyEvent]]


class WorkersDied(Exception):
    """Worker after worker died on the run, for want of memory perhaps; it is given up."""

    def __init__(self) -> None:
        super().__init__(
            f"{MAX_CLAIMS} workers died while executing this run, perhaps for want of memory."
        )


def run_execute(*, run: Run, worker: str, engine: Engine = simulate_run) -> None:
    """Simulate a claimed run and store its trace; continue one that another worker began.

    Ends with the run finished or failed, unless the claim was lost meanwhile.
    """
    _advanced(run)
    try:
        if run.claims > MAX_CLAIMS:
            raise WorkersDied
        recording = _Recording(run, worker)
        try:
            for event in engine(run):
                recording.take(event)
        except PluginFailure:
            recording.flush()  # what came before: the engine hands over whole cycles only
            raise
        recording.finish()
        causes_store(run=run)
    except AppendRefused:
        log.info("run %s is no longer ours", run.pk)
    except (InvalidInput, WorkersDied) as reason:
        _fail(run, worker, str(reason))
    except PluginFailure as failure:
        log.warning("run %s failed", run.pk, exc_info=failure)
        _fail(run, worker, str(failure))
    except Exception:
        log.exception("run %s failed", run.pk)
        _fail(run, worker, "The engine failed. This is a bug; the server's log has the details.")
    _advanced(run)


def _advanced(run: Run) -> None:
    run_advanced.send(sender=Run, run_id=run.pk, seq=run.last_seq)


def _fail(run: Run, worker: str, error: str) -> None:
    claimed_run(run, worker).update(
        status=Run.Status.FAILED, error=error, finished_at=timezone.now(), claimed_by=""
    )


class _Recording:
    """Stores a run's trace chunk by chunk while the engine emits it."""

    def __init__(self, run: Run, worker: str) -> None:
        self._run = run
        self._trace = TraceAppender(
            run,
            TraceWriter(resume_after=run.last_seq),
            owned=lambda run: claimed_run(run, worker),
        )
        self._alive()

    def _alive(self) -> None:
        now = time.monotonic()
        self._flush_at = now + FLUSH_S
        self._heartbeat_at = now + HEARTBEAT_S

    def take(self, event: AnyEvent) -> None:
        """Record the next event; store a chunk first if one is due. Raises AppendRefused."""
        now = time.monotonic()
        if starts_cycle(event) and self._is_due(now):
            self.flush()
        elif now >= self._heartbeat_at:
            self._trace.update(heartbeat_at=timezone.now())
            self._heartbeat_at = now + HEARTBEAT_S
        if isinstance(event, RunStarted):
            self._begin(event)
        self._trace.add(event)

    def _is_due(self, now: float) -> bool:
        """The end of what was stored before is a border, too: the index starts afresh there."""
        writer = self._trace.writer
        return now >= self._flush_at or writer.is_full or writer.last_seq == self._run.last_seq

    def _begin(self, event: RunStarted) -> None:
        """Start over if the stored part was written by another version of the engine."""
        run = self._run
        if run.last_seq >= 0 and run.engine_version != event.engine_version:
            with transaction.atomic():
                self._trace.update(last_seq=-1)
                run.chunks.all().delete()
                run.cycle_rows.all().delete()
                run.pod_outcomes.all().delete()
            self._trace.writer = TraceWriter()
        self._trace.update(
            engine_version=event.engine_version, not_modelled=list(event.not_modelled)
        )

    def flush(self) -> None:
        """Store what was taken since the last time. Raises AppendRefused."""
        if self._trace.cut(claims=0):
            _advanced(self._run)
        else:
            self._trace.update(heartbeat_at=timezone.now())
        self._alive()

    def finish(self) -> None:
        """Store the rest and close the run. Raises AppendRefused."""
        self.flush()
        end = self._trace.index.finished
        if end is None:
            raise RuntimeError("the engine stopped without RunFinished")
        self._trace.update(
            status=Run.Status.FINISHED,
            cycles=end.n_cycles,
            bound=end.n_bound,
            pending=end.n_pending,
            stop_reason=end.reason,
            trace_hash=self._trace.writer.trace_hash(),
            finished_at=timezone.now(),
            claimed_by="",
        )
