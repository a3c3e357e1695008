"""Refuses a request's body as soon as it is too long, before Django spools it to disk."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Final

from kviz.live.origin import Application, Receive, Scope, Send, header

DRAIN_BYTES: Final = 1 << 30
"""How much of a refused body is read and dropped, so that its sender gets to see the answer."""


class _TooLong(Exception):
    """More bytes came than are allowed."""


class BodyLimit:
    """Answers 413 to bodies of more than `max_bytes`, by their declared or their real length."""

    def __init__(self, application: Application, max_bytes: int) -> None:
        self.application = application
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        declared = header(scope, "content-length")
        if declared.isdecimal() and int(declared) > self.max_bytes:
            await self._refuse(scope, receive, send)
            return
        n_bytes = 0

        async def counted() -> dict[str, object]:
            nonlocal n_bytes
            message = dict(await receive())
            n_bytes += len(message.get("body", b""))
            if n_bytes > self.max_bytes:
                raise _TooLong
            return message

        try:
            await self.application(scope, counted, send)
        except _TooLong:
            await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
        limit_mib = self.max_bytes / (1 << 20)
        body = json.dumps(
            {
                "type": "urn:kviz:problem:too-large",
                "title": status.phrase,
                "status": status.value,
                "detail": f"An upload may have at most {limit_mib:g} MiB.",
            }
        ).encode()
        headers = [
            (b"content-type", b"application/problem+json"),
            (b"content-length", str(len(body)).encode()),
            (b"connection", b"close"),
        ]
        await send({"type": "http.response.start", "status": status.value, "headers": headers})
        await send({"type": "http.response.body", "body": body[:-1], "more_body": True})
        if not header(scope, "expect"):  # such a sender waits for this answer anyway
            await _drain(receive)
        await send({"type": "http.response.body", "body": body[-1:]})


async def _drain(receive: Receive) -> None:
    n_bytes = 0
    while n_bytes < DRAIN_BYTES:
        message = await receive()
        n_bytes += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            return
