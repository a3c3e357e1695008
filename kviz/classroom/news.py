"""The hint that a room changed. It carries no data; where people look at the room it is read again.

As with the runs' hints (`kviz.live.advances`), there is one channel of the layer for a whole
process, so that a thousand followers cost the layer nothing.
"""

from __future__ import annotations

import asyncio
from typing import Final
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings

GROUP: Final = "classes"

_loops: set[asyncio.AbstractEventLoop] = set()
"""Where followers of this process wait."""


def listen() -> None:
    """Have hints from other threads of this process delivered to the running loop."""
    _loops.add(asyncio.get_running_loop())


def tell(room_id: UUID) -> None:
    """Notify every process that the room has changed; called where it was written."""
    if settings.REDIS_URL:
        async_to_sync(announce)(room_id)
        return
    for loop in list(_loops):
        if loop.is_closed():
            _loops.discard(loop)
        else:
            asyncio.run_coroutine_threadsafe(announce(room_id), loop)


async def announce(room_id: UUID) -> None:
    layer = get_channel_layer()
    await layer.group_send(GROUP, {"type": "class.changed", "room": str(room_id)})


async def point(room_id: UUID, x: int, y: int) -> None:
    """Say where the pointer is now: worth nothing later, so that it may get lost."""
    layer = get_channel_layer()
    await layer.group_send(GROUP, {"type": "class.pointed", "room": str(room_id), "x": x, "y": y})
