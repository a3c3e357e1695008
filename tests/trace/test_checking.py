"""A trace from elsewhere is read again as it was written, and taken for nothing else."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from functools import cache
from typing import get_args

import msgspec
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from kviz.samples import sample_texts
from scheduler_core.api.ingest import ingest
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace import checking
from scheduler_core.trace.checking import AFTER, BEFORE, TraceChecker, TraceError
from scheduler_core.trace.codec import (
    Chunk,
    TraceWriter,
    pack_details,
    read_details,
    read_headers,
    starts_cycle,
)
from scheduler_core.trace.events import AnyEvent, Detail, DetailEvent, HeaderEvent
from tests.effort import examples

MAX_BYTES = 64 << 20


SAMPLES = {sample.slug: sample for sample in sample_texts()}


@cache
def events_of(slug: str) -> list[AnyEvent]:
    path = SAMPLES[slug].path
    ingested = ingest([(path.name, io.BytesIO(path.read_bytes()))])
    return list(simulate(list(ingested.objects), RunOptions()))


def written(events: list[AnyEvent], may_cut: Callable[[], bool]) -> tuple[list[Chunk], str]:
    writer, chunks = TraceWriter(), []
    for event in events:
        if starts_cycle(event) and may_cut() and (chunk := writer.cut()):
            chunks.append(chunk)
        writer.add(event)
    last = writer.cut()
    assert last is not None
    return [*chunks, last], writer.trace_hash()


def check(chunks: list[Chunk], max_bytes: int = MAX_BYTES) -> tuple[list[HeaderEvent], str]:
    checker, found = TraceChecker(max_bytes=max_bytes), []
    for chunk in chunks:
        again, events = checker.take(chunk)
        assert again == chunk
        found += events
    return found, checker.trace_hash()


def test_every_detail_event_has_its_place_among_the_others() -> None:
    """Without it the order of emission, and with it the hash, cannot be found again."""
    assert {*AFTER, *BEFORE} == set(get_args(Detail))


@pytest.mark.parametrize("slug", SAMPLES)
@examples(20)
@given(data=st.data())
def test_events_and_hash_are_found_again_however_it_was_cut(slug: str, data: st.DataObject) -> None:
    chunks, trace_hash = written(events_of(slug), lambda: data.draw(st.booleans()))

    events, found_hash = check(chunks)

    assert events == [e for e in events_of(slug) if not isinstance(e, DetailEvent)]
    assert found_hash == trace_hash


@pytest.fixture
def chunks() -> list[Chunk]:
    return written(events_of("why-pending"), lambda: True)[0]


def changed(chunk: Chunk, **values: object) -> Chunk:
    return msgspec.structs.replace(chunk, **values)


def repacked(headers: object) -> bytes:
    return gzip.compress(msgspec.msgpack.encode(headers), mtime=0)


def test_what_is_not_there_is_missed(chunks: list[Chunk]) -> None:
    with pytest.raises(TraceError, match="are missing"):
        check([chunks[0], *chunks[2:]])
    with pytest.raises(TraceError, match="are missing"):
        check(chunks[1:])
    with pytest.raises(TraceError, match="not those it announces"):
        check([changed(chunks[0], last_cycle=9)])
    first_seq, events = read_headers(chunks[1].headers)
    third = changed(chunks[3], headers=repacked((first_seq, read_headers(chunks[3].headers)[1])))
    with pytest.raises(TraceError, match="cycle 1 is missing"):
        check([chunks[0], third])
    with pytest.raises(TraceError, match="does not start a run"):
        check([changed(chunks[1], headers=repacked((0, events)))])


def test_columns_of_another_cycle_are_told_apart(chunks: list[Chunk]) -> None:
    later = next(chunk for chunk in chunks[2:] if len(read_details(chunk.details)))
    with pytest.raises(TraceError, match="columns of no cycle"):
        check([chunks[0], changed(chunks[1], details=later.details)])


def test_a_changed_column_changes_the_hash(chunks: list[Chunk]) -> None:
    at = next(i for i, chunk in enumerate(chunks) if len(read_details(chunk.details)))
    empty = changed(chunks[at], details=pack_details(msgspec.msgpack.encode([])))
    assert check([*chunks[:at], empty, *chunks[at + 1 :]])[1] != check(chunks)[1]


@pytest.mark.parametrize(
    "headers",
    [b"", b"no gzip", gzip.compress(b"", mtime=0), gzip.compress(b"\xc1", mtime=0),
     repacked((0, [["Invented"]])),
     repacked((0, [])), repacked({"a": 1}), gzip.compress(b"x" * 99, mtime=0)[:-9]],
)  # fmt: skip
def test_headers_that_are_none(chunks: list[Chunk], headers: bytes) -> None:
    with pytest.raises(TraceError):
        check([changed(chunks[0], headers=headers)])


@pytest.mark.parametrize(
    "details",
    [
        b"",
        b"no zstd",
        zstandard.compress(b"\xc1"),
        zstandard.compress(b"\x91\x92\x01\x91\x91\xa1x"),
    ],
)
def test_details_that_are_none(chunks: list[Chunk], details: bytes) -> None:
    with pytest.raises(TraceError):
        check([chunks[0], changed(chunks[1], details=details)])


def test_a_bomb_is_not_unpacked(chunks: list[Chunk]) -> None:
    bomb = bytes(1 << 20)
    with pytest.raises(TraceError, match="larger than 0 MiB"):
        check([changed(chunks[0], headers=gzip.compress(bomb))], max_bytes=1000)
    with pytest.raises(TraceError, match="limit"):
        check([chunks[0], changed(chunks[1], details=zstandard.compress(bomb))], max_bytes=500_000)


def test_no_chunk_may_be_large_by_itself(
    chunks: list[Chunk], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checking, "MAX_CHUNK_BYTES", 2 << 20)
    for packed in (
        {"headers": gzip.compress(bytes(3 << 20))},
        {"details": zstandard.compress(bytes(3 << 20))},
    ):
        with pytest.raises(TraceError, match="larger than 2 MiB"):
            check([changed(chunks[0], **packed)])
