"""Who follows rooms in this process, and how what is new reaches them.

A room that changed is read once, encoded once for each audience and language, and put into an
outbox per follower, where a newer document takes the place of one that was not sent yet. So a
follower holds at most one frame of each kind, a slow one misses what is past and delays nobody,
and a late viewer gets the present (docs/adr/0041).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Final, Literal
from uuid import UUID

from django.utils import timezone, translation

from kviz.classroom import documents, news, selectors, services
from kviz.classroom.crowding import MAX_PAGES
from kviz.classroom.models import Room
from kviz.live.advances import group_of
from kviz.live.hints import Hint
from kviz.live.shared_reading import SharedReading, beside, looking_at

log = logging.getLogger(__name__)

Audience = Literal["class", "screen", "teacher"]
Kind = Literal["state", "me", "pointer"]
Send = Callable[[str], Awaitable[None]]
Readers = tuple[Audience, str]
"""An audience, and the language it reads."""

FALLBACK_S: Final = 3.0
"""How often a room is read again if no hint comes; hints may get lost."""
TOO_MANY_PAGES: Final = 4429
"""Newer pages of the same seat have taken this one's place."""
SERVER_ERROR: Final = 1011
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
        self.ended_with = 0
        """The code to close the connection with; 0: it may stay."""
        self._news = asyncio.Event()
        self._ended = asyncio.Event()

    def offer(self, kind: Kind, frame: str) -> None:
        self.outbox[kind] = frame
        self._news.set()

    def end(self, code: int) -> None:
        """Have the connection closed: with `TOO_MANY_PAGES` the page does not come back."""
        self.ended_with = code
        self._ended.set()

    async def until_ended(self) -> None:
        await self._ended.wait()

    async def pump(self, send: Send) -> None:
        """Send what is in the outbox, as fast as the page takes it; for as long as it stays."""
        while True:
            await self._news.wait()
            self._news.clear()
            while self.outbox:
                kind = next(iter(self.outbox))
                await send(self.outbox.pop(kind))


class RoomHub(SharedReading):
    """The followers of one room in this process."""

    pause_s = PAUSE_S

    def __init__(self, ids: tuple[UUID, UUID | None]) -> None:
        self.room_id, run_id = ids
        # What is revealed is simulated only then.
        runs = () if run_id is None else (group_of(run_id),)
        super().__init__(news.group_of(self.room_id), *runs)
        self.followers: dict[Follower, None] = {}
        """In the order of coming."""
        self.pointer_seat = 0
        self._frames: dict[Readers, str] = {}

    def __str__(self) -> str:
        return f"room {self.room_id}"

    def enter(self, follower: Follower) -> None:
        """Let somebody follow: first what is known here, then what is new."""
        self.followers[follower] = None
        if follower.seat:
            pages = [each for each in self.followers if each.seat == follower.seat]
            for oldest in pages[:-MAX_PAGES]:
                oldest.end(TOO_MANY_PAGES)
        frame = self._frames.get(follower.reads)
        if frame is not None:
            follower.offer("state", frame)
        self.wake()

    def hear(self, hint: Hint) -> None:
        """Show everybody where the pointer is; whatever else happened is read."""
        if hint["type"] != "class.pointed":
            super().hear(hint)
            return
        frame = encode({"type": "pointer", "x": hint["x"], "y": hint["y"]})
        for follower in self.followers:
            follower.offer("pointer", frame)

    async def read(self) -> float:
        """Read the room, and offer everybody what is new to them."""
        wanted = {follower.reads for follower in self.followers}
        try:
            frames = await beside(self._frames_of)(wanted)
        except Exception:
            log.exception("%s could not be read", self)
            return FALLBACK_S
        for readers, frame in frames.items():
            if self._frames.get(readers) == frame:
                continue
            self._frames[readers] = frame
            for follower in self.followers:
                if follower.reads == readers:
                    follower.offer("state", frame)
        return FALLBACK_S

    def tell(self) -> None:
        for follower in self.followers if self.is_broken else ():
            follower.end(SERVER_ERROR)

    def _frames_of(self, wanted: set[Readers]) -> dict[Readers, str]:
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


@asynccontextmanager
async def hub_of(room: Room, follower: Follower) -> AsyncIterator[RoomHub]:
    """The hub of a room while somebody follows it."""
    async with looking_at(RoomHub, (room.pk, room.run_id)) as hub:
        hub.enter(follower)
        try:
            yield hub
        finally:
            hub.followers.pop(follower, None)
