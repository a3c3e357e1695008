"""Who sends a byte now and then holds no connection, and keeps nobody waiting."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn

from kviz.project.body_limit import GRACE_S, BodyLimit
from kviz.project.strict_http import HEAD_S, StrictHttp
from tests.waiting import PATIENCE_S

N_SLOW = 60


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


@dataclass
class Serving:
    """A server, and how far the clock that it and this test go by was moved on."""

    server: Server
    ahead_s: float = 0.0
    n_bodies: int = 0
    """How many requests have begun to wait for their body."""

    @property
    def port(self) -> int:
        return int(self.server.servers[0].sockets[0].getsockname()[1])

    async def until(self, there: Callable[[], bool]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not there():  # noqa: ASYNC110 (uvicorn tells nobody)
                await asyncio.sleep(0)


@pytest.fixture
async def serving(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Serving]:
    limited = BodyLimit(reads_all, max_bytes=1000)

    async def application(scope: Any, receive: Any, send: Any) -> None:
        waits = False

        async def received() -> Any:
            nonlocal waits
            found.n_bodies += not waits
            waits = True
            return await receive()

        await limited(scope, received, send)

    config = uvicorn.Config(
        application, http=StrictHttp, port=0, lifespan="off", log_config=None, ws="none"
    )
    found = Serving(Server(config))
    loop = asyncio.get_running_loop()
    time_s = loop.time
    monkeypatch.setattr(loop, "time", lambda: time_s() + found.ahead_s)
    running = asyncio.create_task(found.server.serve())
    await found.server.is_ready.wait()
    yield found
    found.server.should_exit = True
    await running


async def ask(serving: Serving, request: bytes) -> bytes:
    """Send a request, or the beginning of one, and return all that comes until the end."""
    async with asyncio.timeout(PATIENCE_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
        return answer


WHOLE = b"POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 4\r\n\r\nbody"


@pytest.mark.parametrize("begun", [b"", b"P", b"POST / HTTP/1.1\r\nhost: a\r\nx: y"])
async def test_a_head_that_does_not_get_on_ends_its_connection(
    serving: Serving, begun: bytes
) -> None:
    slow = [asyncio.create_task(ask(serving, begun)) for _ in range(N_SLOW)]
    served = await asyncio.gather(*(ask(serving, WHOLE) for _ in range(10)))
    assert all(answer.endswith(b"\r\n\r\n4") for answer in served)
    await serving.until(lambda: len(serving.server.server_state.connections) == N_SLOW)
    serving.ahead_s = HEAD_S
    assert await asyncio.gather(*slow) == [b""] * N_SLOW


async def test_a_byte_now_and_then_is_no_progress(serving: Serving) -> None:
    async with asyncio.timeout(PATIENCE_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
        with contextlib.suppress(ConnectionError):
            for byte in b"GET / HTTP/1.1\r\nhost: " + b"a" * int(HEAD_S):
                writer.write(bytes([byte]))
                await writer.drain()
                serving.ahead_s += 1
                await asyncio.sleep(0)
            assert await reader.read() == b""
        writer.close()


async def test_the_second_request_of_a_connection_has_to_get_on_too(serving: Serving) -> None:
    first = WHOLE.replace(b"connection: close\r\n", b"")
    async with asyncio.timeout(PATIENCE_S):
        reader, writer = await asyncio.open_connection("127.0.0.1", serving.port)
        writer.write(first + b"GET / HTTP")
        answer = await reader.readuntil(b"\r\n\r\n4")
        serving.ahead_s = HEAD_S
        assert await reader.read() == b""
        writer.close()
    assert answer.startswith(b"HTTP/1.1 200")


@pytest.mark.parametrize(
    "head",
    [b"content-length: 900\r\n\r\n", b"transfer-encoding: chunked\r\n\r\n1\r\n"],
    ids=["declared", "chunked"],
)
async def test_a_body_that_does_not_get_on_is_told_so(serving: Serving, head: bytes) -> None:
    begun = b"POST / HTTP/1.1\r\nhost: a\r\n" + head + b"b"
    slow = [asyncio.create_task(ask(serving, begun)) for _ in range(N_SLOW)]
    assert (await ask(serving, WHOLE)).endswith(b"\r\n\r\n4")
    await serving.until(lambda: serving.n_bodies == N_SLOW + 1)
    serving.ahead_s = GRACE_S + 1
    for answer in await asyncio.gather(*slow):
        assert answer.startswith(b"HTTP/1.1 408")
        assert b"too slowly" in answer


async def test_a_body_that_is_refused_is_not_waited_for(serving: Serving) -> None:
    begun = b"POST /api/ HTTP/1.1\r\nhost: a\r\ncontent-length: 5000\r\n\r\nb"
    asked = asyncio.create_task(ask(serving, begun))
    await serving.until(lambda: serving.n_bodies == 1)
    serving.ahead_s = GRACE_S + 5
    answer = await asked
    assert answer.startswith(b"HTTP/1.1 413")
    assert answer.endswith(b"}")
