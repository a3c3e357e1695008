"""Details of cycles for one viewer: those it asks for, and the newest while it follows the run.

A frame is the byte `DETAIL`, the cycle as four bytes (big-endian), and the cycle's stored details,
gzipped. What a viewer wants replaces what it wanted before and has not got; at most `WINDOW`
frames are on their way unacknowledged. So who hurries through a run is sent what they look at, not
what they passed, and of a run that advances faster than they can read only the newest cycle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec

WINDOW: Final = 3
"""Details that may be unacknowledged."""
DETAIL: Final = 0x01
"""How a frame with details begins; a chunk begins with 0x1f, being gzip."""

Send = Callable[[bytes | str], Awaitable[None]]
Read = Callable[[int], Awaitable[bytes | None]]
"""The gzipped details of a cycle; None if it is not recorded (yet)."""


class DetailFeed:
    """What one viewer wants of the cycles' details, and the task that sends it."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.wanted: list[int] = []
        self.is_following = False
        self.newest = 0  # of the cycles whose headers were sent
        self.unasked = 0  # to be sent all the same; 0 for none
        self.unacknowledged: set[int] = set()
        self.news = asyncio.Event()

    def ask(self, cycles: Sequence[int]) -> None:
        """Want these, in this order, and no others; what is on its way is not sent twice."""
        self.wanted = [cycle for cycle in cycles if cycle not in self.unacknowledged]
        self.news.set()

    def acknowledge(self, cycle: int) -> None:
        self.unacknowledged.discard(cycle)
        self.news.set()

    def advance(self, newest: int) -> None:
        """Hear that the viewer was sent all headers up to this cycle."""
        if self.is_following and newest > self.newest and newest not in self.unacknowledged:
            self.unasked = newest
            self.news.set()
        self.newest = newest

    async def pump(self, read: Read) -> None:
        """Send what is wanted while the window allows, wait for news, repeat."""
        while True:
            self.news.clear()
            while (cycle := self._next()) > 0:
                await self._send(cycle, await read(cycle))
            await self.news.wait()

    def _next(self) -> int:
        if len(self.unacknowledged) >= WINDOW:
            return 0
        if self.wanted:
            cycle = self.wanted.pop(0)
            if cycle == self.unasked:
                self.unasked = 0
            return cycle
        cycle, self.unasked = self.unasked, 0
        return cycle

    async def _send(self, cycle: int, details: bytes | None) -> None:
        if details is None:
            missing = {"type": "missing", "cycle": cycle}
            await self.send(msgspec.json.encode(missing).decode())
            return
        self.unacknowledged.add(cycle)
        await self.send(bytes([DETAIL]) + cycle.to_bytes(4, "big") + details)
