"""The websocket a viewer follows a run on: stored chunks unchanged, and short status messages.

`/ws/runs/{id}/?after=SEQ[&share=TOKEN]`. Binary frames are `TraceChunk.headers` with events after
SEQ, in order; the client acknowledges with `{"ack": last_seq}`, and at most `WINDOW` chunks are
on their way unacknowledged, so a slow client costs no memory. Text frames are
`{"type": "status", ...}`. Live, reconnect and replay are all this one path.

A client that wants the columns of cycles asks for them with `{"details": [cycle, ...]}`, and with
`{"following": true}` for those of the newest cycle as the run advances; it acknowledges with
`{"got": cycle}`. They come as binary frames of their own (`kviz.live.details`); of a cycle that is
not recorded a text frame says `{"type": "missing", "cycle": n}`.

`{"preview": {"id": n, "cycle": n, "changes": [...]}}` asks for a cycle with something changed, and
`{"previewed": n}` acknowledges the answer (`kviz.live.previews`, docs/lab.md).

Closed with 4400 (`after` is no number), 4404 (no such run for this viewer, or no longer: see
`kviz.live.access_watch`) or 1011 (a failure
here; come back).
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections import deque
from collections.abc import MutableMapping
from dataclasses import asdict
from typing import Annotated, Any, Final
from urllib.parse import parse_qs
from uuid import UUID

import msgspec
from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.http import HttpRequest
from django.utils.translation import get_language_from_request, override
from msgspec import UNSET, UnsetType

from kviz.common.observed import LAG, SOCKETS
from kviz.common.wording import translated
from kviz.live.access_watch import RunVisitor, access_watch
from kviz.live.details import DetailFeed
from kviz.live.feed import Feed, FeedBroke, feed_of
from kviz.live.origin import header
from kviz.live.previews import PreviewFeed, PreviewRequest
from kviz.runs.selectors import Progress

log = logging.getLogger(__name__)

WINDOW: Final = 8
"""Chunks that may be unacknowledged."""
MOST_WANTED: Final = 16
"""Cycles whose details may be asked for at once."""
MAX_MESSAGE: Final = 1 << 18
"""Characters of one message of a client."""
SEQ: Final = re.compile(r"-1|[0-9]{1,18}")
BAD_REQUEST: Final = 4400
NOT_FOUND: Final = 4404
SERVER_ERROR: Final = 1011


Number = Annotated[int, msgspec.Meta(ge=1, lt=1 << 32)]


class ViewerGone(Exception):
    """Nobody takes what is sent any more."""


class Message(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What a client sends, one at a time; `ack` is the last seq of a chunk it has taken in."""

    ack: int | UnsetType = UNSET
    details: Annotated[list[Number], msgspec.Meta(max_length=MOST_WANTED)] | UnsetType = UNSET
    got: Number | UnsetType = UNSET
    following: bool | UnsetType = UNSET
    preview: PreviewRequest | UnsetType = UNSET
    previewed: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        if sum(value is not UNSET for value in msgspec.structs.astuple(self)) != 1:
            raise ValueError("one thing at a time")


class Refused(Exception):
    """Who was let in may stay no longer."""


