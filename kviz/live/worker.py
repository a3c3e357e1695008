"""The worker: claims runs and experiments, one after the other, until it is stopped.

Runs go first, also while it carries out an experiment, which goes on afterwards. When none waits,
it searches for the optimum of one that is over.

It may die at any moment. Whatever it had stored stays, and whoever claims the run next goes on
from there.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
import time
from types import FrameType
from typing import Final, NoReturn

from django.conf import settings

from kviz.accounts.services import guests_prune
from kviz.experiments.execution.carry_out import experiment_carry_out
from kviz.experiments.execution.claim import experiment_claim, experiments_release
from kviz.live import advances
from kviz.runs.execution.claim import run_claim, runs_release, runs_wait
from kviz.runs.execution.expected_forks import expected_fork_prepare
from kviz.runs.execution.fork_points import ForkPoints
from kviz.runs.execution.optimum import optima_release, optimum_claim, optimum_execute
from kviz.runs.execution.record import run_execute
from kviz.runs.models import Run
from kviz.runs.signals import run_advanced

log = logging.getLogger(__name__)

POLL_S: Final = 0.2
"""How long a new run waits at most for an idle worker."""
MAX_NAME_CHARS: Final = 85
"""A copy's process number comes behind it, and there is room for 100."""
PRUNE_S: Final = 3600.0
"""How often an idle worker looks for guests who have gone."""


def worker_name(*, supervised: bool) -> str:
    """A name no other live worker has.

    That of a supervised worker stays the same, so that after a restart it gets back at once what
    its forerunner held: `kviz serve` makes sure that there is only one per data folder.
    """
    own = settings.DATA_DIR if supervised else os.getpid()
    return f"{socket.gethostname()}:{own}"[-MAX_NAME_CHARS:]


def work(*, name: str) -> NoReturn:
    """Work for ever. Leaves with SystemExit on SIGTERM, giving back the run in hand."""
    signal.signal(signal.SIGTERM, _leave)
    run_advanced.connect(advances.write)
    _release(name)
    fork_points = ForkPoints(name, settings.FORK_POINTS)
    prune_at = time.monotonic()
    try:
        while True:
            if not _work_once(name, fork_points):
                if time.monotonic() >= prune_at:
                    prune_at = time.monotonic() + PRUNE_S
                    guests_prune()
                fork_points.tidy()
                time.sleep(POLL_S)
    finally:
        # Told twice, by its supervisor and by the end of standard input, it would be interrupted
        # while it leaves.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        _release(name)


def _work_once(name: str, fork_points: ForkPoints) -> bool:
    """Execute a run, or prepare, search for an optimum or carry out what waits; False if none."""
    if run := run_claim(worker=name):
        log.info("run %s begins or goes on", run.pk)
        execute(run, name, fork_points)
    elif expected_fork_prepare(fork_points):
        log.info("ready for a variant")
    elif wanted := optimum_claim(worker=name):
        log.info("search for the %s", wanted)
        optimum_execute(found=wanted, worker=name)
    elif experiment := experiment_claim(worker=name):
        log.info("experiment %s begins or goes on", experiment.pk)
        experiment_carry_out(experiment=experiment, worker=name, wanted_elsewhere=runs_wait)
    else:
        return False
    return True


def _release(name: str) -> None:
    runs_release(worker=name)
    optima_release(worker=name)
    experiments_release(worker=name)


def execute(run: Run, name: str, fork_points: ForkPoints) -> None:
    """Execute a run: from the nearest point in a run like it, or else from the beginning."""
    left = fork_points.execute(run)
    if left is None:
        return
    try:
        run_execute(run=left, worker=name, fork_points=fork_points)
    finally:
        fork_points.leave_copy()


def _leave(signum: int, frame: FrameType | None) -> NoReturn:
    raise SystemExit(0)


def leave_with_supervisor() -> None:
    """Leave when the process at the other end of standard input is gone, however it went."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)

    def watch() -> None:
        while os.read(sys.stdin.fileno(), 1024):
            pass
        signal.raise_signal(signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()
