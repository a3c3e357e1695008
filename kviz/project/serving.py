"""One process serves web and websockets and looks after at most one worker process."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from typing import Final

import uvicorn
from django.db import connections

from kviz.live import advances
from kviz.project.strict_http import StrictHttp
from kviz.project.strict_websocket import StrictWebsocket

log = logging.getLogger(__name__)

RESTART_S: Final = 1.0
"""How long to wait before a worker that died is started again."""
STOP_S: Final = 5.0
"""How long a worker may take to give back its run when all stops."""


def serve(listener: socket.socket, *, host: str, n_workers: int) -> None:
    """Serve on a bound socket until SIGINT or SIGTERM, with one worker or without any."""
    port = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host else host
    config = uvicorn.Config(
        "kviz.project.asgi:application",
        http=StrictHttp,
        ws=StrictWebsocket,
        ws_per_message_deflate=False,
        proxy_headers=False,  # whose address counts is said by KVIZ_TRUSTED_PROXIES
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=3,
    )
    connections.close_all()  # by which the server was prepared
    asyncio.run(_serve(Server(config, url=f"http://{shown}:{port}"), listener, n_workers))


class Server(uvicorn.Server):
    """uvicorn, saying where it is once it is ready, and stopping without raising signals again."""

    def __init__(self, config: uvicorn.Config, *, url: str) -> None:
        super().__init__(config)
        self.url = url
        self.is_ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        print(f"kviz is ready: {self.url}  (Ctrl-C stops it)", flush=True)
        self.is_ready.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield


async def _serve(server: Server, listener: socket.socket, n_workers: int) -> None:
    supervisors = [asyncio.create_task(_supervise()) for _ in range(n_workers)]
    supervisors.append(asyncio.create_task(_keep_following(server)))
    try:
        await server.serve(sockets=[listener])
    finally:
        for supervisor in supervisors:
            supervisor.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await supervisor


async def _keep_following(server: Server) -> None:
    """Go on with the clusters that were followed when the server was stopped, and keep on."""
    await server.is_ready.wait()
    from kviz.clusters.followed.live import keep  # needs Django set up, as serving does by now

    over = threading.Event()
    try:
        await asyncio.to_thread(keep, over)
    finally:
        over.set()


async def _supervise() -> None:
    """Keep one worker alive, and pass its hints on."""
    while True:
        worker = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", "kviz.cli", "worker", "--supervised"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        try:
            await _relay_hints(worker)
            log.error("the worker ended with code %s; starting another", await worker.wait())
        finally:
            await _stop(worker)
        await asyncio.sleep(RESTART_S)


async def _relay_hints(worker: asyncio.subprocess.Process) -> None:
    """Read the worker's lines until it closes its output."""
    if worker.stdout is None:
        raise RuntimeError("the worker was started without a pipe")
    async for line in worker.stdout:
        await advances.relay(line.decode())


async def _stop(worker: asyncio.subprocess.Process) -> None:
    if worker.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        worker.terminate()
    try:
        async with asyncio.timeout(STOP_S):
            await worker.wait()
    except TimeoutError:
        worker.kill()
        await worker.wait()
