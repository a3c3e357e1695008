"""uvicorn's protocol, stricter: heads have to arrive within a time, broken ones get strict headers.

uvicorn waits for ever for the first line and the headers, so a few hundred senders of a byte now
and then would hold as many sockets. Bodies are timed by `kviz.project.body_limit`.
"""

from __future__ import annotations

import asyncio
import sys
from http import HTTPStatus
from typing import Final

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

from kviz.project.strict_headers import NO_PAGE

HEAD_S: Final = 20.0
"""How long the head of a request may take, from the connection's beginning or its first byte."""


class StrictHttp(H11Protocol):
    """uvicorn's protocol: waits `head_s` for each head, and says what is wrong with it strictly."""

    head_s = HEAD_S
    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self._is_before_head():
            self._await_head()
        else:
            self._forget_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._forget_deadline()
        super().connection_lost(exc)

    def send_400_response(self, msg: str) -> None:
        """Answer what is no request, or has too long a head, and end the connection."""
        why = sys.exception()  # uvicorn tells no more than that there is one
        hint = why.error_status_hint if isinstance(why, h11.RemoteProtocolError) else 400
        status = HTTPStatus(hint)
        headers = [(b"content-type", b"text/plain; charset=utf-8"), (b"connection", b"close")]
        answer = (
            h11.Response(status_code=status, headers=[*headers, *NO_PAGE], reason=status.phrase),
            h11.Data(data=msg.encode("ascii")),
            h11.EndOfMessage(),
        )
        for event in answer:
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _is_before_head(self) -> bool:
        """Whether no request is under way; one that became a websocket has another protocol."""
        is_upgraded = self.transport.get_protocol() is not self
        return not is_upgraded and (self.cycle is None or self.cycle.response_complete)

    def _await_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(self.head_s, self._give_up)

    def _forget_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if self._is_before_head():
            self.transport.close()
