"""Waiting for what other processes do."""

from __future__ import annotations

import contextlib
import os
import select
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")
PAUSE_S = 0.02
PATIENCE_S = 120.0
"""Far longer than anything takes on a busy machine: what is not there by then never comes."""


def eventually(look: Callable[[], T | None], seconds: float = PATIENCE_S) -> T:
    """Look again and again until there is something, and return it. Raises AssertionError."""
    until = time.monotonic() + seconds
    while not (found := look()):
        assert time.monotonic() < until, f"still {found!r} after {seconds:.0f} s"
        time.sleep(PAUSE_S)
    return found


@contextlib.contextmanager
def ending(pids: Iterable[int]) -> Iterator[None]:
    """Wait behind the block until these processes have ended, also those nobody has reaped yet."""
    alive = []
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):  # it has ended already
            alive.append(os.pidfd_open(pid))
    yield
    for each in alive:
        ended, _, _ = select.select([each], [], [], PATIENCE_S)
        os.close(each)
        assert ended, f"still there after {PATIENCE_S:.0f} s"
