"""The hint "run advanced to seq n" on the channel layer. It carries no data and may get lost.

A worker process cannot reach an in-memory channel layer, so it writes its hints as lines to its
standard output, which `kviz serve` reads and passes on (docs/adr/0011-a-workers-hints.md).
"""

from __future__ import annotations

import asyncio
import sys
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings


def group_of(run_id: UUID) -> str:
    return f"run.{run_id}"


async def announce(run_id: UUID, seq: int) -> None:
    """Notify every viewer of the run, in whatever process the channel layer reaches."""
    layer = get_channel_layer()
    await layer.group_send(
        group_of(run_id), {"type": "run.advanced", "run": str(run_id), "seq": seq}
    )


def write(run_id: UUID, seq: int, **_: object) -> None:
    """Receive `run_advanced` in a worker: over Redis, or as a line to its supervisor."""
    if settings.REDIS_URL:
        async_to_sync(announce)(run_id, seq)
    else:
        sys.stdout.write(f"{run_id} {seq}\n")
        sys.stdout.flush()


_loops: set[asyncio.AbstractEventLoop] = set()
"""Where viewers of this process wait."""


def listen() -> None:
    """Have hints from other threads of this process delivered to the running loop."""
    _loops.add(asyncio.get_running_loop())


def deliver(run_id: UUID, seq: int, **_: object) -> None:
    """Receive `run_advanced` in the process that serves viewers, in whatever thread."""
    if settings.REDIS_URL:
        async_to_sync(announce)(run_id, seq)
        return
    for loop in list(_loops):
        if loop.is_closed():
            _loops.discard(loop)
        else:
            asyncio.run_coroutine_threadsafe(announce(run_id, seq), loop)


async def relay(line: str) -> None:
    """Pass on one line a worker wrote; others are not hints and are dropped."""
    run_id, _, seq = line.strip().partition(" ")
    if seq.lstrip("-").isdigit():
        await announce(UUID(run_id), int(seq))
