"""Reads: the stored trace, as chunks, as one cycle's document, as the answer to why a pod waits."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from uuid import UUID

from django.db.models import QuerySet

from kviz import sentences
from kviz.runs.models import Cycle, PodOutcome, Run, TraceChunk
from kviz.runs.reading.projection import CycleDocument, Json, cycle_document
from kviz.runs.reading.why import pod_why_document
from kviz.runs.selectors import pod_outcome
from scheduler_core.api.gc_freeze import gc_paused
from scheduler_core.trace import codec
from scheduler_core.trace.codec import Chunk
from scheduler_core.trace.cycle_record import (
    CycleRecord,
    cycle_range,
    cycle_record,
    is_bound_or_given_up,
)
from scheduler_core.trace.events import (
    Assumed,
    CycleStarted,
    HeaderEvent,
    PodAdded,
    ScenarioStepped,
)
from scheduler_core.trace.fold import TraceState, apply
from scheduler_core.trace.names import DEFINING, Names
from scheduler_core.trace.why import Why, why


def chunk_headers(*, run_id: UUID, after: int, limit: int) -> list[tuple[int, bytes]]:
    """`last_seq` and stored `headers` of up to `limit` chunks with events beyond `after`."""
    rows = (
        TraceChunk.objects.filter(run_id=run_id, last_seq__gt=after)
        .order_by("last_seq")
        .values_list("last_seq", "headers")[:limit]
    )
    return [(last_seq, bytes(headers)) for last_seq, headers in rows]


def chunks(*, run: Run) -> Iterator[Chunk]:
    """The whole trace as it is stored; no query stays open between two chunks."""
    last_seq = -1
    while (
        row := run.chunks.filter(last_seq__gt=last_seq).order_by("last_seq").first()
    ) is not None:
        last_seq = row.last_seq
        yield Chunk(
            first_seq=row.first_seq,
            last_seq=row.last_seq,
            first_cycle=row.first_cycle,
            last_cycle=row.last_cycle,
            headers=bytes(row.headers),
            details=bytes(row.details),
        )


def header_events(chunks: QuerySet[TraceChunk]) -> Iterator[HeaderEvent]:
    """All events of chunks but details of cycles, in their order."""
    for blob in chunks.order_by("last_seq").values_list("headers", flat=True).iterator(8):
        yield from codec.read_headers(bytes(blob))[1]


def cycle_is_stored(*, run: Run, cycle: int) -> bool:
    """Whether anything of a cycle is stored; of a hidden run's last one it may be a part."""
    return cycle <= run.cycles or _chunk_of(run.pk, cycle).exists()


def cycle_details(*, run_id: UUID, cycle: int) -> bytes | None:
    """MessagePack `[detail event, ...]` of one stored cycle; None if there is no such cycle."""
    details = _chunk_of(run_id, cycle).values_list("details", flat=True).first()
    return None if details is None else codec.details_of(bytes(details), cycle)


def packed_details(*, run_id: UUID, cycle: int) -> bytes | None:
    """The same, gzipped for the way to a browser."""
    details = cycle_details(run_id=run_id, cycle=cycle)
    return None if details is None else gzip.compress(details, compresslevel=4, mtime=0)


@dataclass(frozen=True)
class _StoredCycle:
    """A cycle's chunk, the chunk's header events, and where among them the cycle's are."""

    chunk: TraceChunk
    headers: Sequence[HeaderEvent]
    place: range

    def record(self) -> CycleRecord:
        """The cycle's events, with those of its pod's binding."""
        details = codec.details_of(bytes(self.chunk.details), self.started.cycle)
        return cycle_record(
            self.headers[self.place.start : self.place.stop],
            _until_bound(self.chunk, self.headers, self.place),
            codec.decode_details(details),
        )

    @property
    def started(self) -> CycleStarted:
        started = self.headers[self.place.start]
        assert isinstance(started, CycleStarted)
        return started


def _stored_cycle(run: Run, cycle: int) -> _StoredCycle | None:
    chunk = _chunk_of(run.pk, cycle).first()
    if chunk is None:
        return None
    _, headers = codec.read_headers(bytes(chunk.headers))
    return _StoredCycle(chunk, headers, cycle_range(headers, cycle))


def cycle_get(*, run: Run, cycle: int) -> CycleDocument | None:
    """Everything about one stored cycle, in names; None if there is no such cycle.

    None also for one that may be known in part (`Run.known_part`): see `cycle_or_part`.
    """
    return cycle_or_part(run=run, cycle=cycle) if cycle <= run.cycles else None


def cycle_or_part(*, run: Run, cycle: int) -> CycleDocument | None:
    """The same, or what may be known of a cycle; its `result` is then empty."""
    stored = _stored_cycle(run, cycle)
    return None if stored is None else _document(run, stored, stored.record())


