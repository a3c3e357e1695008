"""The embedded worker: looks into the tables for what waits, and does it (`kviz.live.tasks`).

It works until it is stopped, one thing after the other. Runs go first, also while it carries out
an experiment, which continues afterwards.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from types import FrameType
from typing import Final, NoReturn

from django.conf import settings
from django.db import connection

from kviz.live import advances
from kviz.live.tasks import Worker, guarded, leave, work_once
from kviz.runs.signals import run_advanced

POLL_S: Final = 0.2
"""How long a new run waits at most for an idle worker."""
LOOK_S: Final = 5.0
"""How often an idle worker looks into the tables, where it can see that nobody has written."""
LEAVE_S: Final = 10.0
"""How long a worker may take to give back what it has in hand when its supervisor is gone."""
MAX_NAME_CHARS: Final = 85
"""A copy's process number comes behind it, and there is room for 100."""


def worker_name(*, supervised: bool) -> str:
    """A name no other live worker has.

    That of a supervised worker stays the same, so that after a restart it gets back at once what
    its forerunner held: `kviz serve` makes sure that there is only one per data folder.
    """
    own = settings.DATA_DIR if supervised else os.getpid()
    return f"{socket.gethostname()}:{own}"[-MAX_NAME_CHARS:]


def work(*, name: str) -> NoReturn:
    """Work for ever. Leaves with SystemExit on SIGTERM, giving back the run in hand."""
    signal.signal(signal.SIGTERM, leave_now)
    run_advanced.connect(advances.write)
    worker = Worker(name)
    try:
        while True:
            guarded(worker, lambda: _look(worker))
    finally:
        # Told twice, by its supervisor and by the end of standard input, it would be interrupted
        # while it leaves.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        leave(worker)


def _look(worker: Worker) -> bool:
    """Do what is most urgent; if nothing waits, wait until somebody writes, or for `LOOK_S`."""
    seen = _version()
    if work_once(worker):
        return True
    until = time.monotonic() + LOOK_S
    time.sleep(POLL_S)
    while seen is not None and seen == _version() and time.monotonic() < until:
        time.sleep(POLL_S)
    return False


def _version() -> int | None:
    """What changes when another process writes to SQLite; other databases do not say."""
    if connection.vendor != "sqlite":
        return None
    with connection.cursor() as cursor:
        [version] = cursor.execute("PRAGMA data_version").fetchone()
    return int(version)


def leave_now(signum: int, frame: FrameType | None) -> NoReturn:
    """Receive a signal that ends the work in hand."""
    raise SystemExit(0)


def leave_with_supervisor() -> None:
    """Leave when the process at the other end of standard input is gone, however it went."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(LEAVE_S)
        os.kill(os.getpid(), signal.SIGKILL)  # its broker or database does not let it go

    threading.Thread(target=watch, daemon=True).start()
