"""What processes share over Redis, for as long as it is there: hints, counts, figures of progress.

None of it is the truth of anything. While Redis is away, viewers look for news themselves, limits
of how often count nothing, and the bar of an upload stands still; nothing fails for it.
"""

from __future__ import annotations

import asyncio
import logging
import uuid
from typing import Any

from channels_redis.pubsub import RedisPubSubChannelLayer
from django.core.cache.backends.redis import RedisCache
from redis.exceptions import RedisError

log = logging.getLogger(__name__)

Away = (RedisError, OSError)


class Hints(RedisPubSubChannelLayer):  # type: ignore[misc]
    """The channel layer."""

    async def new_channel(self, prefix: str = "specific.") -> str:
        """Return a channel; while Redis is away, one that nothing comes through."""
        layer = self._get_layer()
        channel = f"{layer.prefix}{prefix}{uuid.uuid4().hex}"
        layer.channels[channel] = asyncio.Queue()
        try:
            await layer._get_shard(channel).subscribe(channel)
        except Away as problem:
            log.warning("no hints for a viewer: %s", problem)
        return channel

    async def group_add(self, group: str, channel: str) -> None:
        await self._or_nothing("group_add", group, channel)

    async def group_discard(self, group: str, channel: str) -> None:
        await self._or_nothing("group_discard", group, channel)

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        await self._or_nothing("group_send", group, message)

    async def _or_nothing(self, name: str, group: str, *more: object) -> None:
        try:
            await getattr(self._get_layer(), name)(group, *more)
        except Away as problem:
            log.warning("no hints about %s: %s", group, problem)


class Counts(RedisCache):
    """The cache."""

    def get(self, key: Any, default: Any = None, version: int | None = None) -> Any:
        try:
            return super().get(key, default, version)
        except Away as problem:
            log.warning("%s is not known: %s", key, problem)
            return default

    def add(self, key: Any, value: Any, *more: Any, **options: Any) -> bool:
        """Say that there was nothing, while Redis is away: what is counted counts nothing."""
        try:
            return bool(super().add(key, value, *more, **options))
        except Away as problem:
            log.warning("%s is not shared: %s", key, problem)
            return True

    def delete(self, key: Any, version: int | None = None) -> bool:
        try:
            return bool(super().delete(key, version))
        except Away as problem:
            log.warning("%s is not deleted: %s", key, problem)
            return False

    def set(self, key: Any, value: Any, *more: Any, **options: Any) -> None:
        try:
            super().set(key, value, *more, **options)
        except Away as problem:
            log.warning("%s is not shared: %s", key, problem)