def _document(run: Run, stored: _StoredCycle, record: CycleRecord) -> CycleDocument:
    names = _names_before(run.pk, stored.chunk.first_seq)
    document = cycle_document(_names_in(names, stored.headers, stored.place), record)
    document["not_modelled"], document["release_text"] = run.not_modelled, run.release_text
    row = run.cycle_rows.filter(number=record.started.cycle).first()
    if row is not None:  # its binding may have failed after its own events
        document["result"], document["node"], document["message"] = (
            row.result,
            row.node,
            row.message,
        )
    return document


def names_at(*, run: Run, cycle: int) -> Names:
    """What numbers mean when a stored cycle begins."""
    stored = _stored_cycle(run, cycle)
    if stored is None:
        raise LookupError(f"cycle {cycle} is not recorded")
    names = _names_before(run.pk, stored.chunk.first_seq)
    names.take(stored.headers[: stored.place.start])
    return names


def cycles_latest(*, run: Run, limit: int) -> list[tuple[Cycle, CycleDocument]]:
    """The last so many cycles and everything about them, in order; what is bound later is not."""
    rows = {row.number: row for row in run.cycle_rows.order_by("-number")[:limit]}
    chunks = list(run.chunks.filter(last_cycle__gte=min(rows, default=0)).order_by("last_seq"))
    names = _names_before(run.pk, chunks[0].first_seq) if rows else Names()
    found: list[tuple[Cycle, CycleDocument]] = []
    for chunk in chunks if rows else ():
        _, headers = codec.read_headers(bytes(chunk.headers))
        taken = 0
        for number in range(chunk.first_cycle, chunk.last_cycle + 1):
            place = cycle_range(headers, number)
            then = _names_in(names, headers[taken:], range(place.start - taken, place.stop - taken))
            taken = place.stop
            if number in rows:
                details = codec.decode_details(codec.details_of(bytes(chunk.details), number))
                events = headers[place.start : place.stop]
                record = cycle_record(events, details=details)
                found.append((rows[number], cycle_document(then, record)))
        names.take(headers[taken:])
    return found


def _names_in(names: Names, headers: Sequence[HeaderEvent], cycle: range) -> Names:
    """Learn from the events up to a cycle's end; return what numbers mean in the cycle.

    Its nodes are in the order of its beginning: nodes may come and go before the next one begins.
    """
    names.take(headers[: cycle.start])
    order = names.order
    names.take(headers[cycle.start : cycle.stop])
    return replace(names, order=order)


def _until_bound(
    chunk: TraceChunk, headers: Sequence[HeaderEvent], place: range
) -> list[HeaderEvent]:
    """The events after a cycle, up to the end of its pod's binding."""
    later = list(headers[place.stop :])
    cycle = headers[place.start : place.stop]
    pod = next(event.pod for event in cycle if isinstance(event, CycleStarted))
    if not any(isinstance(event, Assumed) for event in cycle):
        return later
    chunks = TraceChunk.objects.filter(run_id=chunk.run_id, last_seq__gt=chunk.last_seq)
    for blob in chunks.order_by("last_seq").values_list("headers", flat=True).iterator(1):
        if is_bound_or_given_up([*cycle, *later], pod):
            break
        later += codec.read_headers(bytes(blob))[1]
    return later


def pod_why(*, run: Run, namespace: str, name: str) -> Json | None:
    """Why a pod is pending, or what happened to it; None if the run does not know the pod."""
    pod = pod_known(run=run, namespace=namespace, name=name)
    if pod is None:
        return None
    return _pod_why(run, pod) | run.said_of_all


def pod_known(*, run: Run, namespace: str, name: str) -> PodOutcome | None:
    """Where a pod stands, also one that was never queued; None if the run does not know it."""
    pod = pod_outcome(run=run, namespace=namespace, name=name)
    return pod or _placed_before(run, namespace, name)


def _pod_why(run: Run, pod: PodOutcome) -> Json:
    stored = _stored_cycle(run, pod.last_cycle) if pod.last_cycle else None
    if stored is None:
        return pod_why_document(pod, None, Why(), registered_events(run_id=run.pk))
    document = _document(run, stored, stored.record())
    registered = registered_events(run_id=run.pk, scheduler_name=document["scheduler_name"])
    found = _why(run.pk, stored.chunk.pk, pod.last_cycle)
    return pod_why_document(pod, document, found, registered)


def registered_events(*, run_id: UUID, scheduler_name: str = "") -> dict[str, tuple[str, ...]]:
    """The labels of the events that each plugin of a profile registered for.

    Of the run's first profile without a name. Older runs do not have them.
    """
    chunks = TraceChunk.objects.filter(run_id=run_id).order_by("last_seq")
    first = chunks.values_list("pk", flat=True).first()
    return {} if first is None else _registered_events(run_id, first, scheduler_name)


@lru_cache(maxsize=64)
def _registered_events(
    run_id: UUID, chunk_id: int, scheduler_name: str
) -> dict[str, tuple[str, ...]]:
    names = Names()
    names.take(_defining_events(run_id, chunk_id))
    return names.wakes(scheduler_name or names.profiles[0].scheduler_name) if names.profiles else {}


