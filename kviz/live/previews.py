"""Previews for one viewer: the cycle it looks at, evaluated again as it changes things.

An answer is the byte `PREVIEW`, the request's id as four bytes (big-endian), and the gzipped
answer (`kviz.runs.reading.preview`). Only the newest request counts: one that still waits is
dropped for it, and a simulation for a cycle that nobody looks at any more is ended. At most
`WINDOW` answers are on their way unacknowledged, so a slow client gets the latest, not all.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from http import HTTPStatus
from typing import Annotated, Any, Final
from uuid import UUID

import msgspec
from channels.db import database_sync_to_async
from django.utils.translation import override

from kviz.common.problems import Kind, document
from kviz.runs.models import Run
from kviz.runs.reading import preview, trace
from kviz.runs.reading.held_cycles import CannotReenact
from kviz.runs.reading.preview import BadChanges, Preview
from scheduler_core.wording import say, told

WINDOW: Final = 2
"""Answers that may be unacknowledged."""
PREVIEW: Final = 0x02
"""How a frame with a preview begins; details begin with 0x01, a chunk with 0x1f."""
TOLD_EVERY_S: Final = 0.25
RETRY_S: Final = 0.5
"""How soon to look whether another's simulation is over."""

Send = Callable[[bytes | str], Awaitable[None]]


class PreviewRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a viewer asks for; the changes are read later, so that what is wrong can be said."""

    id: Annotated[int, msgspec.Meta(ge=0, lt=1 << 32)]
    cycle: Annotated[int, msgspec.Meta(ge=1, lt=1 << 32)]
    changes: list[Any]


class _Superseded(Exception):
    """Ends a simulation for a cycle that nobody looks at any more."""


class _NotRecorded(Exception):
    """The cycle is not there (yet)."""


class PreviewFeed:
    """The newest preview that one viewer wants, and the task that sends it."""

    def __init__(self, run_id: UUID, send: Send, language: str) -> None:
        self.run_id = run_id
        self.language = language
        self.send = send
        self.wanted: PreviewRequest | None = None
        self.unacknowledged: set[int] = set()
        self.news = asyncio.Event()
        self._is_over = False

    def ask(self, request: PreviewRequest) -> None:
        """Want this one, and no earlier one that still waits."""
        self.wanted = request
        self.news.set()

    def acknowledge(self, id: int) -> None:
        self.unacknowledged.discard(id)
        self.news.set()

    async def pump(self) -> None:
        """Answer what is wanted while the window allows, wait for news, repeat."""
        try:
            while True:
                self.news.clear()
                while self.wanted is not None and len(self.unacknowledged) < WINDOW:
                    request, self.wanted = self.wanted, None
                    await self._serve(request)
                await self.news.wait()
        finally:
            self._is_over = True

    async def _serve(self, request: PreviewRequest) -> None:
        try:
            packed = await self._answer(request)
        except _Superseded:
            return
        except BadChanges as error:
            await self._refuse(request, HTTPStatus.BAD_REQUEST, told(error), errors=error.errors)
        except _NotRecorded:
            text = say(
                "cycle.not_recorded", "Cycle {cycle} is not recorded (yet).", cycle=request.cycle
            )
            await self._refuse(request, HTTPStatus.NOT_FOUND, text)
        except CannotReenact as error:
            kind: Kind = "cannot-reenact"
            await self._refuse(request, HTTPStatus.CONFLICT, told(error), kind=kind)
        else:
            self.unacknowledged.add(request.id)
            await self.send(bytes([PREVIEW]) + request.id.to_bytes(4, "big") + packed)

    async def _answer(self, request: PreviewRequest) -> bytes:
        """Return the answer; wait while another cycle is simulated, unless superseded."""
        while True:
            try:
                return await self._evaluate(request)
            except CannotReenact as refused:
                if not refused.busy:
                    raise
            await self._tell(request, 0, 0, 0, waiting=True)
            await asyncio.sleep(RETRY_S)
            if self.wanted is not None:
                raise _Superseded

    async def _evaluate(self, request: PreviewRequest) -> bytes:
        """Evaluate outside the event loop, in a thread that nothing else waits for."""
        loop, began = asyncio.get_running_loop(), time.monotonic()
        told = -TOLD_EVERY_S

        def progress(n_cycles: int) -> None:
            nonlocal told
            newer = self.wanted
            if self._is_over or (newer is not None and newer.cycle != request.cycle):
                raise _Superseded
            elapsed = time.monotonic() - began
            if elapsed - told >= TOLD_EVERY_S:
                told = elapsed
                text = self._tell(request, n_cycles, request.cycle, round(elapsed * 1000))
                asyncio.run_coroutine_threadsafe(text, loop)

        work = database_sync_to_async(_packed, thread_sensitive=False)
        packed: bytes = await work(self.run_id, request, progress, self.language)
        return packed

    async def _tell(
        self, request: PreviewRequest, cycles: int, of: int, elapsed_ms: int, waiting: bool = False
    ) -> None:
        done = {"cycles": cycles, "of": of, "elapsed_ms": elapsed_ms}
        await self._say(request, reenacting=done | ({"waiting": True} if waiting else {}))

    async def _refuse(
        self,
        request: PreviewRequest,
        status: HTTPStatus,
        detail: str,
        *,
        errors: Sequence[object] = (),
        kind: Kind = "",
    ) -> None:
        with override(self.language):
            problem = document(status, detail, errors, kind)  # type: ignore[arg-type]
        await self._say(request, problem=problem)

    async def _say(self, request: PreviewRequest, **more: object) -> None:
        message = {"type": "preview", "id": request.id, "cycle": request.cycle, **more}
        await self.send(msgspec.json.encode(message, enc_hook=str).decode())


def _packed(
    run_id: UUID, request: PreviewRequest, progress: Callable[[int], None], language: str
) -> bytes:
    """Return the gzipped answer. Raises BadChanges, CannotReenact, _NotRecorded, _Superseded."""
    with override(language):
        return _found(run_id, request, progress).zipped()


def _found(run_id: UUID, request: PreviewRequest, progress: Callable[[int], None]) -> Preview:
    changes = preview.changes_of(request.changes)
    found = preview.preview_if_held(run_id=run_id, cycle=request.cycle, changes=changes)
    if found is None:
        progress(0)
        run = Run.objects.select_related("snapshot").filter(pk=run_id).first()
        recorded = trace.cycle_get(run=run, cycle=request.cycle) if run is not None else None
        if run is None or recorded is None:
            raise _NotRecorded
        found = preview.preview(run=run, recorded=recorded, changes=changes, progress=progress)
    return found
