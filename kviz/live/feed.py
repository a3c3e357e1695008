"""What is stored of a run, read once for all its viewers in this process.

A `Feed` reads how far its run is, and wakes the viewers. They take chunks and details from it; what
one has asked for is there for the others, and two who ask at the same moment wait for one read.
"""

from __future__ import annotations

import asyncio
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Hashable
from contextlib import asynccontextmanager
from typing import Final, Generic, TypeVar
from uuid import UUID

from kviz.live.advances import group_of
from kviz.live.hints import Hint
from kviz.live.shared_reading import SharedReading, beside, looking_at
from kviz.runs import selectors
from kviz.runs.reading import trace
from kviz.runs.selectors import Progress

FALLBACK_S: Final = 1.0
"""How often to look for news of a live run if no hint comes; hints may get lost."""
READ_CHUNKS: Final = 4
"""So many chunks are read at a time."""
CACHED_BYTES: Final = 16 << 20
"""Of a run's chunks, and as much of its details; a viewer far behind reads again."""

Key = TypeVar("Key", bound=Hashable)
Chunk = tuple[int, bytes]
"""Its last seq, and the stored headers."""


class FeedBroke(Exception):
    """The run cannot be read now; a later viewer gets a new feed."""


class _Cache(Generic[Key]):
    """The bytes that were read last, of limited size."""

    def __init__(self) -> None:
        self._found: OrderedDict[Key, Chunk] = OrderedDict()
        self._n_bytes = 0

    def get(self, key: Key) -> Chunk | None:
        found = self._found.get(key)
        if found is not None:
            self._found.move_to_end(key)
        return found

    def put(self, key: Key, value: Chunk) -> None:
        self._n_bytes += len(value[1]) - len(self._found.get(key, (0, b""))[1])
        self._found[key] = value
        self._found.move_to_end(key)
        while self._n_bytes > CACHED_BYTES and len(self._found) > 1:
            _, (_, dropped) = self._found.popitem(last=False)
            self._n_bytes -= len(dropped)

    def clear(self) -> None:
        self._found.clear()
        self._n_bytes = 0


class Feed(SharedReading):
    """A run as it grows, for the viewers in one event loop."""

    def __init__(self, run_id: UUID) -> None:
        super().__init__(group_of(run_id))
        self.run_id = run_id
        self.progress: Progress | None = None
        """As it was read last; None: the run is gone."""
        self.hinted_at = 0.0
        """Of the first hint that led to this progress, on the performance counter; 0: none did."""
        self._hinted_at = 0.0
        self.viewers: set[asyncio.Event] = set()
        """Each is set when there is news."""
        self.is_read = asyncio.Event()
        self._reading = asyncio.Lock()
        self._chunks: _Cache[int] = _Cache()
        """By the seq they come after."""
        self._details: _Cache[int] = _Cache()
        """By cycle."""

    # ------------------------------------------------------------ what viewers take

    async def next_chunk(self, after: int) -> Chunk | None:
        """The chunk after a seq, if it is stored."""
        if (found := self._chunks.get(after)) is not None:
            return found
        async with self._reading:
            if (found := self._chunks.get(after)) is None:
                chunks: list[Chunk] = await beside(trace.chunk_headers)(
                    run_id=self.run_id, after=after, limit=READ_CHUNKS
                )
                for chunk in chunks:
                    self._chunks.put(after, chunk)
                    after = chunk[0]
                found = chunks[0] if chunks else None
        return found

    async def packed_details(self, cycle: int) -> bytes | None:
        """The details of a cycle, gzipped; None if it is not recorded (yet)."""
        if (found := self._details.get(cycle)) is not None:
            return found[1]
        async with self._reading:
            if (found := self._details.get(cycle)) is not None:
                return found[1]
            progress = self.progress
            details: bytes | None = await beside(trace.packed_details)(
                run_id=self.run_id, cycle=cycle
            )
            # Of a cycle beyond these a part is stored, until all of it is revealed.
            if details is not None and progress is not None and cycle <= progress.cycles:
                self._details.put(cycle, (cycle, details))
            return details

    # ------------------------------------------------------------ the feed itself

    def __str__(self) -> str:
        return f"run {self.run_id}"

    async def read(self) -> float | None:
        """Read how far the run is, and wake the viewers if that is news."""
        hinted_at, self._hinted_at = self._hinted_at, 0.0
        found: Progress | None = await beside(selectors.run_progress)(run_id=self.run_id)
        if found is None or self.progress is None or found.last_seq < self.progress.last_seq:
            self._chunks.clear()  # another version of the engine begins its trace again
            self._details.clear()
        if found != self.progress or not self.is_read.is_set():
            self.progress, self.hinted_at = found, hinted_at
            self.tell()
        return FALLBACK_S if found is not None and not found.is_over else None

    def hear(self, hint: Hint) -> None:
        self._hinted_at = self._hinted_at or time.perf_counter()
        super().hear(hint)

    def tell(self) -> None:
        self.is_read.set()
        for viewer in self.viewers:
            viewer.set()


@asynccontextmanager
async def feed_of(run_id: UUID, news: asyncio.Event) -> AsyncIterator[Feed]:
    """The feed of a run, which sets `news` of a viewer; it ends with its last viewer."""
    async with looking_at(Feed, run_id) as feed:
        feed.viewers.add(news)
        try:
            await feed.is_read.wait()
            yield feed
        finally:
            feed.viewers.discard(news)
