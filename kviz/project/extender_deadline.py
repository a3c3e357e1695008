"""Answers a real scheduler in time, whatever hangs: a database, a cache, a busy machine.

A scheduler waits for every answer of its extender, pod by pod, up to its `httpTimeout`. So a
question that is not answered soon gets 503, which an `ignorable` extender may give; and while one
hangs the next are refused at once, but for one now and then that finds out whether it still does.
The event loop does this, which waits for neither database nor disk.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from http import HTTPStatus
from typing import Final

from kviz.extenders import asked
from kviz.extenders.asked import Asked
from kviz.extenders.recorder import recorder
from kviz.live.origin import Application, Receive, Scope, Send

PREFIX: Final = "/api/v1/extender/"
PROBE_S: Final = 1.0
"""While a question hangs, so often another one may try."""
MAX_HANGING: Final = 20


class ExtenderDeadline:
    """Lets requests through; those of schedulers are answered before a deadline."""

    def __init__(
        self,
        application: Application,
        deadline_s: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.application = application
        self.deadline_s = deadline_s
        self._clock = clock
        self._hanging: set[asyncio.Task[None]] = set()
        self._next_probe_s = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["method"] != "POST" or not str(scope["path"]).startswith(PREFIX):
            await self.application(scope, receive, send)
            return
        if self._refuses():
            await _drain(receive)
            await _unavailable(send)
            return
        await self._ask(scope, receive, send)

    def _refuses(self) -> bool:
        """Return whether a question is refused as others hang; one that is not is a probe."""
        if not self._hanging:
            return False
        if len(self._hanging) >= MAX_HANGING or self._clock() < self._next_probe_s:
            return True
        self._next_probe_s = self._clock() + PROBE_S
        return False

    async def _ask(self, scope: Scope, receive: Receive, send: Send) -> None:
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
            if (call := question.answered()) is not None:
                recorder.record(*call)
            return
        gone = True
        self._hanging.add(task)
        task.add_done_callback(self._came_back)
        self._next_probe_s = self._clock() + PROBE_S
        await _unavailable(send)

    def _came_back(self, task: asyncio.Task[None]) -> None:
        self._hanging.discard(task)
        if not task.cancelled():
            task.exception()  # Django has logged it


async def _drain(receive: Receive) -> None:
    """Read the question, so that the connection can be used again."""
    while (await receive()).get("more_body", False):
        pass


async def _unavailable(send: Send) -> None:
    status = HTTPStatus.SERVICE_UNAVAILABLE
    text = "kviz cannot answer in time at the moment. An ignorable extender is passed over."
    body = json.dumps(
        {"type": "about:blank", "title": status.phrase, "status": status.value, "detail": text}
    ).encode()
    headers = [
        (b"content-type", b"application/problem+json"),
        (b"content-length", str(len(body)).encode()),
    ]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": body})
