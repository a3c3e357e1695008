"""The websocket a room is followed on: `/ws/class/CODE/?as=class|screen|teacher&in=LANGUAGE`.

Text frames are documents (`documents.py`): `{"type": "state", ...}` whenever something has changed,
`{"type": "me", ...}` what only this participant may know, `{"type": "pointer", "x", "y"}`. Only the
latest of each kind is sent. The holder of the pointer says `{"point": [x, y]}`; nothing else is
said here, answers and the teacher's steps go over REST.

Closed with 4404 (no such room for this browser, or no longer), 4403 (its seat is gone),
4429 (newer pages of the same seat have taken this one's place) or 4400 (nonsense).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import MutableMapping
from dataclasses import dataclass
from typing import Annotated, Any, Final
from urllib.parse import parse_qs
from uuid import UUID

import msgspec
from channels.db import database_sync_to_async
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_supported_language_variant

from kviz.accounts.selectors import may_work
from kviz.classroom import news, selectors, services
from kviz.classroom.codes import code_typed
from kviz.classroom.documents import mine_document
from kviz.classroom.guessing import count_guess
from kviz.classroom.models import Participant
from kviz.classroom.room_hub import Audience, Follower, RoomHub, encode, hub_of
from kviz.classroom.seats import Door, door_of, had_seat, is_in
from kviz.common.ending import task_ended
from kviz.common.mode import Mode
from kviz.live.access_watch import access_watch, session_of
from kviz.live.origin import Receive, Scope, Send, header

BAD_REQUEST: Final = 4400
NO_SEAT: Final = 4403
NOT_FOUND: Final = 4404
MAX_MESSAGE: Final = 200
"""Characters of one message."""
LEAST_S: Final = 0.03
"""Between two positions of a pointer; those between are left out."""

Thousandth = Annotated[int, msgspec.Meta(ge=0, le=1000)]


class Pointing(msgspec.Struct, forbid_unknown_fields=True):
    """What the holder of the pointer says, in thousandths of the map's width."""

    point: tuple[Thousandth, Thousandth]


class Refusal(Exception):
    """Close the connection with this code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


async def class_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """Follow a room until the browser goes: a plain ASGI application, for there may be many."""
    await receive()
    await send({"type": "websocket.accept"})
    try:
        door, audience, mine = await database_sync_to_async(_come_in)(scope)
    except Refusal as refusal:
        await send({"type": "websocket.close", "code": refusal.code})
        return
    follower = Follower(
        audience, _language(scope), door.participant.number if door.participant else 0
    )
    if mine:
        follower.offer("me", mine)
    try:
        async with hub_of(door.room, follower) as hub:
            await _serve(hub, follower, receive, send, _visitor(scope, door, audience))
    finally:
        if audience == "class" and door.participant is not None:
            with contextlib.suppress(asyncio.CancelledError):  # the server ends
                await database_sync_to_async(_connected)(door.participant, -1)


def _come_in(scope: Scope) -> tuple[Door, Audience, str]:
    """Who this browser is here. Raises Refusal."""
    session = scope["session"]
    code = code_typed(scope["url_route"]["kwargs"]["code"])
    room = selectors.room_open(code) if code else None
    if room is None or not (is_in(session, room) or had_seat(session, room)):
        count_guess(_as_request(scope))  # whether there is such a room is not said
        raise Refusal(NOT_FOUND)
    if not may_work(session):
        raise Refusal(NOT_FOUND)
    door = door_of(session, room)
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("as", ["class"])[0]
    if asked in ("teacher", "screen") and door.is_teacher:
        return Door(room, True, None), "teacher" if asked == "teacher" else "screen", ""
    if asked != "class":
        raise Refusal(NOT_FOUND)
    if door.participant is None:
        if not door.is_teacher:
            raise Refusal(NO_SEAT)
        return door, "class", ""
    _connected(door.participant, 1)
    return door, "class", encode(mine_document(room, door.participant))


def _as_request(scope: Scope) -> HttpRequest:
    """What a page's request would say of the browser."""
    request = HttpRequest()
    request.META["REMOTE_ADDR"] = (scope.get("client") or ("",))[0]
    if forwarded := header(scope, "x-forwarded-for"):
        request.META["HTTP_X_FORWARDED_FOR"] = forwarded
    request.session = scope["session"]
    return request


