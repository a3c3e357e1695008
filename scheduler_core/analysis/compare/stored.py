"""Single cycles out of a trace's chunks, with what their numbers mean then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import msgspec
import zstandard

from scheduler_core.analysis.compare.difference import Seen
from scheduler_core.analysis.compare.lines import RunLines
from scheduler_core.trace import codec
from scheduler_core.trace.checking import TraceError
from scheduler_core.trace.cycle_record import CycleRecord, cycle_range, cycle_record
from scheduler_core.trace.events import Detail, HeaderEvent, ScoreColumns
from scheduler_core.trace.names import Names

_NOTHING = msgspec.Raw(msgspec.msgpack.encode([]))


class StoredCycles:
    """The cycles of one run; the chunk looked at last stays unpacked."""

    def __init__(self, read: RunLines) -> None:
        self.read = read
        self._chunk_of = [
            i
            for i, chunk in enumerate(read.chunks)
            for _ in range(chunk.first_cycle, chunk.last_cycle + 1)
        ]
        self._details: tuple[int, Mapping[int, msgspec.Raw]] = (-1, {})
        self._headers: tuple[int, list[HeaderEvent]] = (-1, [])

    def chunk_of(self, cycle: int) -> int:
        """Return which chunk a cycle is in."""
        return self._chunk_of[cycle - 1]

    def raw(self, cycle: int) -> msgspec.Raw:
        """Return the MessagePack `[detail event, ...]` of a cycle. Raises TraceError."""
        place = self.chunk_of(cycle)
        if self._details[0] != place:
            try:
                self._details = place, dict(codec.raw_details(self.read.chunks[place].details))
            except (zstandard.ZstdError, msgspec.DecodeError) as error:
                raise TraceError(f"the columns of cycle {cycle} are damaged: {error}") from None
        return self._details[1].get(cycle, _NOTHING)

    def details(self, cycle: int) -> list[Detail]:
        return codec.decode_details(bytes(self.raw(cycle)))

    def scores(self, cycle: int) -> ScoreColumns | None:
        """Return the scores of a cycle, None if it had none."""
        found = (event for event in self.details(cycle) if isinstance(event, ScoreColumns))
        return next(found, None)

    def seen(self, cycle: int) -> Seen:
        """Return everything about a cycle but for what its binding came to after the next began."""
        headers = self._events(self.chunk_of(cycle))
        place = cycle_range(headers, cycle)
        events = headers[place.start : place.stop]
        return Seen(self._record(events, cycle), self.names_at(cycle))

    def _record(self, events: list[HeaderEvent], cycle: int) -> CycleRecord:
        return cycle_record(events, details=self.details(cycle))

    def _events(self, place: int) -> list[HeaderEvent]:
        if self._headers[0] != place:
            _, events = codec.read_headers(self.read.chunks[place].headers)
            self._headers = place, events
        return self._headers[1]

    def names_at(self, cycle: int) -> Names:
        """Return what the cycle's numbers mean: those of a trace never change, its order does."""
        order: tuple[int, ...] = ()
        for first, nodes in self.read.orders:
            if first > cycle:
                break
            order = nodes
        return replace(self.read.end.names, order=order)
