"""Closes connections whose request does not get on: its head has to arrive within a time.

uvicorn waits for ever for the first line and the headers, so a few hundred senders of a byte now
and then would hold as many sockets. Bodies are timed by `kviz.project.body_limit`.
"""

from __future__ import annotations

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S: Final = 20.0
"""How long the head of a request may take, from the connection's beginning or its first byte."""


class HeadDeadline(H11Protocol):
    """uvicorn's protocol, which waits `head_s` for each request's head and no longer."""

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
