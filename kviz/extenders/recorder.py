"""Records the calls of a real scheduler, after each has its answer.

The scheduler waits for the answer but not for our database, so a thread of its own writes: it
turns calls into the trace of the session's run (`observer`), and stores an attempt when the next
one begins or no more calls are to come. When it cannot keep up, calls go unrecorded rather
than unanswered.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.db import close_old_connections

from kviz.extenders.observer import SETTLE_S, ObservedCall, Observer
from kviz.runs.execution.observe import ObservedTrace, Overtaken, RunIsOver, observed_run_finish

log = logging.getLogger(__name__)

MAX_WAITING: Final = 2_000
MAX_WAITING_BYTES: Final = 32 * 1024 * 1024
MAX_BATCH: Final = 200
MAX_RUNS: Final = 16
"""Whose state stays in memory; that of others is read again when they go on."""


@dataclass
class _ObservedRun:
    """One run: its trace as far as it is stored, and the calls beyond that."""

    run_id: UUID
    trace: ObservedTrace
    observer: Observer
    unstored: list[ObservedCall] = field(default_factory=list)
    called_at: float = 0.0

    @staticmethod
    def resume(run_id: UUID) -> _ObservedRun:
        """Read what is stored. Raises RunIsOver."""
        observer = Observer()
        return _ObservedRun(run_id, ObservedTrace.resume(run_id, observer.resume), observer)

    def take(self, call: ObservedCall) -> None:
        self.unstored.append(call)
        self.observer.take(call)
        self.called_at = time.monotonic()

    def store(self) -> None:
        """Store the attempts that are over. Raises RunIsOver and Overtaken."""
        silent_s = time.monotonic() - self.called_at
        if silent_s >= self.observer.patience_s or self.observer.too_much:
            self.observer.close()
        events = self.observer.drain()
        if events:
            self.trace.append(events)
            self.unstored = self.unstored[len(self.unstored) - self.observer.n_open :]


class CallRecorder:
    """A queue and the thread that empties it, started with the first call."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[tuple[UUID, ObservedCall]] = queue.Queue(MAX_WAITING)
        self._n_bytes = 0
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._runs: dict[UUID, _ObservedRun] = {}

    def record(self, run_id: UUID, call: ObservedCall) -> None:
        """Have a call written soon."""
        with self._guard:
            if self._n_bytes + call.exchange.n_bytes > MAX_WAITING_BYTES:
                log.warning("a call of a real scheduler was not recorded: too much at once")
                return
            try:
                self._waiting.put_nowait((run_id, call))
            except queue.Full:
                log.warning("a call of a real scheduler was not recorded: too many at once")
                return
            self._n_bytes += call.exchange.n_bytes
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._write, daemon=True)
                self._thread.start()

    def _write(self) -> None:
        while True:
            self.store(self._batch())
            close_old_connections()

    def _batch(self) -> list[tuple[UUID, ObservedCall]]:
        """Wait for calls; not for long while an attempt is open."""
        is_open = any(run.observer.n_open for run in self._runs.values())
        try:
            batch = [self._waiting.get(timeout=SETTLE_S if is_open else None)]
        except queue.Empty:
            return []
        while len(batch) < MAX_BATCH and not self._waiting.empty():
            batch.append(self._waiting.get_nowait())
        with self._guard:
            self._n_bytes -= sum(call.exchange.n_bytes for _, call in batch)
        return batch

    # ------------------------------------------------------------ runs

    def store(self, batch: list[tuple[UUID, ObservedCall]]) -> None:
        """Take calls in order, and store whatever is ready of any run."""
        for run_id, call in batch:
            with self._alone(run_id):
                run = self._run(run_id)
                if run is not None:
                    run.take(call)
        for run in list(self._runs.values()):
            with self._alone(run.run_id):
                self._store(run)
        for run_id in list(self._runs)[:-MAX_RUNS]:
            if not self._runs[run_id].observer.n_open:
                del self._runs[run_id]

    @contextmanager
    def _alone(self, run_id: UUID) -> Iterator[None]:
        """What goes wrong with one run costs its unstored calls, and nothing of any other run."""
        try:
            yield
        except Exception:
            log.exception("calls of the real scheduler of run %s were not recorded", run_id)
            self._runs.pop(run_id, None)

    def _run(self, run_id: UUID) -> _ObservedRun | None:
        """The run's state, most recently used last; None if the run is over."""
        run = self._runs.pop(run_id, None)
        try:
            run = run or _ObservedRun.resume(run_id)
        except RunIsOver:
            return None
        self._runs[run_id] = run
        return run

    def _store(self, run: _ObservedRun) -> None:
        try:
            run.store()
        except RunIsOver:
            del self._runs[run.run_id]
            return
        except Overtaken:
            self._start_again(run)
            return
        if reason := run.observer.too_much:
            del self._runs[run.run_id]
            observed_run_finish(run_id=run.run_id, reason=reason)

    def _start_again(self, run: _ObservedRun) -> None:
        """Take the calls that are not stored again, behind what another process stored."""
        del self._runs[run.run_id]
        again = self._run(run.run_id)
        for call in run.unstored:
            if again is not None:
                again.take(call)


recorder = CallRecorder()
