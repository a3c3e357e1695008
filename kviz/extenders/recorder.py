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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.db import close_old_connections, transaction

from kviz.extenders import selectors, services
from kviz.extenders.filling import Filling
from kviz.extenders.observer import SETTLE_S, ObservedCall, Observer
from kviz.runs.execution.observe import ObservedTrace, Overtaken, RunIsOver, observed_run_finish
from kviz.runs.reading.trace import chunk_headers
from scheduler_core.trace.codec import read_headers
from scheduler_core.trace.events import HeaderEvent

log = logging.getLogger(__name__)

MAX_WAITING: Final = 2_000
MAX_WAITING_BYTES: Final = 32 * 1024 * 1024
MAX_BATCH: Final = 200
FILL_S: Final = 1.0
"""So often a followed cluster is looked at that fills a session."""
CHUNKS_AT_ONCE: Final = 100
MAX_RUNS: Final = 16
"""Whose state stays in memory; that of others is read again when they go on."""


@dataclass
class _Filled:
    """The run of a followed cluster that fills this one, and how far it was read."""

    run_id: UUID
    seq: int
    filling: Filling

    @staticmethod
    def of(run_id: UUID, observer: Observer) -> _Filled | None:
        session = selectors.session_of_run(run_id)
        if session is None or session.filled_by_id is None:
            return None
        found = _Filled(session.filled_by_id, -1, Filling(observer.recorder))
        for event in found._read(up_to=session.filled_seq):
            found.filling.learn(event)
        found.seq = session.filled_seq
        return found

    def fill(self, observer: Observer) -> None:
        """Have the observer emit what was told since."""
        for event in self._read():
            for own in self.filling.translated(event):
                observer.fill(own)

    def _read(self, up_to: int | None = None) -> Iterator[HeaderEvent]:
        """Yield the events behind those that were read, and note that."""
        while found := chunk_headers(run_id=self.run_id, after=self.seq, limit=CHUNKS_AT_ONCE):
            for last_seq, headers in found:
                first_seq, events = read_headers(headers)
                for seq, event in enumerate(events, first_seq):
                    if up_to is not None and seq > up_to:
                        return
                    if seq > self.seq:
                        yield event
                self.seq = last_seq


@dataclass
class _ObservedRun:
    """One run: its trace as far as it is stored, and the calls beyond that."""

    run_id: UUID
    trace: ObservedTrace
    observer: Observer
    filled: _Filled | None = None
    unstored: list[ObservedCall] = field(default_factory=list)
    called_at: float = 0.0

    @staticmethod
    def resume(run_id: UUID) -> _ObservedRun:
        """Read what is stored. Raises RunIsOver."""
        observer = Observer()
        trace = ObservedTrace.resume(run_id, observer.resume)
        return _ObservedRun(run_id, trace, observer, _Filled.of(run_id, observer))

    def take(self, call: ObservedCall) -> None:
        self.unstored.append(call)
        self.observer.take(call)
        self.called_at = time.monotonic()

    def store(self) -> None:
        """Store the attempts that are over. Raises RunIsOver and Overtaken."""
        silent_s = time.monotonic() - self.called_at
        if silent_s >= self.observer.patience_s or self.observer.too_much:
            self.observer.close()
        if self.filled is not None and not self.observer.n_open:
            self.filled.fill(self.observer)
        events = self.observer.drain()
        if events:
            with transaction.atomic():
                self.trace.append(events)
                if self.filled is not None:
                    services.session_filled(run_id=self.run_id, seq=self.filled.seq)
            self.unstored = self.unstored[len(self.unstored) - self.observer.n_open :]


class CallRecorder:
    """A queue and the thread that empties it, started with the first call."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[tuple[UUID, ObservedCall | None]] = queue.Queue(MAX_WAITING)
        self._n_bytes = 0
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._runs: dict[UUID, _ObservedRun] = {}

    def look(self, run_id: UUID) -> None:
        """Have a session filled that no scheduler has called yet."""
        with self._guard, suppress(queue.Full):
            self._waiting.put_nowait((run_id, None))
            self._ensure_thread()

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
            self._ensure_thread()

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._write, daemon=True)
            self._thread.start()

    def _write(self) -> None:
        while True:
            self.store(self._batch())
            close_old_connections()

    def _batch(self) -> list[tuple[UUID, ObservedCall | None]]:
        """Wait for calls; not for long while an attempt is open, or a session is filled."""
        timeout_s = None
        if any(run.observer.n_open for run in self._runs.values()):
            timeout_s = SETTLE_S
        elif any(run.filled for run in self._runs.values()):
            timeout_s = FILL_S
        try:
            batch = [self._waiting.get(timeout=timeout_s)]
        except queue.Empty:
            return []
        while len(batch) < MAX_BATCH and not self._waiting.empty():
            batch.append(self._waiting.get_nowait())
        with self._guard:
            self._n_bytes -= sum(call.exchange.n_bytes for _, call in batch if call)
        return batch

    # ------------------------------------------------------------ runs

    def store(self, batch: Sequence[tuple[UUID, ObservedCall | None]]) -> None:
        """Take calls in order, and store whatever is ready of any run."""
        for run_id, call in batch:
            with self._alone(run_id):
                run = self._run(run_id)
                if run is not None and call is not None:
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
