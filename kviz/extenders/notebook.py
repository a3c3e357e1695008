"""Writes down what a real scheduler asked, after it has its answer.

The scheduler waits for the answer but not for our database, so a thread of its own writes: it
turns questions into the trace of the session's run (`observer`), and stores an attempt when the
next one begins or no more is asked about it for a moment. When it cannot keep up, questions go
unrecorded rather than unanswered.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.db import close_old_connections

from kviz.extenders.observer import Observer, Question
from kviz.runs.execution.observe import ObservedTrace, Overtaken, RunIsOver, observed_run_finish

log = logging.getLogger(__name__)

MAX_WAITING: Final = 2_000
MAX_WAITING_BYTES: Final = 32 * 1024 * 1024
MAX_BATCH: Final = 200
SETTLE_S: Final = 0.3
"""An attempt about which nothing was asked for so long is taken to be over."""
WATCHES_KEPT: Final = 16
"""Runs whose state stays in memory; that of others is read again when they go on."""


@dataclass
class _Watch:
    """One run in hand: its trace as far as it is stored, and the questions beyond that."""

    run_id: UUID
    trace: ObservedTrace
    observer: Observer
    unstored: list[Question] = field(default_factory=list)
    heard_at: float = 0.0

    @staticmethod
    def resume(run_id: UUID) -> _Watch:
        """Read what is stored. Raises RunIsOver."""
        observer = Observer()
        return _Watch(run_id, ObservedTrace.resume(run_id, observer.resume), observer)

    def take(self, question: Question) -> None:
        self.unstored.append(question)
        self.observer.take(question)
        self.heard_at = time.monotonic()

    def store(self) -> None:
        """Store the attempts that are over. Raises RunIsOver and Overtaken."""
        if time.monotonic() - self.heard_at >= SETTLE_S or self.observer.too_much:
            self.observer.close()
        told = self.observer.drain()
        if told:
            self.trace.append(told)
            self.unstored = self.unstored[len(self.unstored) - self.observer.n_open :]


class Notebook:
    """A queue and the thread that empties it, started with the first question."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[tuple[UUID, Question]] = queue.Queue(MAX_WAITING)
        self._n_bytes = 0
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._watches: dict[UUID, _Watch] = {}

    def note(self, run_id: UUID, question: Question) -> None:
        """Have a question written soon."""
        with self._guard:
            if self._n_bytes + question.asked.n_bytes > MAX_WAITING_BYTES:
                log.warning("a question of a real scheduler was not recorded: too much at once")
                return
            try:
                self._waiting.put_nowait((run_id, question))
            except queue.Full:
                log.warning("a question of a real scheduler was not recorded: too many at once")
                return
            self._n_bytes += question.asked.n_bytes
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._write, daemon=True)
                self._thread.start()

    def _write(self) -> None:
        while True:
            batch = self._batch()
            try:
                self.store(batch)
            except Exception:
                log.exception("questions of a real scheduler were not recorded")
                self._watches.clear()
            close_old_connections()

    def _batch(self) -> list[tuple[UUID, Question]]:
        """Wait for questions; not for long while an attempt is open."""
        is_open = any(watch.observer.n_open for watch in self._watches.values())
        try:
            batch = [self._waiting.get(timeout=SETTLE_S if is_open else None)]
        except queue.Empty:
            return []
        while len(batch) < MAX_BATCH and not self._waiting.empty():
            batch.append(self._waiting.get_nowait())
        with self._guard:
            self._n_bytes -= sum(question.asked.n_bytes for _, question in batch)
        return batch

    # ------------------------------------------------------------ runs in hand

    def store(self, batch: list[tuple[UUID, Question]]) -> None:
        """Take questions in order, and store whatever is ready of any run."""
        for run_id, question in batch:
            watch = self._watch(run_id)
            if watch is not None:
                watch.take(question)
        for watch in list(self._watches.values()):
            self._store(watch)
        for run_id in list(self._watches)[:-WATCHES_KEPT]:
            if not self._watches[run_id].observer.n_open:
                del self._watches[run_id]

    def _watch(self, run_id: UUID) -> _Watch | None:
        """The run's state, most recently used last; None if the run is over."""
        watch = self._watches.pop(run_id, None)
        try:
            watch = watch or _Watch.resume(run_id)
        except RunIsOver:
            return None
        self._watches[run_id] = watch
        return watch

    def _store(self, watch: _Watch) -> None:
        try:
            watch.store()
        except RunIsOver:
            del self._watches[watch.run_id]
            return
        except Overtaken:
            self._begin_anew(watch)
            return
        if reason := watch.observer.too_much:
            del self._watches[watch.run_id]
            observed_run_finish(run_id=watch.run_id, reason=reason)

    def _begin_anew(self, watch: _Watch) -> None:
        """Word the questions that are not stored again, behind what another process stored."""
        del self._watches[watch.run_id]
        again = self._watch(watch.run_id)
        for question in watch.unstored:
            if again is not None:
                again.take(question)


notebook = Notebook()
