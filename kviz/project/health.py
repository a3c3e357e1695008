"""`/healthz` and `/readyz`, for systems that start, stop and address processes.

They are answered before Django is asked: to any host name, as probes address a container by its
number; without a session; and while every thread is busy. They say what works, never why not.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from kviz.live.alive import workers_alive
from kviz.live.origin import Application, Receive, Scope, Send

log = logging.getLogger(__name__)

PATIENCE_S: Final = 3.0
"""A part that does not answer for so long does not work."""


class NotReady(Exception):
    """A part of this process cannot do its work; the message says why, for the log."""


class HealthChecks:
    """Answers probes; hands on everything else.

    `/healthz`: the process answers, else it should be started again. `/readyz`: the database and
    its migrations are there, else requests should go elsewhere. Without the channel layer pages
    and REST work, and who follows a run is a second late: that is said, and takes no process out of
    service, as all of them share it. So it is without a worker: what is asked for waits.
    """

    def __init__(self, application: Application) -> None:
        self.application = application
        self.is_migrated = False  # and stays it, once it is

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] == "/healthz":
            await _answer(send, HTTPStatus.OK, {"status": "ok"})
        elif scope["path"] == "/readyz":
            await self._readiness(send)
        else:
            await self.application(scope, receive, send)

    async def _readiness(self, send: Send) -> None:
        parts: dict[str, Callable[[], Awaitable[None]]] = {
            "database": self._database,
            "channel_layer": _channel_layer,
            "workers": _workers,
        }
        works = await asyncio.gather(*(_works(name, check) for name, check in parts.items()))
        said = {
            name: "ok" if fine else "not ready" for name, fine in zip(parts, works, strict=True)
        }
        is_ready = said["database"] == "ok"
        status = HTTPStatus.OK if is_ready else HTTPStatus.SERVICE_UNAVAILABLE
        overall = "ok" if all(works) else "degraded" if is_ready else "not ready"
        await _answer(send, status, {"status": overall, **said})

    async def _database(self) -> None:
        await asyncio.to_thread(self._ask_database)

    def _ask_database(self) -> None:
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
            if not self.is_migrated:
                executor = MigrationExecutor(connection)
                missing = executor.migration_plan(executor.loader.graph.leaf_nodes())
                if missing:
                    raise NotReady(f"{len(missing)} migrations are not applied: `kviz migrate`")
                self.is_migrated = True
        finally:
            connection.close()  # that of this thread, which may never be used again


async def _channel_layer() -> None:
    """Send a message to this process itself."""
    layer = get_channel_layer()
    channel = await layer.new_channel()
    await layer.send(channel, {"type": "ready"})
    await layer.receive(channel)


async def _workers() -> None:
    """See whether there is any."""
    if not await database_sync_to_async(workers_alive, thread_sensitive=False)():
        raise NotReady("no worker is alive: `kviz worker`")


async def _works(name: str, check: Callable[[], Awaitable[None]]) -> bool:
    try:
        async with asyncio.timeout(PATIENCE_S):
            await check()
    except Exception as problem:  # whatever a driver raises, the part does not work
        log.warning("not ready: %s: %s", name, problem or type(problem).__name__)
        return False
    return True


async def _answer(send: Send, status: HTTPStatus, said: dict[str, str]) -> None:
    body = json.dumps(said).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"cache-control", b"no-store"),
    ]
    await send({"type": "http.response.start", "status": status.value, "headers": headers})
    await send({"type": "http.response.body", "body": body})
