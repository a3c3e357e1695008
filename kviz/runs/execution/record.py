"""Writes: a worker executes the run it has claimed, and records what the engine emits."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import Final

from django.db import DataError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from kviz import sentences
from kviz.common import tracing, work_counts
from kviz.common.claiming import MAX_CLAIMS, StorageFailed
from kviz.common.time_limits import RUN, TookTooLong
from kviz.engine_build import engine_build
from kviz.runs.execution.append import AppendRefused, TraceAppender
from kviz.runs.execution.causes import causes_store
from kviz.runs.execution.claim import claimed_run
from kviz.runs.execution.engine import simulate_run
from kviz.runs.execution.extender_answers import AnswerMissing
from kviz.runs.execution.hidden_part import HiddenPart, HiddenPartReached
from kviz.runs.execution.verdicts import verdicts_store
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Run
from kviz.runs.signals import run_advanced, run_finished
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.trace.codec import TraceWriter
from scheduler_core.trace.events import AnyEvent, CycleStarted, RunStarted
from scheduler_core.wording import say, told

log = logging.getLogger(__name__)

HEARTBEAT_S: Final = 1.0
FLUSH_S: Final = 0.25
"""How long events wait at most (to the end of their cycle) before viewers can see them."""

Engine = Callable[[Run], Iterable[AnyEvent]]


class WorkersDied(Exception):
    """Gave up after `MAX_CLAIMS` workers died on this run (probably out of memory)."""

    def __init__(self) -> None:
        super().__init__(
            say(
                "run.workers_died",
                "Gave up after {n} workers died on this run (probably out of memory).",
                n=MAX_CLAIMS,
            )
        )


def run_execute(*, run: Run, worker: str, engine: Engine = simulate_run) -> None:
    """Simulate a claimed run and store its trace; continue one that another worker began.

    Ends with the run finished or failed, or paused before what is hidden, unless the claim was lost
    meanwhile. Raises StorageFailed: what was stored stays.
    """
    _advanced(run)
    recording = _Recording(run, worker)
    try:
        if run.claims > MAX_CLAIMS:
            raise WorkersDied
        try:
            with tracing.span("run", run=str(run.pk)):
                recording.record(engine(run))
        except PluginFailure:
            recording.flush()  # what came before: the engine hands over whole cycles only
            raise
        recording.finish()
        verdicts_store(run=run)
        causes_store(run=run)
    except HiddenPartReached:
        log.info("run %s pauses before what is hidden", run.pk)
    except AppendRefused:
        log.info("run %s is no longer ours", run.pk)
    except (AnswerMissing, InvalidInput, WorkersDied, TookTooLong) as reason:
        recording.fail(told(reason))
    except PluginFailure as failure:
        log.warning("run %s failed", run.pk, exc_info=failure)
        recording.fail(str(failure))
    except StorageFailed:
        raise
    except MemoryError:
        log.exception("run %s failed", run.pk)
        recording.fail(
            say(
                "run.out_of_memory",
                "The worker ran out of memory. A worker with more, or fewer pods, may do.",
            )
        )
    except DataError:
        log.exception("run %s failed", run.pk)
        recording.fail(
            say(
                "run.not_storable",
                "A name or a number in this run is not one that the database can store.",
            )
        )
    except Exception:
        log.exception("run %s failed", run.pk)
        recording.fail(
            say("run.failed", "The engine failed. This is a bug; the server's log has the details.")
        )
    _advanced(run)


def _advanced(run: Run) -> None:
    run_advanced.send(sender=Run, run_id=run.pk, seq=run.last_seq)


class _Recording:
    """Stores a run's trace chunk by chunk while the engine emits it."""

    def __init__(self, run: Run, worker: str) -> None:
        self._run = run
        self._worker = worker
        self._trace = TraceAppender(run, TraceWriter(resume_after=run.last_seq), self._owned)
        self._trace.resume()
        self._ends_at = RUN.ends_at()
        self._alive()

    def _owned(self, run: Run) -> QuerySet[Run]:
        return claimed_run(run, self._worker)

    def _alive(self) -> None:
        now = time.monotonic()
        self._flush_at = now + FLUSH_S
        self._heartbeat_at = now + HEARTBEAT_S

    def record(self, events: Iterable[AnyEvent]) -> None:
        """Record the events that viewers may see.

        Raises AppendRefused, HiddenPartReached and TookTooLong.
        """
        hidden = HiddenPart(self._run, self._trace, self._owned, self.flush)
        for event in hidden.revealed(events):
            self._take(event)

    def _take(self, event: AnyEvent) -> None:
        """Record the next event; store a chunk first if one is due."""
        now = time.monotonic()
        if isinstance(event, CycleStarted) and now >= self._ends_at:
            self.flush()
            raise TookTooLong(RUN)
        if isinstance(event, CycleStarted) and self._is_due(now):
            self.flush()
        elif now >= self._heartbeat_at:
            self._trace.update(heartbeat_at=timezone.now())
            work_counts.progress()
            self._heartbeat_at = now + HEARTBEAT_S
        if isinstance(event, RunStarted):
            self._begin(event)
        self._trace.add(event)

    def _is_due(self, now: float) -> bool:
        """Whether to store what came before a cycle.

        The end of what was stored before is a border, too: the index starts afresh there.
        """
        writer = self._trace.writer
        return now >= self._flush_at or writer.is_full or writer.last_seq == self._run.last_seq

    def fail(self, error: str) -> None:
        """End the run as failed, if it is still the worker's."""
        self._owned(self._run).update(
            status=Run.Status.FAILED, error=error, finished_at=timezone.now(), claimed_by=""
        )

    def _begin(self, event: RunStarted) -> None:
        """Start over if the stored part was written by another build of the engine."""
        run, build = self._run, engine_build(event.engine_version)
        if run.last_seq >= 0 and run.engine_version != build:
            with transaction.atomic():
                self._trace.update(last_seq=-1)
                run.chunks.all().delete()
                run.cycle_rows.all().delete()
                run.pod_outcomes.all().delete()
            self._trace.writer = TraceWriter()
        not_modelled = sentences.all_spoken(event.not_modelled, event.said)
        self._trace.update(engine_version=build, not_modelled=not_modelled)

    def flush(self) -> None:
        """Store what was taken since the last time. Raises AppendRefused."""
        n_cycles = self._run.cycles
        if self._trace.cut(claims=0):
            _advanced(self._run)
            work_counts.cycles_simulated(self._run.cycles - n_cycles)
        else:
            self._trace.update(heartbeat_at=timezone.now())
        work_counts.progress()
        self._alive()

    def finish(self) -> None:
        """Store the rest and close the run. Raises AppendRefused."""
        self.flush()
        end = self._trace.index.finished
        if end is None:
            raise RuntimeError("the engine stopped without RunFinished")
        with transaction.atomic():
            self._trace.update(
                status=Run.Status.FINISHED,
                cycles=end.n_cycles,
                bound=end.n_bound,
                pending=end.n_pending,
                stop_reason=sentences.spoken(end.reason, end.said),
                trace_hash=self._trace.writer.trace_hash(),
                finished_at=timezone.now(),
                claimed_by="",
            )
            if self._run.again_of_id is None:
                run_finished.send(sender=Run, run=self._run)
