"""Who sends a byte now and then holds no connection, and keeps nobody waiting."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import uvicorn

from kviz.project.body_limit import BodyLimit
from kviz.project.strict_http import StrictHttp
from tests.waiting import PATIENCE_S

N_SLOW = 60


class Impatient(StrictHttp):
    head_s = 0.3


class Server(uvicorn.Server):
    """uvicorn, which leaves signals alone and says when it takes connections."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.is_ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def reads_all(scope: Any, receive: Any, send: Any) -> None:
    n_bytes, more = 0, True
    while more:
        message = await receive()
        n_bytes += len(message.get("body", b""))
        more = message.get("more_body", False)
    body = str(n_bytes).encode()
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
async def port() -> AsyncIterator[int]:
    application = BodyLimit(reads_all, max_bytes=1000, grace_s=0.3)
    config = uvicorn.Config(
        application, http=Impatient, port=0, lifespan="off", log_config=None, ws="none"
    )
    server = Server(config)
    serving = asyncio.create_task(server.serve())
    await server.is_ready.wait()
    yield server.servers[0].sockets[0].getsockname()[1]
    server.should_exit = True
    await serving


async def ask(port: int, request: bytes) -> bytes:
    """Send a request, or the beginning of one, and return all that comes until the end."""
    async with asyncio.timeout(PATIENCE_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer


WHOLE = b"POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbody"


@pytest.mark.parametrize("begun", [b"", b"P", b"POST / HTTP/1.1\r\nhost: a\r\nx: y"])
async def test_a_head_that_does_not_get_on_ends_its_connection(port: int, begun: bytes) -> None:
    slow = [asyncio.create_task(ask(port, begun)) for _ in range(N_SLOW)]
    served = await asyncio.gather(*(ask(port, WHOLE) for _ in range(10)))
    assert all(answer.endswith(b"\r\n\r\n4") for answer in served)
    assert await asyncio.gather(*slow) == [b""] * N_SLOW


async def test_a_byte_now_and_then_is_no_progress(port: int) -> None:
    async with asyncio.timeout(PATIENCE_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        with contextlib.suppress(ConnectionError):
            for byte in b"GET / HTTP/1.1\r\nhost: " + b"a" * 10_000:
                writer.write(bytes([byte]))
                await writer.drain()
                await asyncio.sleep(0.02)
                if reader.at_eof():
                    break
        assert reader.at_eof()
        writer.close()


async def test_the_second_request_of_a_connection_has_to_get_on_too(port: int) -> None:
    first = WHOLE.replace(b"connection: close\r\n", b"")
    answer = await ask(port, first + b"GET / HTTP")
    assert answer.count(b"HTTP/1.1 200") == 1


@pytest.mark.parametrize(
    "head",
    [b"content-length: 900\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n1\r\n"],
    ids=["declared", "chunked"],
)
async def test_a_body_that_does_not_get_on_is_told_so(port: int, head: bytes) -> None:
    begun = b"POST / HTTP/1.1\r\nhost: a\r\n" + head + b"b"
    slow = [asyncio.create_task(ask(port, begun)) for _ in range(N_SLOW)]
    assert (await ask(port, WHOLE)).endswith(b"\r\n\r\n4")
    for answer in await asyncio.gather(*slow):
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"too slowly" in answer


async def test_a_body_that_is_refused_is_not_waited_for(port: int) -> None:
    answer = await ask(port, b"POST /api/ HTTP/1.1\r\nhost: a\r\ncontent-length: 5000\r\n\r\nb")
    assert answer.startswith(b"HTTP/1.1 413")
    assert answer.endswith(b"}")
