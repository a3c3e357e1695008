"""Answers a real scheduler in time, whatever hangs: a database, a cache, a busy machine.

A scheduler waits for every answer of its extender, pod by pod, up to its `httpTimeout`. So a
session that was called before in this process is answered by the event loop, from the bytes of the
question and from what is known (`kviz.extenders.known`): neither threads nor the database have a
part in that. The first call, which asks the database whose it is, gets 503 if that takes too long,
which an `ignorable` extender may give; it costs that call only.
"""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from http import HTTPStatus
from typing import Final

from channels.db import database_sync_to_async
from django.http import HttpResponse

from kviz.common import problems
from kviz.common.observed import DURATION, REQUESTS
from kviz.extenders import asked
from kviz.extenders.answering import MAX_BODY_BYTES, VERBS, answer
from kviz.extenders.asked import Asked
from kviz.extenders.incoming import Verb
from kviz.extenders.known import KnownSession, known_sessions
from kviz.extenders.recorder import recorder
from kviz.live.origin import Application, Receive, Scope, Send, header

log = logging.getLogger(__name__)

PREFIX: Final = "/api/v1/extender/"
VIEW: Final = "api-extender"
MAX_HANGING: Final = 20
"""First calls that hang; further ones are refused at once."""
LARGE_BYTES: Final = 256 * 1024
"""A question of more is read in a thread: it would hold up all others."""


class ExtenderDeadline:
    """Lets requests through; those of schedulers are answered before a deadline."""

    def __init__(self, application: Application, deadline_s: float) -> None:
        self.application = application
        self.deadline_s = deadline_s
        self._hanging: set[asyncio.Task[None]] = set()
        self._looking: set[asyncio.Task[None]] = set()
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="large-questions")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = str(scope["path"])
        if scope["method"] != "POST" or not path.startswith(PREFIX):
            await self.application(scope, receive, send)
            return
        token, _, verb = path.removeprefix(PREFIX).partition("/")
        session = known_sessions.get(token, header(scope, "host"))
        if session is not None and verb in VERBS:
            await self._answer(session, Verb(verb), scope, receive, send)
            self._look_again(token, session)
        elif len(self._hanging) >= MAX_HANGING:
            recorder.miss(token)
            await _drain(receive)
            await _unavailable(send)
        else:
            await self._ask(token, scope, receive, send)

    # ------------------------------------------------------------ sessions that are known

    async def _answer(
        self, session: KnownSession, verb: Verb, scope: Scope, receive: Receive, send: Send
    ) -> None:
        question, began_s = Asked(), time.perf_counter()
        asked.current.set(question)
        length = header(scope, "content-length")
        body = await _whole(receive, MAX_BODY_BYTES)
        if len(body) > LARGE_BYTES:
            loop, context = asyncio.get_running_loop(), copy_context()
            response = await loop.run_in_executor(
                self._reader, context.run, answer, session, verb, length, lambda: body
            )
        else:
            response = answer(session, verb, length, lambda: body)
        await _send(send, response)
        REQUESTS.labels("POST", VIEW, response.status_code).inc()
        DURATION.labels("POST", VIEW).observe(time.perf_counter() - began_s)
        _record(question)

    def _look_again(self, token: str, session: KnownSession) -> None:
        """Check in the database whether the known state is current, one check at a time."""
        if session.is_old and not self._looking:
            task = asyncio.create_task(_looked_up(token))
            self._looking.add(task)
            task.add_done_callback(self._looking.discard)

    # ------------------------------------------------------------ first calls

    async def _ask(self, token: str, scope: Scope, receive: Receive, send: Send) -> None:
        question, whole, gone = Asked(), asyncio.Event(), False
        started = False

        async def heard() -> dict[str, object]:
            message = dict(await receive())
            if not message.get("more_body", False):
                whole.set()
            return message

        async def answers(message: dict[str, object]) -> None:
            nonlocal started
            if not gone:
                started = True
                await send(message)

        asked.current.set(question)
        task = asyncio.ensure_future(self.application(scope, heard, answers))  # type: ignore[arg-type]
        arrived = asyncio.ensure_future(whole.wait())
        await asyncio.wait((task, arrived), return_when=asyncio.FIRST_COMPLETED)
        arrived.cancel()
        await asyncio.wait((task,), timeout=self.deadline_s)
        if task.done() or started:
            await task
            _record(question)
            return
        gone = True
        self._hanging.add(task)
        task.add_done_callback(self._came_back)
        recorder.miss(token)
        await _unavailable(send)

    def _came_back(self, task: asyncio.Task[None]) -> None:
        self._hanging.discard(task)
        if not task.cancelled():
            task.exception()  # Django has logged it


def _record(question: Asked) -> None:
    """Have a call recorded, now that its answer was sent."""
    if (call := question.answered()) is not None:
        recorder.record(*call)


async def _looked_up(token: str) -> None:
    try:
        await database_sync_to_async(known_sessions.look_up, thread_sensitive=False)(token)
    except Exception as problem:  # whatever a driver raises: what is known stays
        log.warning("a session could not be looked up again: %s", problem)


async def _whole(receive: Receive, max_bytes: int) -> bytes:
    """The body; of one that is longer, which is refused, the beginning."""
    parts, n_bytes = [], 0
    while True:
        message = await receive()
        if n_bytes <= max_bytes:
            parts.append(message.get("body", b""))
            n_bytes += len(parts[-1])
        if not message.get("more_body", False):
            return b"".join(parts)


async def _drain(receive: Receive) -> None:
    """Read the question, so that the connection can be used again."""
    while (await receive()).get("more_body", False):
        pass


async def _unavailable(send: Send) -> None:
    text = "kviz cannot answer in time at the moment. An ignorable extender is passed over."
    await _send(send, problems.response(HTTPStatus.SERVICE_UNAVAILABLE, text))


async def _send(send: Send, response: HttpResponse) -> None:
    headers = [
        (b"content-type", response.headers["Content-Type"].encode()),
        (b"content-length", str(len(response.content)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})
