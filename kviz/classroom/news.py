"""The hint that a room changed; where people look at the room it is read again."""

from __future__ import annotations

from uuid import UUID

from kviz.live.hints import announce, announce_from_thread


def group_of(room_id: UUID) -> str:
    return f"class.{room_id}"


def tell(room_id: UUID) -> None:
    """Notify every process that the room has changed; called where it was written."""
    announce_from_thread(group_of(room_id), {"type": "class.changed"})


async def point(room_id: UUID, x: int, y: int) -> None:
    """Say where the pointer is now: worth nothing later, so that it may get lost."""
    await announce(group_of(room_id), {"type": "class.pointed", "x": x, "y": y})
