"""Writes: a worker executes the run it has claimed, and records what the engine emits."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from os import getpid
from typing import Final
from uuid import UUID

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
from kviz.runs.execution.claim import claimed_run, run_hand_over, run_to_vary
from kviz.runs.execution.engine import SimulatedRun, simulate_run
from kviz.runs.execution.fork_points import Errand, ForkPoints
from kviz.runs.execution.part_of_cycle import PartOfCycle
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


class VeilReached(Exception):
    """What comes next is veiled: the run pauses here, and all before it is stored."""


class WorkersDied(Exception):
    """Worker after worker died on the run, for want of memory perhaps; it is given up."""

    def __init__(self) -> None:
        super().__init__(
            say(
                "run.workers_died",
                "{n} workers died while executing this run, perhaps for want of memory.",
                n=MAX_CLAIMS,
            )
        )


def run_execute(
    *,
    run: Run,
    worker: str,
    engine: Engine = simulate_run,
    fork_points: ForkPoints | None = None,
) -> None:
    """Simulate a claimed run and store its trace; continue one that another worker began.

    Ends with the run finished or failed, or paused at its veil, unless the claim was lost
    meanwhile. Raises StorageFailed: what was stored stays.

    With `fork_points` copies of this process are left behind, and one of them may return
    from here with another run executed: whoever calls has it leave then (`ForkPoints.leave_copy`).
    """
    _advanced(run)
    recording = _Recording(run, worker, fork_points or ForkPoints(worker, most=0))
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
        causes_store(run=recording.run)
    except VeilReached:
        log.info("run %s pauses at its veil", recording.run.pk)
    except AppendRefused:
        log.info("run %s is no longer ours", recording.run.pk)
    except (InvalidInput, WorkersDied, TookTooLong) as reason:
        recording.fail(told(reason))
    except PluginFailure as failure:
        log.warning("run %s failed", recording.run.pk, exc_info=failure)
        recording.fail(str(failure))
    except StorageFailed:
        raise
    except MemoryError:
        log.exception("run %s failed", recording.run.pk)
        recording.fail(
            say(
                "run.out_of_memory",
                "The worker ran out of memory. A worker with more, or fewer pods, may do.",
            )
        )
    except DataError:
        log.exception("run %s failed", recording.run.pk)
        recording.fail(
            say(
                "run.not_storable",
                "A name or a number in this run is not one that the database can store.",
            )
        )
    except Exception:
        log.exception("run %s failed", recording.run.pk)
        recording.fail(
            say("run.failed", "The engine failed. This is a bug; the server's log has the details.")
        )
    _advanced(recording.run)


def _advanced(run: Run) -> None:
    run_advanced.send(sender=Run, run_id=run.pk, seq=run.last_seq)


class _Recording:
    """Stores a run's trace chunk by chunk while the engine emits it.

    In a copy of the process it may go on as a variant: then `run` is another.
    """

    def __init__(self, run: Run, worker: str, fork_points: ForkPoints) -> None:
        self.run = run
        self._worker = worker
        self._fork_points = fork_points
        self._simulated: SimulatedRun | None = None
        self._rest_before = 0
        """In a copy that only goes up to where a variant is expected to fork: that cycle."""
        self._plugins: tuple[str, ...] = ()
        self._part: PartOfCycle | None = None
        """Of a cycle that is under way and may be known in part: what came of it so far."""
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
        """Take all events, and leave points on the way from which variants may begin."""
        self._simulated = events if isinstance(events, SimulatedRun) else None
        self._fork_points.begin()
        for event in events:
            self.take(event)

    def take(self, event: AnyEvent) -> None:
        """Record the next event; store a chunk first if one is due.

        Raises AppendRefused, VeilReached and TookTooLong.
        """
        if self._rest_before:
            self._take_until_fork(event)
            return
        if self._part is not None:
            if not self._part.hold(event):
                self._stop_in_cycle(self._part, event)
            return
        now = time.monotonic()
        if isinstance(event, CycleStarted) and now >= self._ends_at:
            self.flush()
            raise TookTooLong(RUN)
        if isinstance(event, CycleStarted) and self._is_veiled(event.cycle):
            self._stop_at_veil(event.cycle)
            if self._part is not None:
                self._part.hold(event)
                return
        if isinstance(event, CycleStarted) and self._is_due(event.cycle, now):
            self.flush()
            self._leave_fork_point(event.cycle)
        elif now >= self._heartbeat_at:
            self._trace.update(heartbeat_at=timezone.now())
            self._heartbeat_at = now + HEARTBEAT_S
        if isinstance(event, RunStarted):
            self._plugins = event.plugins
            self._begin(event)
        self._trace.add(event)

    def _is_veiled(self, cycle: int) -> bool:
        veiled_after = self.run.veiled_after
        return veiled_after is not None and cycle > veiled_after

    def _stop_at_veil(self, cycle: int) -> None:
        """Pause before a cycle that is veiled; go on if it was revealed meanwhile, or in part.

        Raises VeilReached, and AppendRefused.
        """
        self.flush()
        known = self.run.known
        if known is not None and known.reach == cycle:
            self._part = PartOfCycle(known, self._plugins)
            return
        veiled = self._owned(self.run).filter(veiled_after__lt=cycle, veiled_part="")
        if veiled.update(status=Run.Status.PAUSED, claimed_by=""):
            raise VeilReached
        self._look_at_veil()
        if self._is_veiled(cycle):
            self._stop_at_veil(cycle)

    def _stop_in_cycle(self, part: PartOfCycle, hidden: AnyEvent) -> None:
        """Pause before the first event of a cycle that is hidden; go on if more was revealed.

        Raises VeilReached, and AppendRefused.
        """
        known = part.known
        chunk = part.chunk(after=self._trace.writer.last_seq)
        if self._trace.cut_part(
            chunk,
            lambda run: self._owned(run).filter(veiled_after=known.cycle, veiled_part=known.words),
            status=Run.Status.PAUSED,
            claimed_by="",
        ):
            raise VeilReached
        self._look_at_veil()
        self._part = None
        for event in (*part.events, hidden):
            self.take(event)

    def _look_at_veil(self) -> None:
        self.run.refresh_from_db(fields=["veiled_after", "veiled_part"])

    def _is_due(self, cycle: int, now: float) -> bool:
        """Whether to store what came before a cycle.

        The end of what was stored before is a border, too: the index starts afresh there. So are
        the last cycle that a variant shares with its parent, for others that fork there, and its
        own first one, which somebody waits for.
        """
        if cycle in self._around_fork:
            return True
        if now >= self._flush_at and not self._is_shared(cycle):
            return True
        writer = self._trace.writer
        return writer.is_full or writer.last_seq == self.run.last_seq

    def _is_shared(self, cycle: int) -> bool:
        """Whether a copy is still on its way to its fork: all before it is stored elsewhere, too.

        So nobody waits for it, and the nearest point is the one that the copy began at.
        """
        return self._fork_points.in_copy and cycle < self.run.forked_at - 1

    @property
    def _around_fork(self) -> tuple[int, ...]:
        forked_at = self.run.forked_at
        return (forked_at - 1, forked_at + 1) if forked_at else ()

    def _leave_fork_point(self, cycle: int) -> None:
        """Leave a point behind if it is time, and all up to here is stored.

        A cycle has been simulated when its first event comes; the changes of the next have not been
        made.
        """
        points, simulated, run = self._fork_points, self._simulated, self.run
        if simulated is None or simulated.calls_extenders or simulated.n_cycles != cycle:
            return
        if self._is_shared(cycle):
            return
        is_last_shared = cycle == run.forked_at - 1
        if run.last_seq != self._trace.writer.last_seq or not (points.is_due() or is_last_shared):
            return
        errand = points.leave(run, cycle, before_fork=is_last_shared)
        if errand is not None:
            self._go_on(errand, simulated)

    def _go_on(self, errand: Errand, simulated: SimulatedRun) -> None:
        """Run an errand from now on, in this copy of the process; or leave it to the worker."""
        self._rest_before, self._ends_at = errand.rest_before, RUN.ends_at()
        try:
            if errand.rest_before:
                self._go_on_towards_fork(errand, simulated)
            else:
                self._go_on_as(errand.run_id, simulated)
        except Exception:
            log.exception("run %s cannot begin in the middle", errand.run_id)
            self._fork_points.leave_copy(1)

    def _go_on_as(self, variant_id: UUID, simulated: SimulatedRun) -> None:
        """Execute a variant."""
        handed = run_hand_over(run_id=variant_id, worker=self._fork_points.worker, copy=getpid())
        if handed is None or not simulated.go_on_as(handed[0]):
            self._fork_points.leave_copy()
            return
        self.run, self._worker = handed
        self._trace.go_on_as(self.run, self._owned)
        log.info("run %s begins with what is known up to cycle %d", variant_id, simulated.n_cycles)
        _advanced(self.run)
        self._alive()

    def _go_on_towards_fork(self, errand: Errand, simulated: SimulatedRun) -> None:
        """Simulate the run that is to be varied, which is another's; nothing is stored."""
        self.run, self._worker = run_to_vary(run_id=errand.run_id), ""
        if not simulated.go_on_as(self.run):
            self._fork_points.leave_copy()

    def _take_until_fork(self, event: AnyEvent) -> None:
        """Hold the next event back; rest right before the fork, for a variant to go on from there.

        It rests with the first event of the cycle before, as after all that is shared
        (`_leave_fork_point`). Leaves otherwise.
        """
        if isinstance(event, CycleStarted):
            if event.cycle == self._rest_before - 1:
                self._rest(event.cycle)
            elif self._trace.writer.is_full:
                self._trace.hold()
        self._trace.add(event)

    def _rest(self, cycle: int) -> None:
        points, simulated = self._fork_points, self._simulated
        self._trace.hold()
        if simulated is not None and simulated.n_cycles == cycle:
            errand = points.leave(self.run, cycle, before_fork=True)
            if errand is not None:
                self._go_on(errand, simulated)
                return
        points.leave_copy()

    def fail(self, error: str) -> None:
        """End the run as failed, if it is still the worker's."""
        self._owned(self.run).update(
            status=Run.Status.FAILED, error=error, finished_at=timezone.now(), claimed_by=""
        )

    def _begin(self, event: RunStarted) -> None:
        """Start over if the stored part was written by another build of the engine."""
        run, build = self.run, engine_build(event.engine_version)
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
        n_cycles = self.run.cycles
        if self._trace.cut(claims=0):
            _advanced(self.run)
            work_counts.cycles_simulated(self.run.cycles - n_cycles)
        else:
            self._trace.update(heartbeat_at=timezone.now())
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
            run_finished.send(sender=Run, run=self.run)
