"""Records the calls of a real scheduler, after each has its answer.

The scheduler waits for the answer but not for our database, so a separate thread writes: it
turns calls into the trace of the session's run (`observer`), and stores an attempt when the next
one begins or no more calls are to come. While the database is away, calls wait. When it cannot keep
up, calls go unrecorded rather than unanswered, and are counted.
"""

from __future__ import annotations

import logging
import queue
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Final
from uuid import UUID

from django.db import close_old_connections, transaction
from msgspec.structs import replace

from kviz.common.claiming import StorageFailed
from kviz.common.observed import MISSED
from kviz.extenders import selectors, services
from kviz.extenders.observer import SETTLE_S, ObservedCall, Observer
from kviz.runs.execution.observe import ObservedTrace, Overtaken, RunIsOver, observed_run_finish
from kviz.runs.reading.trace import chunk_headers
from scheduler_core.trace.codec import read_headers
from scheduler_core.trace.events import (
    Bound,
    ClockAdvanced,
    EventRecorded,
    HeaderEvent,
    NodeAdded,
    NodeDeleted,
    NodeUpdated,
    NominationChanged,
    PodAdded,
    PodDeleted,
    PodUpdated,
    ResourcesDefined,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import NONE

# What a followed cluster tells goes into the run of an extender's session: two sources, one run.
#
# A scheduler does not tell its extender which node it chose, what its nodes look like, or why a pod
# waits; its cluster does. Events of the followed run are read as they are stored, and written again
# with the numbers of the session's run.


@dataclass
class Filling:
    """Reads the events of a followed run: `known` are names behind its numbers."""

    own: Recorder
    """Of the session's run."""
    _nodes: dict[int, str] = field(default_factory=dict)
    _pods: dict[int, str] = field(default_factory=dict)
    _resources: list[str] = field(default_factory=list)

    def learn(self, event: HeaderEvent) -> None:
        """Take in names, without writing anything."""
        match event:
            case ResourcesDefined():
                self._resources += event.names
            case NodeAdded():
                self._nodes[event.node] = event.name
            case PodAdded():
                self._pods[event.pod] = event.uid
            case _:
                pass

    def translated(self, event: HeaderEvent) -> Iterator[HeaderEvent]:
        """Yield what an event of the followed run says, in numbers of the session's run."""
        self.learn(event)
        match event:
            case NodeAdded() | NodeUpdated():
                yield self._node_as_it_is(event)
            case NodeDeleted():
                yield replace(event, node=self._node(event.node))
            case PodAdded():
                yield from self._pod_added(event)
            case PodUpdated():
                pod, requests = self._pod(event.pod), self._amounts(event.requests)
                yield replace(event, pod=pod, requests=requests)
            case PodDeleted() | EventRecorded():
                yield replace(event, pod=self._pod(event.pod))
            case Bound() | NominationChanged():
                yield replace(event, pod=self._pod(event.pod), node=self._node(event.node))
            case ClockAdvanced():
                yield event
            case _:
                pass

    def _node_as_it_is(self, event: NodeAdded | NodeUpdated) -> HeaderEvent:
        name = self._nodes[event.node]
        is_new = name not in self.own.nodes
        allocatable = self._amounts(event.allocatable)
        node = self.own.node(name)
        if is_new:
            assert isinstance(event, NodeAdded)
            return replace(event, node=node, allocatable=allocatable)
        return NodeUpdated(
            node, event.zone, event.labels, event.taints, event.unschedulable, allocatable
        )

    def _pod_added(self, event: PodAdded) -> Iterator[HeaderEvent]:
        is_new = event.uid not in self.own.pods
        node, pod = self._node(event.node), self.own.pod(event.uid)
        if is_new:
            nominated, requests = self._node(event.nominated_node), self._amounts(event.requests)
            yield replace(event, pod=pod, node=node, nominated_node=nominated, requests=requests)
        elif node != NONE:
            yield Bound(pod, node)

    def _node(self, number: int) -> int:
        return self.own.node(self._nodes.get(number, ""))

    def _pod(self, number: int) -> int:
        return self.own.pod(self._pods[number])

    def _amounts(self, amounts: tuple[int, ...]) -> tuple[int, ...]:
        named = zip(self._resources, amounts, strict=False)
        return self.own.amounts({name: amount for name, amount in named if amount})


log = logging.getLogger(__name__)

MAX_WAITING: Final = 2_000
MAX_WAITING_BYTES: Final = 32 * 1024 * 1024
MAX_BATCH: Final = 200
AGAIN_S: Final = 1.0
"""How soon it is tried again what the database did not take."""
MAX_TOKENS: Final = 100
"""Of calls that were missed before it was known whose they were."""
FILL_S: Final = 1.0
"""So often a followed cluster is looked at that fills a session."""
CHUNKS_AT_ONCE: Final = 100
MAX_RUNS: Final = 16
"""Whose state stays in memory; that of others is read again when they go on."""


Waiting = tuple[UUID, ObservedCall | None] | None
"""A call of a run, or none: look at the run; None: look around."""


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
    """One run: its stored trace, and the calls after it."""

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
        """Add a call; `unstored` has it however that ends."""
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
        self._waiting: queue.Queue[Waiting] = queue.Queue(MAX_WAITING)
        self._n_bytes = 0
        self._guard = threading.Lock()
        self._thread: threading.Thread | None = None
        self._runs: dict[UUID, _ObservedRun] = {}
        self._kept: dict[UUID, list[ObservedCall]] = {}
        """What the database did not take, in order."""
        self._missed: Counter[UUID | str] = Counter()
        """Calls that will never be recorded, by run, or by token where no more is known."""

    def look(self, run_id: UUID) -> None:
        """Have a session filled that no scheduler has called yet."""
        with self._guard, suppress(queue.Full):
            self._waiting.put_nowait((run_id, None))
            self._ensure_thread()

    def record(self, run_id: UUID, call: ObservedCall) -> None:
        """Have a call written soon."""
        with self._guard:
            self._ensure_thread()
            if self._n_bytes + call.exchange.n_bytes > MAX_WAITING_BYTES or self._waiting.full():
                self._miss(run_id, 1)
                return
            self._waiting.put_nowait((run_id, call))
            self._n_bytes += call.exchange.n_bytes

    def miss(self, whose: UUID | str) -> None:
        """Count a call that was not answered, and so is not recorded, by its run or its token."""
        with self._guard:
            if isinstance(whose, str) and len(self._missed) >= MAX_TOKENS:
                return
            self._miss(whose, 1)
            self._ensure_thread()
            with suppress(queue.Full):
                self._waiting.put_nowait(None)

    def _miss(self, whose: UUID | str, n: int) -> None:
        self._missed[whose] += n
        MISSED.inc(n)

    def _ensure_thread(self) -> None:
        if self._thread is None or not self._thread.is_alive():
            self._thread = threading.Thread(target=self._write, daemon=True)
            self._thread.start()

    def _write(self) -> None:
        while True:
            self.store(self._batch())
            close_old_connections()

    def _batch(self) -> list[tuple[UUID, ObservedCall | None]]:
        """Wait for calls; not for long while there is something to do without any."""
        timeout_s = AGAIN_S if self._kept or self._missed else None
        if any(run.observer.n_open for run in self._runs.values()):
            timeout_s = SETTLE_S
        elif any(run.filled for run in self._runs.values()):
            timeout_s = FILL_S
        try:
            found = [self._waiting.get(timeout=timeout_s)]
        except queue.Empty:
            return []
        while len(found) < MAX_BATCH and not self._waiting.empty():
            found.append(self._waiting.get_nowait())
        batch = [each for each in found if each is not None]
        with self._guard:
            self._n_bytes -= sum(call.exchange.n_bytes for _, call in batch if call)
        return batch

    # ------------------------------------------------------------ runs

    def store(self, batch: Sequence[tuple[UUID, ObservedCall | None]]) -> None:
        """Take calls in order, and store whatever is ready of any run."""
        self._count_missed()
        for run_id in list(self._kept):
            with self._alone(run_id):
                self._run(run_id)
        for run_id, call in batch:
            with self._alone(run_id, call):
                run = self._run(run_id)
                if run is not None and call is not None:
                    run.take(call)
        for run in list(self._runs.values()):
            with self._alone(run.run_id):
                self._store(run)
        for run_id in list(self._runs)[:-MAX_RUNS]:
            if not self._runs[run_id].observer.n_open:
                del self._runs[run_id]

    def _count_missed(self) -> None:
        """Write down what was missed, or keep it until that can be written."""
        with self._guard:
            missed = dict(self._missed)
        for whose, n in missed.items():
            try:
                run_id = selectors.run_of_token(whose) if isinstance(whose, str) else whose
                if run_id is not None:
                    services.calls_missed(run_id=run_id, n=n)
            except Exception as problem:  # whatever a driver raises, it is tried again
                log.warning("missed calls of schedulers are not counted yet: %s", problem)
                return
            with self._guard:
                self._missed.subtract({whose: n})
                self._missed += Counter()  # drops those at zero

    @contextmanager
    def _alone(self, run_id: UUID, call: ObservedCall | None = None) -> Iterator[None]:
        """What goes wrong with one run costs its unstored calls, and nothing of any other run.

        If it is the database that failed, they are tried again.
        """
        try:
            yield
        except Exception as problem:
            unstored = self._kept.pop(run_id, [])
            if (run := self._runs.pop(run_id, None)) is not None:
                unstored += run.unstored
            if call is not None and (not unstored or unstored[-1] is not call):
                unstored.append(call)
            self._keep_or_miss(run_id, unstored, problem)

    def _keep_or_miss(self, run_id: UUID, calls: list[ObservedCall], problem: Exception) -> None:
        n_kept = sum(map(len, self._kept.values())) + len(calls)
        if isinstance(problem, StorageFailed) and n_kept <= MAX_WAITING:
            log.warning("the database does not take what a scheduler called: %s", problem)
            self._kept[run_id] = calls
            return
        log.error("calls of a scheduler were not recorded (%s)", run_id, exc_info=problem)
        with self._guard:
            self._miss(run_id, len(calls))

    def _run(self, run_id: UUID) -> _ObservedRun | None:
        """The run's state, most recently used last; None if the run is over."""
        run = self._runs.pop(run_id, None)
        try:
            run = run or _ObservedRun.resume(run_id)
        except RunIsOver:
            self._kept.pop(run_id, None)
            return None
        self._runs[run_id] = run
        for call in self._kept.pop(run_id, ()):
            run.take(call)
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
        self._kept[run.run_id] = run.unstored
        self._run(run.run_id)


recorder = CallRecorder()
