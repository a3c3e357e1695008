"""Chunk borders carry no meaning: neither the hash nor the decoded events depend on them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.trace import codec
from scheduler_core.trace.events import (
    AnyEvent,
    Bound,
    ClockAdvanced,
    CycleFinished,
    CycleStarted,
    Detail,
    DetailEvent,
    FilterColumns,
    HeaderEvent,
    PreemptionDryRun,
    RunFinished,
    ScoreColumns,
)
from scheduler_core.trace.records import (
    CandidateRecord,
    Column,
    Queue,
    Result,
    StatusRecord,
)

DRY_RUNS = tuple(
    CandidateRecord(node, (7, 8), (), (7,), 0, StatusRecord("Success")) for node in range(4)
)
"""Attempts share them, as they do in a trace."""


@pytest.fixture(autouse=True, scope="module")
def _few_are_shared() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(codec, "MAX_SHARED", 3)
        yield


def cycle(number: int, n_details: int, n_after: int) -> list[AnyEvent]:
    """One cycle as the engine would emit it, with what binding adds after its end."""
    nodes = Column.narrow(np.arange(number % 7, dtype=np.int64))
    details: list[AnyEvent] = [
        FilterColumns((StatusRecord("Success"),), nodes, nodes),
        ScoreColumns(nodes, (), nodes),
        PreemptionDryRun(DRY_RUNS[: number % 5]),
    ]
    return [
        CycleStarted(number, number % 5, 1, 0, Queue.ACTIVE, 0, 3),
        *details[:n_details],
        CycleFinished(number, Result.SCHEDULED, 1),
        *[Bound(number % 5, 1)] * n_after,
    ]


traces = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12).map(
    lambda shapes: [
        ClockAdvanced(1),
        ClockAdvanced(2),
        *[e for i, shape in enumerate(shapes, 1) for e in cycle(i, *shape)],
        RunFinished(len(shapes), len(shapes), 0),
    ]
)


def write(
    events: list[AnyEvent], cuts: list[bool], *, resume_after: int = -1
) -> tuple[list[codec.Chunk], str]:
    """Cut before the i-th cycle where `cuts[i]` says so."""
    writer = codec.TraceWriter(resume_after=resume_after)
    wanted = iter(cuts)
    chunks = []
    for event in events:
        if codec.starts_cycle(event) and next(wanted, False):
            chunks.append(writer.cut())
        writer.add(event)
    chunks.append(writer.cut())
    return [chunk for chunk in chunks if chunk is not None], writer.trace_hash()


def headers_of(chunks: list[codec.Chunk]) -> list[HeaderEvent]:
    headers: list[HeaderEvent] = []
    for chunk in chunks:
        first_seq, events = codec.read_headers(chunk.headers)
        assert first_seq == chunk.first_seq == len(headers)
        headers += events
        assert chunk.last_seq == len(headers) - 1
    return headers


def details_by_cycle(chunks: list[codec.Chunk]) -> dict[int, list[Detail]]:
    return {
        number: events
        for chunk in chunks
        for number, events in codec.read_details(chunk.details).items()
    }


def expected_details(events: list[AnyEvent]) -> dict[int, list[AnyEvent]]:
    found: dict[int, list[AnyEvent]] = {}
    current = 0
    for event in events:
        if isinstance(event, CycleStarted):
            current = event.cycle
        elif isinstance(event, DetailEvent):
            found.setdefault(current, []).append(event)
    return found


@given(traces, st.lists(st.booleans(), max_size=12))
def test_borders_change_neither_hash_nor_events(events: list[AnyEvent], cuts: list[bool]) -> None:
    chunks, trace_hash = write(events, cuts)

    assert headers_of(chunks) == [e for e in events if not isinstance(e, DetailEvent)]
    assert details_by_cycle(chunks) == expected_details(events)
    encoded = b"".join(msgspec.msgpack.encode(event) for event in events)
    assert trace_hash == hashlib.sha256(encoded).hexdigest()


@given(traces, st.lists(st.booleans(), max_size=12))
def test_a_chunk_knows_its_cycles(events: list[AnyEvent], cuts: list[bool]) -> None:
    chunks, _ = write(events, cuts)

    for chunk in chunks:
        _, headers = codec.read_headers(chunk.headers)
        started = [e.cycle for e in headers if isinstance(e, CycleStarted)]
        assert started == list(range(chunk.first_cycle, chunk.last_cycle + 1))
        for number, details in codec.read_details(chunk.details).items():
            assert chunk.first_cycle <= number <= chunk.last_cycle
            assert codec.decode_details(codec.details_of(chunk.details, number)) == details


@given(
    traces,
    st.lists(st.booleans(), max_size=12),
    st.lists(st.booleans(), max_size=12),
    st.integers(0, 12),
)
def test_a_trace_is_continued_after_any_stored_chunk(
    events: list[AnyEvent], cuts: list[bool], other_cuts: list[bool], n_kept: int
) -> None:
    whole, trace_hash = write(events, cuts)
    stored = whole[:n_kept]

    rest, again = write(events, other_cuts, resume_after=stored[-1].last_seq if stored else -1)

    assert again == trace_hash
    assert headers_of(stored + rest) == headers_of(whole)
    assert details_by_cycle(stored + rest) == details_by_cycle(whole)
    assert [c.first_cycle for c in (stored + rest)[1:]] == [
        c.last_cycle + 1 for c in (stored + rest)[:-1]
    ]


def test_a_chunk_is_full_by_cycles_or_by_bytes() -> None:
    by_cycles = codec.TraceWriter()
    for number in range(1, codec.MAX_CYCLES + 1):
        assert not by_cycles.is_full
        by_cycles.add(CycleStarted(number, 0, 1, 0, Queue.ACTIVE, 0, 3))
    assert by_cycles.is_full

    by_bytes = codec.TraceWriter()
    by_bytes.add(CycleStarted(1, 0, 1, 0, Queue.ACTIVE, 0, 3))
    nodes = Column("i8", bytes(codec.MAX_BYTES))
    by_bytes.add(ScoreColumns(nodes, (), nodes))
    assert by_bytes.is_full
    assert by_bytes.cut() is not None
    assert not by_bytes.is_full


def test_a_cycle_without_details_reads_as_an_empty_list() -> None:
    chunks, _ = write([*cycle(1, 0, 0)], [])

    assert codec.decode_details(codec.details_of(chunks[0].details, 1)) == []


@pytest.mark.parametrize("resume_after", [-1, 3])
def test_nothing_new_is_no_chunk(resume_after: int) -> None:
    writer = codec.TraceWriter(resume_after=resume_after)
    if resume_after >= 0:
        writer.add(ClockAdvanced(1))

    assert writer.cut() is None


def test_the_first_chunk_of_a_continued_trace_knows_where_it_begins() -> None:
    events = [ClockAdvanced(1), *cycle(1, 1, 0), *cycle(2, 1, 0)]
    stored, _ = write(events, [True, True])

    [rest], _ = write(events, [], resume_after=stored[1].last_seq)

    assert (rest.first_cycle, rest.last_cycle) == (2, 2)
