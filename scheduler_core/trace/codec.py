"""How a trace is cut into chunks, compressed, hashed, and read again.

A chunk covers whole cycles: it ends where a `CycleStarted` begins the next one, or the trace
ends. Where exactly chunks are cut carries no meaning, so a writer may cut by size or time.

* `headers`: gzip(MessagePack `[first_seq, [event, ...]]`), readable by every browser;
* `details`: zstd(MessagePack `[[cycle, [detail event, ...]], ...]`), cycles without any left out.

The trace hash is the SHA-256 over the MessagePack of every event, header or detail, in the order
of emission.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec
import zstandard

from scheduler_core.trace.events import (
    AnyEvent,
    CycleStarted,
    Detail,
    DetailEvent,
    HeaderEvent,
    PreemptionDryRun,
)
from scheduler_core.trace.records import NONE, CandidateRecord

MAX_CYCLES: Final = 64
"""Cycles of a full chunk: enough to compress well, few enough to read one of them quickly."""
MAX_BYTES: Final = 1 << 20
"""Uncompressed bytes of a full chunk (one long cycle may exceed it)."""
MAX_SHARED: Final = 20_000
"""Dry runs whose bytes are kept for the attempts that share them; beyond that all go."""
_GZIP_LEVEL: Final = 4
_ZSTD_LEVEL: Final = 3
_DETAIL_TYPES: Final = frozenset(DetailEvent.__subclasses__())


class Chunk(msgspec.Struct, frozen=True, array_like=True):
    """Consecutive whole cycles. Without any, `first_cycle` is `last_cycle` + 1."""

    first_seq: int
    last_seq: int
    first_cycle: int
    last_cycle: int
    headers: bytes
    details: bytes


class TraceWriter:
    """Takes events in order, returns chunks when asked to, and hashes all of it.

    With `resume_after` (the last header event already stored, a chunk's `last_seq`), events up to
    there are hashed and dropped: the way to continue a trace by simulating it again.
    """

    def __init__(self, *, resume_after: int = NONE) -> None:
        self._resume_after = resume_after
        self._encoder = msgspec.msgpack.Encoder()
        self._dry_runs = _SharedDryRuns(self._encoder)
        self._compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL)
        self._hash = hashlib.sha256()
        self._unhashed: list[bytes] = []
        self._last_seq = NONE
        self._cycle = 0
        self._begin()

    def _begin(self) -> None:
        self._first_cycle = self._cycle + 1
        self._headers: list[bytes] = []
        self._details: list[tuple[int, list[bytes]]] = []
        self._n_bytes = 0

    @classmethod
    def continuing(cls, *, last_seq: int, cycle: int) -> TraceWriter:
        """Go on after a stored trace that cannot be simulated again; there is no hash of it."""
        writer = cls()
        writer._last_seq, writer._cycle = last_seq, cycle
        writer._begin()
        return writer

    @property
    def last_seq(self) -> int:
        """The last header event taken, -1 before the first."""
        return self._last_seq

    @property
    def is_full(self) -> bool:
        """Whether the next boundary is a good place to cut."""
        return self._n_bytes >= MAX_BYTES or self._cycle - self._first_cycle + 1 >= MAX_CYCLES

    def add(self, event: AnyEvent) -> None:
        """Take the next event."""
        # Its class is looked at, since `isinstance` asks the metaclass of events, which is slow.
        if type(event) is PreemptionDryRun:
            encoded = self._dry_runs.encode(event)
        else:
            encoded = self._encoder.encode(event)
        self._unhashed.append(encoded)
        self._n_bytes += len(encoded)
        if type(event) in _DETAIL_TYPES:
            self._add_detail(encoded)
            return
        self._last_seq += 1
        if type(event) is CycleStarted:
            self._cycle = event.cycle
        if self._last_seq > self._resume_after:
            if not self._headers:
                self._first_cycle = self._cycle + (type(event) is not CycleStarted)
            self._headers.append(encoded)

    def _add_detail(self, encoded: bytes) -> None:
        if self._last_seq <= self._resume_after:
            return
        if not self._details or self._details[-1][0] != self._cycle:
            self._details.append((self._cycle, []))
        self._details[-1][1].append(encoded)

    def cut(self) -> Chunk | None:
        """Return what was added since the last cut; None if all of that is stored already.

        Call it only before a `CycleStarted` (`starts_cycle`) and at the end.
        """
        self._digest_pending()
        n_headers = len(self._headers)
        chunk = None
        if n_headers:
            first_seq = self._last_seq - n_headers + 1
            headers = _array(self._encoder.encode(first_seq), _array(*self._headers))
            details = _array(
                *(_array(self._encoder.encode(cycle), _array(*raw)) for cycle, raw in self._details)
            )
            chunk = Chunk(
                first_seq=first_seq,
                last_seq=self._last_seq,
                first_cycle=self._first_cycle,
                last_cycle=self._cycle,
                headers=pack_headers(headers),
                details=self._compressor.compress(details),
            )
        self._begin()
        return chunk

    def _digest_pending(self) -> None:
        self._hash.update(b"".join(self._unhashed))
        self._unhashed.clear()

    def trace_hash(self) -> str:
        """Return the hash of all events so far, in hexadecimal."""
        self._digest_pending()
        return self._hash.hexdigest()


class _SharedDryRuns:
    """Encodes dry runs of preemption; the record of one that many attempts share only once."""

    def __init__(self, encoder: msgspec.msgpack.Encoder) -> None:
        self._encoder = encoder
        self._head = encoder.encode(PreemptionDryRun(()))[:-1]
        self._bytes: dict[int, bytes] = {}
        self._records: list[CandidateRecord] = []
        """Those with bytes, so that no other gets the identity by which they are found."""

    def encode(self, event: PreemptionDryRun) -> bytes:
        known, keys = self._bytes, [*map(id, event.candidates)]
        fresh = [
            record for key, record in zip(keys, event.candidates, strict=True) if key not in known
        ]
        if len(known) + len(fresh) > MAX_SHARED:
            known.clear()
            self._records.clear()
            fresh = list(event.candidates)
        for record in fresh:
            known[id(record)] = self._encoder.encode(record)
        self._records += fresh
        return self._head + _array(*map(known.__getitem__, keys))


def _array(*encoded: bytes) -> bytes:
    """Return the MessagePack array of values that are encoded already."""
    n = len(encoded)
    if n < 16:
        head = bytes((0x90 | n,))
    elif n < 1 << 16:
        head = b"\xdc" + n.to_bytes(2, "big")
    else:
        head = b"\xdd" + n.to_bytes(4, "big")
    return head + b"".join(encoded)


def pack_headers(encoded: bytes) -> bytes:
    """Compress a chunk's headers; the same bytes each time."""
    return gzip.compress(encoded, _GZIP_LEVEL, mtime=0)


def pack_details(encoded: bytes) -> bytes:
    """Compress a chunk's details."""
    return zstandard.ZstdCompressor(level=_ZSTD_LEVEL).compress(encoded)


def starts_cycle(event: AnyEvent) -> bool:
    """Whether a chunk may be cut right before `event`."""
    return isinstance(event, CycleStarted)


def chunked(events: Iterable[AnyEvent]) -> Iterator[Chunk]:
    """Cut a whole trace into full chunks."""
    writer = TraceWriter()
    for event in events:
        if starts_cycle(event) and writer.is_full and (chunk := writer.cut()):
            yield chunk
        writer.add(event)
    if last := writer.cut():
        yield last


_HEADERS = msgspec.msgpack.Decoder(tuple[int, list[HeaderEvent]])
_DETAILS = msgspec.msgpack.Decoder(list[Detail])
_RAW_DETAILS = msgspec.msgpack.Decoder(list[tuple[int, msgspec.Raw]])


def read_headers(headers: bytes) -> tuple[int, list[HeaderEvent]]:
    """Return a chunk's first seq and its header events."""
    return _HEADERS.decode(gzip.decompress(headers))


def read_details(details: bytes) -> dict[int, list[Detail]]:
    """Return a chunk's detail events by cycle."""
    return {cycle: _DETAILS.decode(raw) for cycle, raw in raw_details(details)}


def details_of(details: bytes, cycle: int) -> bytes:
    """Return the MessagePack `[detail event, ...]` of one cycle of a chunk."""
    for number, raw in raw_details(details):
        if number == cycle:
            return bytes(raw)
    return msgspec.msgpack.encode([])


def decode_details(encoded: bytes) -> list[Detail]:
    """Decode what `details_of` returned."""
    return _DETAILS.decode(encoded)


def raw_details(details: bytes) -> list[tuple[int, msgspec.Raw]]:
    """Return the MessagePack `[detail event, ...]` of a chunk's cycles, not decoded."""
    return _RAW_DETAILS.decode(zstandard.ZstdDecompressor().decompress(details))
