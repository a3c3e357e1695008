"""Something stored that many look at, read once when it changed for all who look in this process.

A `SharedReading` hears the hints of its groups on the channel layer, has what is stored read again,
and wakes who looks. So three hundred viewers of a run, or sixty phones of a class, cost what one
does. It begins with the first who looks and ends with the last (`looking_at`).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, ClassVar, Final, TypeVar
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer

from kviz.common.ending import task_ended
from kviz.live.hints import Hint, listen

log = logging.getLogger(__name__)

beside: Final = partial(database_sync_to_async, thread_sensitive=False)
"""In a separate thread: those who read pages share one, and who looks would queue behind them."""


class SharedReading(ABC):
    """What is looked at in one event loop."""

    pause_s: ClassVar = 0.0
    """Between two readings: what changes together meanwhile is read together."""

    def __init__(self, *groups: str) -> None:
        self.is_broken = False
        """It cannot be read now; a later viewer gets a new one."""
        self.n_looking = 0
        self._groups = groups
        self._news = asyncio.Event()

    @abstractmethod
    async def read(self) -> float | None:
        """Read what is stored, and tell who looks if it is new; return when to read it again.

        In seconds, for hints may get lost; None: not before a hint comes.
        """

    def hear(self, hint: Hint) -> None:
        """Take a hint; by default every hint causes a new read."""
        self.wake()

    @abstractmethod
    def tell(self) -> None:
        """Have who looks see what was read, or that it is broken."""

    def wake(self) -> None:
        self._news.set()

    # ------------------------------------------------------------ from the first to the last

    def begin(self) -> None:
        listen()
        self._task = asyncio.create_task(self._follow())

    async def end(self) -> None:
        await task_ended(self._task)

    async def _follow(self) -> None:
        layer = get_channel_layer()
        channel = await layer.new_channel()
        for group in self._groups:
            await layer.group_add(group, channel)
        try:
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(self._hear(channel))
                tasks.create_task(self._read())
        except Exception:
            log.exception("%s cannot be read", self)
            self.is_broken = True
            self.tell()
        finally:
            for group in self._groups:
                await layer.group_discard(group, channel)

    async def _hear(self, channel: str) -> None:
        layer = get_channel_layer()
        while True:
            self.hear(await layer.receive(channel))

    async def _read(self) -> None:
        while True:
            self._news.clear()
            again_s = await self.read()
            await asyncio.sleep(self.pause_s)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(again_s):
                    await self._news.wait()


Key = TypeVar("Key")
Looked = TypeVar("Looked", bound=SharedReading)

_open: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[object, object], Any]]
_open = WeakKeyDictionary()
"""By where people wait, then by kind and key."""


@asynccontextmanager
async def looking_at(kind: Callable[[Key], Looked], key: Key) -> AsyncIterator[Looked]:
    """What those share who look at a key, made for the first and ended with the last of them."""
    shared = _open.setdefault(asyncio.get_running_loop(), {})
    found: Looked | None = shared.get((kind, key))
    if found is None or found.is_broken:
        found = shared[kind, key] = kind(key)
        found.begin()
    found.n_looking += 1
    try:
        yield found
    finally:
        found.n_looking -= 1
        if not found.n_looking:
            if shared.get((kind, key)) is found:
                del shared[kind, key]
            await found.end()
