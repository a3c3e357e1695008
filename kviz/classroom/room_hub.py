"""Who follows rooms in this process, and how what is new reaches them.

There is one subscription to the channel layer for all of them. A room that changed is read once,
encoded once for each audience and language, and put into an outbox per follower, where a newer
document takes the place of one that was not sent yet. So a follower holds at most one frame of each
kind, a slow one misses what is past and delays nobody, and who comes late gets the present
(docs/adr/0041).
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Literal
from uuid import UUID
from weakref import WeakKeyDictionary

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.utils import timezone, translation

from kviz.classroom import documents, news, selectors, services
from kviz.classroom.crowding import MAX_PAGES
from kviz.classroom.models import Room
from kviz.common.ending import task_ended
from kviz.live.advances import group_of

log = logging.getLogger(__name__)

Audience = Literal["class", "screen", "teacher"]
Kind = Literal["state", "me", "pointer"]
Send = Callable[[str], Awaitable[None]]
Readers = tuple[Audience, str]
"""An audience, and the language it reads."""

FALLBACK_S: Final = 3.0
"""How often a room is read again if no hint comes; hints may get lost."""
PAUSE_S: Final = 0.05
"""Between two readings of one room: answers that come in together are counted together."""

DOCUMENTS: Final[Mapping[Audience, Callable[[Room], object]]] = {
    "class": documents.class_document,
    "screen": documents.screen_document,
    "teacher": documents.teacher_document,
}


class Follower:
    """One connected page, and what it is still to be sent: the latest of each kind."""

    def __init__(self, audience: Audience, language: str = "en", seat: int = 0) -> None:
        self.reads: Readers = (audience, language)
        self.seat = seat
        """The participant's number; 0 for the teacher's own pages."""
        self.outbox: dict[Kind, str] = {}
        self._news = asyncio.Event()
        self._displaced = asyncio.Event()

    def offer(self, kind: Kind, frame: str) -> None:
        self.outbox[kind] = frame
        self._news.set()

    def displace(self) -> None:
        """Newer pages of the same seat take this one's place."""
        self._displaced.set()

    async def until_displaced(self) -> None:
        await self._displaced.wait()

    async def pump(self, send: Send) -> None:
        """Send what is in the outbox, as fast as the page takes it; for as long as it stays."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self.outbox:
                kind = next(iter(self.outbox))
                await send(self.outbox.pop(kind))


class RoomHub:
    """The followers of one room in this process."""

    def __init__(self, room_id: UUID, run_id: UUID | None) -> None:
        self.room_id = room_id
        self.run_id = run_id
        self.followers: dict[Follower, None] = {}
        """In the order of coming."""
        self.pointer_seat = 0
        self._frames: dict[Readers, str] = {}
        self._dirty = asyncio.Event()

    def enter(self, follower: Follower) -> None:
        """Let somebody follow: first what is known here, then what is new."""
        self.followers[follower] = None
        if follower.seat:
            pages = [each for each in self.followers if each.seat == follower.seat]
            for oldest in pages[:-MAX_PAGES]:
                oldest.displace()
        frame = self._frames.get(follower.reads)
        if frame is not None:
            follower.offer("state", frame)
        self.wake()

    def wake(self) -> None:
        self._dirty.set()

    def point(self, x: int, y: int) -> None:
        """Show everybody where the pointer is."""
        frame = encode({"type": "pointer", "x": x, "y": y})
        for follower in self.followers:
            follower.offer("pointer", frame)

    async def publish(self) -> None:
        """Read the room when it has changed, and offer everybody what is new to them."""
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FALLBACK_S):
                    await self._dirty.wait()
            self._dirty.clear()
            try:
                await self._publish_once()
            except Exception:
                log.exception("room %s could not be read", self.room_id)
            await asyncio.sleep(PAUSE_S)

    async def _publish_once(self) -> None:
        wanted = {follower.reads for follower in self.followers}
        # In a thread of its own: in the one of requests it would queue behind everybody's moves.
        frames = await database_sync_to_async(self._read, thread_sensitive=False)(wanted)
        for readers, frame in frames.items():
            if self._frames.get(readers) == frame:
                continue
            self._frames[readers] = frame
            for follower in self.followers:
                if follower.reads == readers:
                    follower.offer("state", frame)

    def _read(self, wanted: set[Readers]) -> dict[Readers, str]:
        room = selectors.room_get(self.room_id)
        if room is None:
            return {}
        if room.closed_at is None and room.closes_at <= timezone.now():
            services.room_close(room=room)
            room.refresh_from_db()
        self.pointer_seat = room.pointer_seat
        return {readers: _frame(room, *readers) for readers in wanted}


def _frame(room: Room, audience: Audience, language: str) -> str:
    with translation.override(language):
        return encode(DOCUMENTS[audience](room))


def encode(document: object) -> str:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"))


class HubRegistry:
    """All hubs of this process, and its one subscription."""

    def __init__(self) -> None:
        self._hubs: dict[UUID, RoomHub] = {}
        self._publishers: dict[UUID, asyncio.Task[None]] = {}
        self._listener: asyncio.Task[None] | None = None
        self._channel = ""
        self._opening = asyncio.Lock()

    async def enter(self, room: Room, follower: Follower) -> RoomHub:
        """Let somebody into a room's hub, which is opened for the first one."""
        async with self._opening:
            await self._subscribe()
            hub = self._hubs.get(room.pk)
            if hub is None:
                hub = self._hubs[room.pk] = RoomHub(room.pk, room.run_id)
                self._publishers[room.pk] = asyncio.create_task(hub.publish())
                if hub.run_id is not None:  # what is revealed is simulated only then
                    await get_channel_layer().group_add(group_of(hub.run_id), self._channel)
            hub.enter(follower)
            return hub

    async def _subscribe(self) -> None:
        if self._listener is None:
            news.listen()
            layer = get_channel_layer()
            self._channel = await layer.new_channel()
            await layer.group_add(news.GROUP, self._channel)
            self._listener = asyncio.create_task(self._hear())

    async def leave(self, hub: RoomHub, follower: Follower) -> None:
        """Let somebody go; the last one closes the hub, and the last hub the registry."""
        async with self._opening:
            hub.followers.pop(follower, None)
            if hub.followers:
                return
            self._hubs.pop(hub.room_id, None)
            await _end(self._publishers.pop(hub.room_id, None))
            layer = get_channel_layer()
            if hub.run_id is not None:
                await layer.group_discard(group_of(hub.run_id), self._channel)
            if not self._hubs:
                doorman, self._listener = self._listener, None
                await _end(doorman)
                await layer.group_discard(news.GROUP, self._channel)

    async def _hear(self) -> None:
        layer = get_channel_layer()
        while True:
            message = await layer.receive(self._channel)
            if message["type"] == "run.advanced":
                for hub in self._hubs.values():
                    if str(hub.run_id) == message["run"]:
                        hub.wake()
                continue
            found = self._hubs.get(UUID(message["room"]))
            if found is not None and message["type"] == "class.pointed":
                found.point(message["x"], message["y"])
            elif found is not None:
                found.wake()


async def _end(task: asyncio.Task[None] | None) -> None:
    if task is not None:
        await task_ended(task)


_registries: WeakKeyDictionary[asyncio.AbstractEventLoop, HubRegistry] = WeakKeyDictionary()


def hub_registry() -> HubRegistry:
    """The one of the running loop: a process that serves has one loop."""
    return _registries.setdefault(asyncio.get_running_loop(), HubRegistry())
