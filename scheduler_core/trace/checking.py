"""Reads a trace that came from elsewhere, and believes nothing of it.

`TraceChecker.take` takes chunks in order: it bounds what they unpack to, reads every event as its
type, sees that sequence numbers and cycles have no gap and that every number stands for something
(`meaning.py`), and hashes the events in the order in which the engine emitted them.
What it hands back was packed here, not there.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec
import zstandard

from scheduler_core.trace.codec import Chunk, pack_details, pack_headers
from scheduler_core.trace.events import (
    AnyEvent,
    CycleStarted,
    Detail,
    ExtenderCalled,
    ExtenderColumns,
    FilterColumns,
    FilterFinished,
    HeaderEvent,
    NodeSelected,
    PreemptionDryRun,
    PreemptionStarted,
    RunStarted,
    ScoreColumns,
)
from scheduler_core.trace.meaning import MeaningChecker, MeaninglessError
from scheduler_core.trace.records import NONE

AFTER: Final[dict[type[Detail], type[HeaderEvent]]] = {
    FilterColumns: FilterFinished,
    PreemptionDryRun: PreemptionStarted,
    ExtenderColumns: ExtenderCalled,
}
"""Detail events that the engine emits right after a header event."""
BEFORE: Final[dict[type[Detail], type[HeaderEvent]]] = {ScoreColumns: NodeSelected}
"""Detail events that it emits right before one."""

MAX_CHUNK_BYTES: Final = 256 << 20
"""What one chunk's headers, or its details, may unpack to: the first holds the whole cluster."""
_MIB: Final = 1 << 20

_RAW_HEADERS = msgspec.msgpack.Decoder(tuple[int, list[msgspec.Raw]])
_HEADERS = msgspec.msgpack.Decoder(tuple[int, list[HeaderEvent]])
_RAW_DETAILS = msgspec.msgpack.Decoder(list[tuple[int, list[msgspec.Raw]]])
_DETAILS = msgspec.msgpack.Decoder(list[tuple[int, list[Detail]]])


class TraceError(ValueError):
    """What was read is no trace, or not all of it; the text says what is wrong with it."""


class TraceChecker:
    """Takes the chunks of one trace in order; `max_bytes` is what they may unpack to, together."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = self._left_bytes = max_bytes
        self._hash = hashlib.sha256()
        self._last_seq = NONE
        self._cycle = 0
        self._meaning = MeaningChecker()

    @property
    def n_cycles(self) -> int:
        return self._cycle

    def trace_hash(self) -> str:
        """Return the hash of all events so far, as `TraceWriter.trace_hash` does."""
        return self._hash.hexdigest()

    def take(self, chunk: Chunk) -> tuple[Chunk, list[HeaderEvent]]:
        """Check the next chunk; return it repacked, and its header events. Raises TraceError."""
        headers, details = self._gunzipped(chunk.headers), self._unzstd(chunk.details)
        try:
            first_seq, raw_headers = _RAW_HEADERS.decode(headers)
            events = _HEADERS.decode(headers)[1]
            raw_details = dict(_RAW_DETAILS.decode(details))
            typed_details = dict(_DETAILS.decode(details))
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            raise TraceError(f"after event {self._last_seq} it cannot be read: {error}") from None
        if first_seq != self._last_seq + 1 or not events:
            raise TraceError(f"the events after {self._last_seq} are missing")
        if first_seq == 0 and not isinstance(events[0], RunStarted):
            raise TraceError("its first event does not start a run")
        before = self._cycle
        in_order = self._in_order(events, raw_headers, typed_details, raw_details)
        self._hash.update(b"".join(in_order))
        self._last_seq = first_seq + len(events) - 1
        first_cycle = before + 1
        checked = Chunk(
            first_seq=first_seq,
            last_seq=self._last_seq,
            first_cycle=first_cycle,
            last_cycle=self._cycle,
            headers=pack_headers(headers),
            details=pack_details(details),
        )
        if (checked.first_cycle, checked.last_cycle) != (chunk.first_cycle, chunk.last_cycle):
            raise TraceError(f"the cycles after {before} are not those it announces")
        return checked, events

    def _in_order(
        self,
        events: Sequence[HeaderEvent],
        raw: Sequence[msgspec.Raw],
        details: dict[int, list[Detail]],
        raw_details: dict[int, list[msgspec.Raw]],
    ) -> Iterator[bytes]:
        """Yield the bytes of all events as the engine emitted them. Raises TraceError."""
        waiting: list[tuple[Detail, msgspec.Raw]] = []
        for event, encoded in zip(events, raw, strict=True):
            if isinstance(event, CycleStarted):
                self._begin(event, waiting)
                own = details.pop(event.cycle, []), raw_details.pop(event.cycle, [])
                waiting = list(zip(*own, strict=True))
            if waiting and BEFORE.get(type(waiting[0][0])) is type(event):
                yield self._taken(*waiting.pop(0))
            yield self._taken(event, encoded)
            if waiting and AFTER.get(type(waiting[0][0])) is type(event):
                yield self._taken(*waiting.pop(0))
        if waiting or details:
            raise TraceError(f"there are columns of no cycle at cycle {self._cycle}")

    def _taken(self, event: AnyEvent, encoded: msgspec.Raw) -> bytes:
        """Return the bytes of an event whose numbers all stand for something. Raises TraceError."""
        try:
            self._meaning.take(event)
        except MeaninglessError as error:
            raise TraceError(f"in cycle {self._cycle}, {error}") from None
        return bytes(encoded)

    def _begin(self, event: CycleStarted, waiting: Sequence[object]) -> None:
        if waiting:
            raise TraceError(f"there are columns of no cycle at cycle {self._cycle}")
        if event.cycle != self._cycle + 1:
            raise TraceError(f"cycle {self._cycle + 1} is missing")
        self._cycle = event.cycle

    # ------------------------------------------------------------ unpacking, bounded

    def _gunzipped(self, packed: bytes) -> bytes:
        unpacker = zlib.decompressobj(wbits=31)
        try:
            data = unpacker.decompress(packed, min(self._left_bytes, MAX_CHUNK_BYTES) + 1)
        except zlib.error as error:
            raise TraceError(f"after event {self._last_seq} it is damaged: {error}") from None
        self._spend(len(data), len(data))
        if not unpacker.eof:
            raise TraceError(f"after event {self._last_seq} it is cut off")
        return data

    def _unzstd(self, packed: bytes) -> bytes:
        blocks, n_bytes = [], 0
        try:
            with zstandard.ZstdDecompressor().stream_reader(packed) as reader:
                while block := reader.read(_MIB):
                    n_bytes += len(block)
                    self._spend(len(block), n_bytes)
                    blocks.append(block)
        except zstandard.ZstdError as error:
            raise TraceError(f"after event {self._last_seq} it is damaged: {error}") from None
        return b"".join(blocks)

    def _spend(self, n_bytes: int, of_chunk: int) -> None:
        self._left_bytes -= n_bytes
        if self._left_bytes < 0 or of_chunk > MAX_CHUNK_BYTES:
            limit = MAX_CHUNK_BYTES if of_chunk > MAX_CHUNK_BYTES else self._max_bytes
            raise TraceError(f"unpacked it would be larger than {limit // _MIB} MiB, the limit")
