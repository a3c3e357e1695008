"""Hints on the channel layer: something stored has changed. They carry no data and may get lost.

Where people look at what changed it is read again (`kviz.live.shared_reading`).
"""

from __future__ import annotations

import asyncio
from typing import Any

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.conf import settings

Hint = dict[str, Any]

_loops: set[asyncio.AbstractEventLoop] = set()
"""Where people of this process wait."""


def listen() -> None:
    """Have hints from other threads of this process delivered to the running loop."""
    _loops.add(asyncio.get_running_loop())


async def announce(group: str, hint: Hint) -> None:
    """Reach every process that watches the group, if the channel layer delivers."""
    await get_channel_layer().group_send(group, hint)


def announce_from_thread(group: str, hint: Hint) -> None:
    """Do so from whatever thread: over Redis, or in the loops of this process."""
    if settings.REDIS_URL:
        async_to_sync(announce)(group, hint)
        return
    for loop in list(_loops):
        if loop.is_closed():
            _loops.discard(loop)
        else:
            asyncio.run_coroutine_threadsafe(announce(group, hint), loop)
