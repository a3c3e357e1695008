"""Ending tasks of the event loop that others would not end."""

from __future__ import annotations

import asyncio
from typing import Final

CANCEL_AGAIN_S: Final = 0.2


async def task_ended(task: asyncio.Task[None]) -> None:
    """Cancel a task until it ends: a client of Redis that is just connecting takes no notice."""
    while not task.done():
        task.cancel()
        await asyncio.wait([task], timeout=CANCEL_AGAIN_S)
