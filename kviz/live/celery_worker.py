"""The worker of a broker: Celery receives messages, and a process of its pool does the work.

What is done is that of `kviz.live.tasks`, as in the embedded worker; this says how Celery is asked
for it. A worker has one process that works, as experiments fork their variants on all cores.
"""

from __future__ import annotations

import contextlib
import os
import signal
import warnings
from collections.abc import Callable
from types import FrameType
from typing import Any, Final

from celery import bootsteps
from celery.platforms import SecurityWarning
from celery.signals import setup_logging, worker_init, worker_process_init, worker_shutting_down

from kviz.common import announcing
from kviz.common.announcing import URGENCY, broker, task_name
from kviz.live import advances
from kviz.live.tasks import Worker, guarded, leave, work_once
from kviz.live.worker import leave_now, worker_name
from kviz.runs.signals import run_advanced

LOOK_S: Final = 10.0
"""How often a worker looks into the tables, for rows that no message led to."""


class _Process:
    """The process of the pool that works."""

    def __init__(self, name: str) -> None:
        signal.signal(signal.SIGTERM, self._told_to_leave)
        self._is_working = False
        self.worker = Worker(name)

    def do(self, work: Callable[[], bool]) -> bool:
        """Work; told to leave meanwhile, give back what is in hand."""
        self._is_working = True
        try:
            return guarded(self.worker, work)
        except SystemExit:
            leave(self.worker)
            return False
        finally:
            self._is_working = False

    def _told_to_leave(self, signum: int, frame: FrameType | None) -> None:
        if self._is_working:
            leave_now(signum, frame)


class _Looking(bootsteps.StartStopStep):  # type: ignore[misc]
    """Has a process look into the tables now and then, as long as the broker is there."""

    def start(self, parent: Any) -> None:
        """Begin, also again when the broker is there again: Celery has stopped its timers then."""
        look()
        parent.timer.call_repeatedly(LOOK_S, look)


def look() -> None:
    """Ask for a look into the tables; asked again before anybody had the time, once is enough."""
    announcing.send("look", "", expires_s=LOOK_S)


def work(*, supervised: bool) -> int:
    """Work for ever; return the exit code when told to stop."""
    # That root must not run it is said of messages that are code; here they are names of rows.
    warnings.simplefilter("ignore", SecurityWarning)
    name, app, started = worker_name(supervised=supervised), broker(), _Started()
    run_advanced.connect(advances.write)
    for kind in URGENCY:
        app.task(_look_around, name=task_name(kind))
    app.steps["consumer"].add(_Looking)
    setup_logging.connect(_as_all_others, weak=False)
    worker_init.connect(started.take, weak=False)
    worker_process_init.connect(lambda **_: _process.append(_Process(name)), weak=False)
    worker_shutting_down.connect(started.end_work, weak=False)
    controller = app.Worker(
        hostname=f"kviz@{name.replace('/', '-')}", concurrency=1, pool="prefork", quiet=True
    )
    controller.start()
    return int(controller.exitcode or 0)


_process: list[_Process] = []
"""In a process of the pool: itself."""


def _look_around(_: str) -> None:
    """Receive a message: do what is most urgent, and look for more.

    A message says that something waits, neither in which order nor since when: a row whose worker
    was killed has none. It is ended by its own limit (`ended_at`), not by Celery's.
    """
    [process] = _process
    if process.do(lambda: work_once(process.worker)):
        look()


def _as_all_others(**_: object) -> None:
    """Receive the signal to set up logging, and change nothing."""


class _Started:
    """The running Celery worker."""

    def __init__(self) -> None:
        self._controllers: list[Any] = []

    def take(self, sender: Any, **_: object) -> None:
        self._controllers.append(sender)

    def end_work(self, **_: object) -> None:
        """Have the process that works give back what is in hand."""
        for controller in self._controllers:
            for pid in controller.pool.info["processes"]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGTERM)