def cycle_why(*, run: Run, cycle: int) -> Why:
    """What became of the nodes of a stored cycle; empty if there is no such cycle."""
    chunk_id = _chunk_of(run.pk, cycle).values_list("pk", flat=True).first()
    return Why() if chunk_id is None else _why(run.pk, chunk_id, cycle)


@lru_cache(maxsize=64)
def _why(run_id: UUID, chunk_id: int, cycle: int) -> Why:
    """Explain a stored cycle. Chunks never change, and folding all before it takes its time."""
    chunk = TraceChunk.objects.get(pk=chunk_id, run_id=run_id)
    _, headers = codec.read_headers(bytes(chunk.headers))
    stored = _StoredCycle(chunk, headers, cycle_range(headers, cycle))
    return why(stored.record(), _state_before(stored))


def state_before(*, run: Run, cycle: int) -> TraceState | None:
    """The state of the run when a stored cycle began; None if there is no such cycle."""
    stored = _stored_cycle(run, cycle)
    return None if stored is None else _state_before(stored)


def state_known(*, run: Run) -> TraceState | None:
    """The state after all that is stored of the run; None before anything is."""
    chunks = TraceChunk.objects.filter(run_id=run.pk)
    return _folded(chunks) if chunks.exists() else None


def _state_before(stored: _StoredCycle) -> TraceState:
    """The state of the run when a cycle began, folded from its first event on."""
    chunk = stored.chunk
    state = _folded(TraceChunk.objects.filter(run_id=chunk.run_id, last_seq__lt=chunk.first_seq))
    with gc_paused():
        for event in stored.headers[: stored.place.start]:
            apply(state, event)
    return state


def _folded(chunks: QuerySet[TraceChunk]) -> TraceState:
    state = TraceState()
    with gc_paused():
        for event in header_events(chunks):
            apply(state, event)
    return state


def _placed_before(run: Run, namespace: str, name: str) -> PodOutcome | None:
    """A pod the run found on its node and never touched; such pods have no stored outcome."""
    names = Names()
    for events in _defining_chunks(run.pk, before_seq=run.last_seq + 1):
        names.take(events)
        for event in events:
            if isinstance(event, PodAdded) and (event.namespace, event.name) == (namespace, name):
                node = names.node(event.node)
                return PodOutcome(run=run, pod=f"{namespace}/{name}", node=node)
    return None


@dataclass(frozen=True)
class RefusedStep:
    """A step that could not be carried out; `number` counts steps from 1 in order of time."""

    number: int
    text: str


def steps_refused(*, run: Run) -> list[RefusedStep]:
    """The stored steps of the run's scenario that could not be carried out."""
    if not run.scenario.strip():
        return []
    return list(_steps_refused(run.pk, run.last_seq))


@lru_cache(maxsize=64)
def _steps_refused(run_id: UUID, last_seq: int) -> tuple[RefusedStep, ...]:
    """Stored headers never change; up to `last_seq` they are read once."""
    chunks = TraceChunk.objects.filter(run_id=run_id, last_seq__lte=last_seq)
    return tuple(
        RefusedStep(event.index + 1, sentences.spoken(event.text, event.said))
        for blob in chunks.order_by("last_seq").values_list("headers", flat=True).iterator(1)
        for event in codec.read_headers(bytes(blob))[1]
        if isinstance(event, ScenarioStepped) and event.refused
    )


def _chunk_of(run_id: UUID, cycle: int) -> QuerySet[TraceChunk]:
    return TraceChunk.objects.filter(run_id=run_id, first_cycle__lte=cycle, last_cycle__gte=cycle)


def _names_before(run_id: UUID, seq: int) -> Names:
    """What numbers mean where the chunk with `first_seq` `seq` begins."""
    names = Names()
    for events in _defining_chunks(run_id, before_seq=seq):
        names.take(events)
    return names


def _defining_chunks(run_id: UUID, *, before_seq: int) -> Iterator[tuple[HeaderEvent, ...]]:
    chunks = TraceChunk.objects.filter(run_id=run_id, last_seq__lt=before_seq, defines=True)
    for pk in chunks.order_by("last_seq").values_list("pk", flat=True):
        yield _defining_events(run_id, pk)


@lru_cache(maxsize=8)
def _defining_events(run_id: UUID, chunk_id: int) -> tuple[HeaderEvent, ...]:
    """A stored chunk never changes, and the one with the whole cluster takes long to decode.

    The run distinguishes chunks of which one got the number of another that was rolled back.
    """
    headers = TraceChunk.objects.values_list("headers", flat=True).get(pk=chunk_id, run_id=run_id)
    with gc_paused():
        _, events = codec.read_headers(bytes(headers))
        return tuple(event for event in events if isinstance(event, DEFINING))
