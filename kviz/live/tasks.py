"""What a worker does: one function per kind of work.

A worker looks into the tables and does what is most urgent: the embedded one (`kviz.live.worker`)
all the time, that of a broker for each message (`kviz.live.celery_worker`). Each kind of work takes
the key of a row and claims it: of several workers that find the same row one works, and the others
go. So it does no harm that a message is delivered twice, or not at all.

Work that gives way to something more urgent leads to that at once: every worker that sees waiting
work can claim it, and the next look begins with it.

A worker that dies in one of them loses nothing stored, and another continues after that.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

from django.db import connection, connections

from kviz.accounts.audit import audit_prune
from kviz.accounts.services import guests_prune
from kviz.common import work_counts
from kviz.common.announcing import URGENCY, Kind
from kviz.common.claiming import Queue, StorageFailed
from kviz.common.disk import give_back
from kviz.common.time_limits import LIMITS, TimeLimit, TookTooLong
from kviz.engine_build import engine_build
from kviz.experiments.execution.carry_out import experiment_carry_out
from kviz.experiments.execution.claim import (
    BY_ITSELF,
    SHARED,
    experiment_claim,
    experiment_to_share,
    experiments_fail,
    experiments_release,
)
from kviz.experiments.execution.claim import QUEUE as EXPERIMENTS
from kviz.experiments.execution.ready import get_ready
from kviz.experiments.loaded import LOADED
from kviz.experiments.models import Experiment
from kviz.live.alive import SAYS_SO_S, idle_worker_looked
from kviz.runs.execution.again import compute_again
from kviz.runs.execution.claim import QUEUE as RUNS
from kviz.runs.execution.claim import run_claim, runs_fail, runs_release, runs_wait
from kviz.runs.execution.record import run_execute
from kviz.runs.sharing import links_prune

log = logging.getLogger(__name__)

PRUNE_S: Final = 3600.0
"""How often an idle worker looks for guests who have gone."""
FIRST_PAUSE_S: Final = 0.25
LONGEST_PAUSE_S: Final = 30.0
"""How long a worker leaves alone what it has left, the first time and at most."""
MOST_LEFT: Final = 1_000
RECOVER_S: Final = 1.0
"""How long a worker waits for a database that failed, before it tries again."""


class Worker:
    """A process that works.

    `name` is one that no other live worker has. What a forerunner of that name held is given back.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.executed = ""
        """The run that it has executed last, until it has got ready for questions about that."""
        self.left = Left()
        self._prune_at = self._say_at = time.monotonic()
        work_counts.nobody_is_busy()
        recover(self, blame=True)
        log.info("worker %s is ready with engine %s", name, engine_build())

    def tidy(self) -> None:
        """Do what there is to do while nothing waits."""
        work_counts.progress()
        if time.monotonic() >= self._say_at:
            self._say_at = time.monotonic() + SAYS_SO_S
            idle_worker_looked(name=self.name)
        LOADED.tidy()
        if self.executed:
            key, self.executed = self.executed, ""
            get_ready(key=key, wanted_elsewhere=_asked_waits)
        compute_again()
        if time.monotonic() >= self._prune_at:
            self._prune_at = time.monotonic() + PRUNE_S
            guests_prune()
            audit_prune()
            links_prune()
        give_back(connection)


class Left:
    """What a worker has left for something more urgent, and does not begin again at once.

    If that is impossible, the worker would retry for ever: so the pause doubles each time.
    """

    def __init__(self) -> None:
        self._pauses: dict[str, tuple[float, float]] = {}
        """By key, how long it is left alone, and until when by the monotonic clock."""

    def add(self, key: str) -> None:
        before_s, _ = self._pauses.pop(key, (FIRST_PAUSE_S / 2, 0.0))
        pause_s = min(before_s * 2, LONGEST_PAUSE_S)
        if len(self._pauses) >= MOST_LEFT:
            del self._pauses[next(iter(self._pauses))]
        self._pauses[key] = pause_s, time.monotonic() + pause_s

    def discard(self, key: str) -> None:
        self._pauses.pop(key, None)

    def __contains__(self, key: str) -> bool:
        """Whether the pause is not over yet."""
        return time.monotonic() < self._pauses.get(key, (0.0, 0.0))[1]

    def is_known(self, key: str) -> bool:
        """Whether it was left before, and not carried out since."""
        return key in self._pauses


def run_task(worker: Worker, key: str) -> bool:
    """Execute a run; False if it does not wait for a worker."""
    run = run_claim(worker=worker.name, key=key)
    if run is None:
        return False
    log.info("run %s begins or goes on", run.pk)
    run_execute(run=run, worker=worker.name)
    worker.executed = key
    return True


def _asked_waits() -> bool:
    """Whether anything waits that somebody asked for."""
    return any(task.waiting() for task in TASKS if task.is_asked_for)


class Fail(Protocol):
    def __call__(self, *, worker: str, error: str) -> object: ...


class Release(Protocol):
    def __call__(self, *, worker: str, **also: int) -> object: ...