def _language(scope: Scope) -> str:
    """The language of the page that follows, as it says; English for one that is not spoken."""
    asked = parse_qs(scope["query_string"].decode("latin-1")).get("in", [""])[0]
    try:
        return get_supported_language_variant(asked.lower())
    except LookupError:
        return settings.LANGUAGE_CODE


def _connected(participant: Participant, by: int) -> None:
    services.participant_connected(participant=participant, by=by)


@dataclass(frozen=True)
class RoomVisitor:
    """A teacher's page, or where everybody has an account somebody's in the class."""

    room_id: UUID
    session_key: str | None
    is_class: bool

    def may_stay(self) -> bool:
        session, room = session_of(self.session_key), selectors.room_get(self.room_id)
        if room is None or not may_work(session):
            return False
        return self.is_class or door_of(session, room).is_teacher


def _visitor(scope: Scope, door: Door, audience: Audience) -> RoomVisitor | None:
    """The people whose access is checked again; a guest's seat ends with the class."""
    if settings.MODE == Mode.LOCAL or (audience == "class" and settings.GUESTS):
        return None
    return RoomVisitor(door.room.pk, scope["session"].session_key, audience == "class")


async def _serve(
    hub: RoomHub, follower: Follower, receive: Receive, send: Send, visitor: RoomVisitor | None
) -> None:
    async def send_text(frame: str) -> None:
        await send({"type": "websocket.send", "text": frame})

    pump = asyncio.create_task(follower.pump(send_text))
    try:
        await _listen_while_welcome(hub, follower, receive, send, visitor)
    finally:
        pump.cancel()
        with contextlib.suppress(asyncio.CancelledError, OSError):
            await pump


async def _listen_while_welcome(
    hub: RoomHub, follower: Follower, receive: Receive, send: Send, visitor: RoomVisitor | None
) -> None:
    """Listen until the page is gone, may stay no longer, or is one too many of its seat."""
    listening = asyncio.create_task(_listen(hub, follower, receive, send))
    tasks = [listening, asyncio.create_task(follower.until_ended())]
    if visitor is not None:
        tasks.append(asyncio.create_task(_end_when_refused(follower, visitor)))
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        if follower.ended_with:
            await send({"type": "websocket.close", "code": follower.ended_with})
    finally:
        for task in tasks:
            await task_ended(task)


async def _end_when_refused(follower: Follower, visitor: RoomVisitor) -> None:
    await access_watch().until_refused(visitor)
    follower.end(NOT_FOUND)


async def _listen(hub: RoomHub, follower: Follower, receive: Receive, send: Send) -> None:
    """Take what the page says, until it is gone."""
    loop, last = asyncio.get_running_loop(), 0.0
    while True:
        message = await receive()
        if message["type"] != "websocket.receive":
            return
        pointing = _pointing(message)
        if pointing is None:
            await send({"type": "websocket.close", "code": BAD_REQUEST})
            return
        if _holds_pointer(hub, follower) and loop.time() - last >= LEAST_S:
            last = loop.time()
            await news.point(hub.room_id, *pointing.point)


def _pointing(message: MutableMapping[str, Any]) -> Pointing | None:
    text = message.get("text") or ""
    if len(text) > MAX_MESSAGE:
        return None
    with contextlib.suppress(msgspec.DecodeError, RecursionError):
        return msgspec.json.decode(text, type=Pointing)
    return None


def _holds_pointer(hub: RoomHub, follower: Follower) -> bool:
    if follower.reads[0] == "class":
        return follower.seat != 0 and follower.seat == hub.pointer_seat
    return hub.pointer_seat == 0
