"""uvicorn's protocol of websockets, stricter: whatever refuses one, the answer has strict headers.

A websocket is refused by the application, by uvicorn, or by the library that reads its handshake;
all of them say so with `send_response`.
"""

from __future__ import annotations

import logging
from typing import Any, Final

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.http11 import Response
from websockets.server import ServerProtocol

from kviz.project.strict_headers import NO_PAGE

OPENED: Final = 101


class _Handshake(ServerProtocol):
    def send_response(self, response: Response) -> None:
        if response.status_code != OPENED:
            for name, value in NO_PAGE:
                response.headers.setdefault(name.decode(), value.decode())
        super().send_response(response)


class StrictWebsocket(WebSocketsSansIOProtocol):
    """uvicorn's protocol, whose refusals are an end of the handshake and have strict headers."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.conn = _Handshake(
            max_size=self.config.ws_max_size, logger=logging.getLogger("uvicorn.error")
        )

    def data_received(self, data: bytes) -> None:
        """Take what comes; send the library's answer to a head that it could not read.

        uvicorn would say nothing and leave the connection open for ever.
        """
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.transport.is_closing():
            self.transport.write(b"".join(self.conn.data_to_send()))
            self.transport.close()

    async def send(self, message: Any) -> None:
        """Send what the application says; raises ClientDisconnected where nobody takes it.

        uvicorn would complain that a handshake was not completed, of each that was answered with a
        status and of each whose sender left before.
        """
        if not self.handshake_complete and self.transport.is_closing():
            raise ClientDisconnected
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True