@dataclass(frozen=True)
class Task:
    """A kind of work: which rows wait for it, what is done with one, what has become of it.

    `fail` ends what a worker holds as failed, for a reason; `release` gives it back.
    """

    kind: Kind
    waiting: Callable[[], Sequence[str]]
    work: Callable[[Worker, str], bool]
    state: Callable[[str], str]
    fail: Fail = lambda worker, error: None
    release: Release = lambda worker, **also: None
    is_asked_for: bool = False
    gives_way_to: Callable[[], bool] = lambda: False
    """Whether something waits for which a worker leaves this."""

    def do(self, worker: Worker, key: str) -> bool:
        """Do it with a row; False if the row cannot be claimed."""
        with work_counts.busy(self.kind):
            is_done = self.work(worker, key)
        if is_done:
            work_counts.task_left(self.kind, self.state(key))
        return is_done


TASKS: Final[list[Task]] = []
"""In the order in which they go first."""


def register(task: Task) -> None:
    """Have workers do it."""
    TASKS.append(task)
    TASKS.sort(key=lambda each: URGENCY[each.kind])


def _left_for(
    gives_way_to: Callable[[], bool],
    kind: Kind,
    waiting: Callable[[], Sequence[str]],
    claim: Callable[[str, str], Experiment | None],
    **more: Any,
) -> Task:
    """The work at an experiment, which is left while something waits that is more urgent.

    `claim` is given the worker's name and a key; `more` is what else the task has.
    """

    def work(worker: Worker, key: str) -> bool:
        experiment = claim(worker.name, key)
        if experiment is None:
            return False
        own = str(experiment.pk)
        if not worker.left.is_known(own):
            about = (own, experiment.kind, experiment.run_id)
            log.info("experiment %s begins or goes on (%s of run %s)", *about)
        if experiment_carry_out(
            experiment=experiment, worker=worker.name, wanted_elsewhere=gives_way_to
        ):
            worker.left.discard(own)
        else:
            worker.left.add(own)
        return True

    return Task(kind, waiting, work, EXPERIMENTS.state, gives_way_to=gives_way_to, **more)


def _claim(queue: Queue[Experiment]) -> Callable[[str, str], Experiment | None]:
    return lambda worker, key: experiment_claim(worker=worker, key=key, queue=queue)


for _task in (
    Task(
        "run",
        RUNS.waiting,
        run_task,
        RUNS.state,
        fail=runs_fail,
        release=runs_release,
        is_asked_for=True,
    ),
    _left_for(
        runs_wait,
        "experiment",
        EXPERIMENTS.waiting,
        _claim(EXPERIMENTS),
        fail=experiments_fail,
        release=experiments_release,
        is_asked_for=True,
    ),
    _left_for(
        runs_wait,
        "portion",
        SHARED.waiting,
        lambda _, key: experiment_to_share(key=key),
        is_asked_for=True,
    ),
    _left_for(_asked_waits, "luck", BY_ITSELF.waiting, _claim(BY_ITSELF)),
):
    register(_task)


def work_once(worker: Worker) -> bool:
    """Look into the tables and do the first that waits; False, after tidying, if nothing does."""
    for task in TASKS:
        for key in task.waiting():
            if key in worker.left and task.gives_way_to():
                continue
            with ended_at(LIMITS[task.kind], worker.name):
                if task.do(worker, key):
                    return True
    worker.tidy()
    return False


def guarded(worker: Worker, do: Callable[[], bool]) -> bool:
    """Do some work. If the database fails meanwhile, wait until the work can be given back."""
    try:
        return do()
    except StorageFailed as problem:
        log.error("the database failed: %s", problem)
        recover(worker, blame=False)
        return True


def recover(worker: Worker, *, blame: bool) -> None:
    """Give back what the worker, or its forerunner, held; wait for the database if need be.

    Without `blame` it does not count as one of those that died of what they held.
    """
    while True:
        try:
            return release(worker.name, **({} if blame else {"claims": 0}))
        except StorageFailed as problem:
            log.warning("the database does not answer yet: %s", problem)
            work_counts.progress()  # to start another worker would not help
            connections.close_all()
            time.sleep(RECOVER_S)


@contextlib.contextmanager
def ended_at(limit: TimeLimit, name: str) -> Iterator[None]:
    """Do something meanwhile; if it hangs, this process ends with it, and others go on."""

    def end() -> None:
        end_overdue(limit, name)
        os._exit(1)

    watch = threading.Timer(limit.hard_seconds, end)
    watch.daemon = True
    watch.start()
    try:
        yield
    finally:
        watch.cancel()


def end_overdue(limit: TimeLimit, name: str) -> None:
    """End as failed what a worker holds longer than it may, as it does not do so itself."""
    reason = str(TookTooLong(limit))
    log.error("worker %s hangs: %s", name, reason)
    work_counts.task_hung()
    with contextlib.suppress(*StorageFailed):
        for task in TASKS:
            task.fail(worker=name, error=reason)
    connections.close_all()


def leave(worker: Worker) -> None:
    """Give back what is in hand, if that can be done at once."""
    with contextlib.suppress(*StorageFailed):
        release(worker.name)


def release(name: str, **also: int) -> None:
    """Give back what a worker held; `also` is written with that."""
    for task in TASKS:
        task.release(worker=name, **also)
