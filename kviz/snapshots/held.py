"""Clusters that this process holds as objects: a few small ones, or one that is large."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Final
from uuid import UUID

from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.packing import unpack, weighs_less

MAX_HELD: Final = 4
LARGE_BYTES: Final = 4 << 20
"""What a large cluster decompresses to; as objects it takes up to eight times as much."""

Key = tuple[UUID, str]
"""A snapshot and its `sha256`: a stored sample may be replaced by a newer one."""


class HeldClusters:
    """Those that were asked for last, the latest one last."""

    def __init__(self) -> None:
        self._held: OrderedDict[Key, ClusterObjects] = OrderedDict()
        self._lock = threading.Lock()
        """Held while one is read: two threads do not read a large one twice."""
        self.before_large: Callable[[], None] = lambda: None
        """Lets go of what refers to another cluster, such as a cycle of it."""

    def get(self, key: Key, packed: Callable[[], bytes]) -> ClusterObjects:
        """Return a cluster, which `packed` reads if it is not held."""
        with self._lock:
            if key not in self._held:
                self._read(key, packed())
            self._held.move_to_end(key)
            return self._held[key]

    def _read(self, key: Key, packed: bytes) -> None:
        if is_large(packed):
            self._held.clear()  # before the next one takes memory
            self.before_large()
        self._held[key] = unpack(packed)
        while len(self._held) > MAX_HELD:
            self._held.popitem(last=False)


HELD: Final = HeldClusters()


def is_large(packed: bytes) -> bool:
    return not weighs_less(packed, LARGE_BYTES)
