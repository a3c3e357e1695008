"""os.fork() for a process that a signal may tell to leave, and the end of what a process made."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
import warnings
from typing import Final

_SET_PARENT_DEATH_SIGNAL: Final = 1
"""Of Linux's prctl."""


def fork() -> int:
    """os.fork(), while which SIGTERM waits.

    Python calls what modules registered to be done after a fork, and swallows what is raised in
    there: the SystemExit of a handler would be lost, and the process would not leave.
    """
    if threading.current_thread() is not threading.main_thread():
        return _fork()  # handlers do not run in here
    came: list[int] = []
    handler = signal.signal(signal.SIGTERM, lambda number, frame: came.append(number))
    here = os.getpid()
    try:
        return _fork()
    finally:
        signal.signal(signal.SIGTERM, handler)
        if came and os.getpid() == here:
            signal.raise_signal(signal.SIGTERM)


def _fork() -> int:
    with warnings.catch_warnings():
        # Python 3.12 warns where there are threads: none of ours holds what a copy needs.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def end_with_parent(parent: int) -> None:
    """Have this process killed when the one that made it ends, however long it works."""
    with contextlib.suppress(OSError, AttributeError):  # not on macOS
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:  # it ended before that could be asked for
        os._exit(1)