class RunConsumer(AsyncWebsocketConsumer):
    """Sends what follows the client's last seq, then whatever is stored from then on."""

    run_id: UUID
    pump: asyncio.Task[None] | None = None
    observed_hint_at = 0.0
    """Of the last hint whose news the client was sent."""

    async def connect(self) -> None:
        query = parse_qs(self.scope["query_string"].decode("latin-1"))
        after, share = query.get("after", ["-1"])[0], query.get("share", [""])[0]
        await self.accept()
        if not SEQ.fullmatch(after):
            await self.close(BAD_REQUEST)
            return
        self.run_id = self.scope["url_route"]["kwargs"]["run_id"]
        self.visitor = RunVisitor.of(self.scope, self.run_id, share)
        if not await database_sync_to_async(self.visitor.may_come)():
            await self.close(NOT_FOUND)
            return
        self.sent_seq = int(after)
        self.unacknowledged: deque[int] = deque()
        self.news = asyncio.Event()
        self.last_status: Progress | None = None
        self.details = DetailFeed(self.send_frame)
        self.language = _language(self.scope)
        self.previews = PreviewFeed(self.run_id, self.send_frame, self.language)
        self.pump = asyncio.create_task(self.follow_or_close())
        SOCKETS.inc()

    async def disconnect(self, code: int) -> None:
        if self.pump is not None:
            SOCKETS.dec()
            await self.stop_sending()

    async def stop_sending(self) -> None:
        if self.pump is not None:
            self.pump.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.pump

    async def dispatch(self, message: dict[str, Any]) -> None:
        """Take what a client says at once.

        Channels looks after connections to the database first, in the one thread in which pages
        are read; those of messages have none to look after, and would wait for slow pages.
        """
        if message["type"] == "websocket.receive":
            await self.websocket_receive(message)
        else:
            await super().dispatch(message)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        if text_data is not None and len(text_data) > MAX_MESSAGE:
            await self.stop_sending()
            await self.close(BAD_REQUEST)
            return
        try:
            message = msgspec.json.decode(text_data or "", type=Message)
        except (msgspec.DecodeError, RecursionError):
            await self.stop_sending()
            await self.close(BAD_REQUEST)
            return
        if self.pump is not None:
            self.take(message)

    def take(self, message: Message) -> None:
        if message.ack is not UNSET:
            is_waited_for = len(self.unacknowledged) >= WINDOW
            while self.unacknowledged and self.unacknowledged[0] <= message.ack:
                self.unacknowledged.popleft()
            if is_waited_for:
                self.news.set()
        elif message.details is not UNSET:
            self.details.ask(message.details)
        elif message.got is not UNSET:
            self.details.acknowledge(message.got)
        elif message.following is not UNSET:
            self.details.is_following = message.following
        elif message.preview is not UNSET:
            self.previews.ask(message.preview)
        elif message.previewed is not UNSET:
            self.previews.acknowledge(message.previewed)

    # ------------------------------------------------------------ the pump

    async def follow_or_close(self) -> None:
        """Close with an error code when the feed fails, so that the viewer reconnects."""
        try:
            async with feed_of(self.run_id, self.news) as feed, asyncio.TaskGroup() as tasks:
                tasks.create_task(self.follow(feed))
                tasks.create_task(self.details.pump(feed.packed_details))
                tasks.create_task(self.previews.pump())
                tasks.create_task(self.leave_when_refused())
        except Exception as error:
            if isinstance(error, ExceptionGroup) and error.subgroup(Refused):
                await self.close(NOT_FOUND)
            elif not _is_gone(error):
                log.exception("the feed of run %s broke off", self.run_id)
                await self.close(SERVER_ERROR)

    async def leave_when_refused(self) -> None:
        """End the other tasks once the viewer may see the run no more. Raises Refused."""
        await access_watch().until_refused(self.visitor)
        raise Refused

    async def follow(self, feed: Feed) -> None:
        """Send what is new, wait for news, again; for as long as the client stays.

        Raises FeedBroke.
        """
        while True:
            self.news.clear()
            if feed.is_broken:
                raise FeedBroke
            progress = feed.progress
            if progress is None:
                await self.close(NOT_FOUND)
                return
            is_complete = await self.send_chunks(feed, progress.last_seq)
            if is_complete or not progress.is_over:
                await self.send_status(progress)
            if is_complete:
                self.details.advance(progress.cycles)
                self.observe_lag(feed)
            await self.news.wait()

    def observe_lag(self, feed: Feed) -> None:
        """The client was sent all there is: it lags behind the hint of that no longer."""
        if feed.hinted_at not in (0.0, self.observed_hint_at):
            LAG.observe(time.perf_counter() - feed.hinted_at)
            self.observed_hint_at = feed.hinted_at

    async def send_chunks(self, feed: Feed, last_seq: int) -> bool:
        """Send chunks up to `last_seq` while the window allows; True if all are sent."""
        while self.sent_seq < last_seq:
            if len(self.unacknowledged) >= WINDOW:
                return False
            chunk = await feed.next_chunk(self.sent_seq)
            if chunk is None:
                return True
            self.sent_seq, headers = chunk
            await self.send(bytes_data=headers)
            self.unacknowledged.append(self.sent_seq)
        return True

    async def send(self, *args: Any, **more: Any) -> None:
        """Send a frame. Raises ViewerGone."""
        try:
            await super().send(*args, **more)
        except OSError as error:
            raise ViewerGone from error

    async def send_frame(self, frame: bytes | str) -> None:
        if isinstance(frame, bytes):
            await self.send(bytes_data=frame)
        else:
            await self.send(text_data=frame)

    async def send_status(self, progress: Progress) -> None:
        if progress == self.last_status:
            return
        self.last_status = progress
        message = {"type": "status", **asdict(progress)}
        if progress.error:
            with override(self.language):
                message["error"] = translated(progress.error)
        else:
            del message["error"]
        await self.send(text_data=msgspec.json.encode(message).decode())


def _is_gone(error: Exception) -> bool:
    """Whether nothing failed but that the viewer went."""
    return isinstance(error, ExceptionGroup) and error.split(ViewerGone)[1] is None


def _language(scope: MutableMapping[str, Any]) -> str:
    """The language that the viewer's cookie or browser asks for."""
    request = HttpRequest()
    request.COOKIES = scope.get("cookies", {})
    request.META["HTTP_ACCEPT_LANGUAGE"] = header(scope, "accept-language")
    return get_language_from_request(request)
