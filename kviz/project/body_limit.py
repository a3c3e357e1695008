"""Refuses a request's body as soon as it is too long, before Django spools it to disk.

And as soon as it comes too slowly: a byte now and then would hold a connection for ever.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import MutableMapping
from functools import partial
from http import HTTPStatus
from io import BytesIO
from typing import Any, Final, cast

from csp.middleware import CSPMiddleware
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.utils.translation import get_language_from_request, gettext_noop, override
from django.utils.translation import gettext as _

from kviz.common import problems
from kviz.common.middleware import EveryAnswer, GetResponse
from kviz.live.origin import Application, Receive, Scope, Send, header

DRAIN_BYTES: Final = 1 << 30
"""How much of a refused body is read and dropped, so that its sender gets to see the answer."""


GRACE_S: Final = 30.0
"""How long a body may take however short it is."""
SLOWEST_BYTES_PER_S: Final = 1024
"""How much of it has to come in a second, on average, beyond that."""
TOO_LONG: Final = gettext_noop("An upload may have at most %(most)s MiB.")
TOO_SLOW: Final = gettext_noop(
    "The request came too slowly. Send it again over a better connection."
)


class _TooLong(Exception):
    """More bytes came than are allowed."""


class _TooSlow(Exception):
    """Fewer bytes came than are expected by now."""


class BodyLimit:
    """Answers 413 to bodies of more than `max_bytes`, by their declared or their real length.

    Answers 408 to bodies that take more than `grace_s` and come too slowly.
    """

    def __init__(self, application: Application, max_bytes: int, grace_s: float = GRACE_S) -> None:
        self.application = application
        self.max_bytes = max_bytes
        self.grace_s = grace_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        timed = _Timed(receive, self.grace_s)
        declared = header(scope, "content-length")
        if declared.isdecimal() and int(declared) > self.max_bytes:
            await self._refuse_long(scope, timed, send)
            return

        async def counted() -> MutableMapping[str, Any]:
            message = await timed()
            if timed.n_bytes > self.max_bytes:
                raise _TooLong
            return message

        try:
            await self.application(scope, counted, send)
        except _TooLong:
            await self._refuse_long(scope, timed, send)
        except _TooSlow:
            await _refuse_slow(scope, send)

    async def _refuse_long(self, scope: Scope, receive: Receive, send: Send) -> None:
        status, limit_mib = HTTPStatus.REQUEST_ENTITY_TOO_LARGE, self.max_bytes / (1 << 20)
        body = await _begin_refusal(
            scope, send, status, TOO_LONG, "too-large", most=f"{limit_mib:g}"
        )
        await send({"type": "http.response.body", "body": body[:-1], "more_body": True})
        if not header(scope, "expect"):  # such a sender waits for this answer anyway
            with contextlib.suppress(_TooSlow):
                await _drain(receive)
        await send({"type": "http.response.body", "body": body[-1:]})


class _Timed:
    """Receives a body, which has to get on. Raises _TooSlow."""

    def __init__(self, receive: Receive, grace_s: float) -> None:
        self.n_bytes = 0
        self._receive = receive
        self._patient_until = asyncio.get_running_loop().time() + grace_s
        self._is_whole = False

    async def __call__(self) -> MutableMapping[str, Any]:
        if self._is_whole:  # what comes now is that the sender has gone
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._patient_until + self.n_bytes / SLOWEST_BYTES_PER_S):
                message = await self._receive()
        except TimeoutError:
            raise _TooSlow from None
        self.n_bytes += len(message.get("body", b""))
        self._is_whole = not message.get("more_body", False)
        return message


async def _refuse_slow(scope: Scope, send: Send) -> None:
    body = await _begin_refusal(scope, send, HTTPStatus.REQUEST_TIMEOUT, TOO_SLOW)
    await send({"type": "http.response.body", "body": body})


async def _begin_refusal(
    scope: Scope,
    send: Send,
    status: HTTPStatus,
    text: str,
    kind: problems.Kind = "",
    **values: str,
) -> bytes:
    """Send the head of an answer after which the connection ends; return its body.

    It is a page, or below `/api/` a problem document, in the caller's language.
    """
    request = ASGIRequest({"method": "POST", "path": "/", **scope}, BytesIO())
    with override(get_language_from_request(request)):
        view: GetResponse = partial(
            problems.error, status=status, detail=_(text) % values, kind=kind
        )
        if not problems.wants_problem(request):
            view = EveryAnswer(cast("GetResponse", CSPMiddleware(view)))
        answer = cast("HttpResponse", view(request))
    body = answer.content
    headers = [(name.lower().encode(), value.encode()) for name, value in answer.items()]
    headers += [(b"content-length", str(len(body)).encode()), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    return body


async def _drain(receive: Receive) -> None:
    n_bytes = 0
    while n_bytes < DRAIN_BYTES:
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return
