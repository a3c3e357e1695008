"""Whatever waits is done, whichever workers die and whichever messages are lost.

A model of what workers do with the rows of every kind: the claims, the order, giving way and the
handling of messages are kviz's own; what the work is, the clock, the broker and deaths are not.
"""

from __future__ import annotations

import contextlib
import datetime as dt
import random
from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from django.utils import timezone

from kviz.common import announcing
from kviz.common.announcing import URGENCY
from kviz.common.claiming import Claimed, Queue
from kviz.engine_build import engine_build
from kviz.experiments.execution.claim import (
    experiment_close,
    experiments_release,
    portion_claim,
    portions_make,
    portions_release,
    queue_of,
)
from kviz.experiments.models import Experiment, Portion
from kviz.live import celery_worker, tasks
from kviz.live.tasks import Worker
from kviz.questions.optimum import jobs
from kviz.runs.execution.claim import QUEUE as RUNS
from kviz.runs.models import Optimum, Run
from tests.web.cast import Person

WORK_STEPS = 4
MOST_LOOKS = 60
MOST_STEPS = 20
"""Per row: what is done again as a worker died or gave way is bounded."""

BEGIN = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
Row = Run | Experiment | Optimum


class Killed(BaseException):
    """The process is gone at once: it gives nothing back."""


class Site:
    """Workers, their broker and their clock; what goes wrong is drawn from `seed`."""

    def __init__(self, seed: int, *, n_workers: int = 3, n_variants: int = 6) -> None:
        self.n_variants = n_variants
        self.n_received = 0
        self.random = random.Random(seed)
        self.now = BEGIN
        self.messages: list[tuple[int, str, str]] = []
        self.deaths = 0
        """How many more workers may die."""
        self.steps = Counter[str]()
        self.begun: dict[object, dt.datetime] = {}
        """When a worker began each row first."""
        self.is_reliable = False
        self._numbers = iter(range(1_000_000))
        self.workers = [self._new_worker() for _ in range(n_workers)]
        self._busy: list[Worker] = []

    def _new_worker(self) -> Worker:
        return Worker(f"worker {next(self._numbers)}")

    def send(self, kind: str, key: str, *_: object, **__: object) -> None:
        if self.is_reliable or self.random.random() < 0.8:  # or it is lost
            self.messages.append((URGENCY[kind], kind, key))  # type: ignore[index]

    def step(self, what: str) -> None:
        """A piece of work: time passes, others work meanwhile, and one may die of it."""
        self.steps[what] += 1
        self.now += dt.timedelta(seconds=self.random.choice((0.1, 1, 5)))
        if self.deaths and self.random.random() < 0.15:
            self.deaths -= 1
            raise Killed
        if self.random.random() < 0.3:
            self.receive()

    def receive(self) -> bool:
        """Have an idle worker take the most urgent message; False if there is none of either."""
        idle = [worker for worker in self.workers if worker not in self._busy]
        if not idle or not self.messages:
            return False
        message = min(self.messages)
        self.messages.remove(message)
        self.n_received += 1
        worker = self.random.choice(idle)
        before = celery_worker._process[:]
        self._busy.append(worker)
        celery_worker._process[:] = [_Process(worker)]  # type: ignore[list-item]
        try:
            celery_worker._look_around(message[2])
        except Killed:
            self.workers[self.workers.index(worker)] = (
                self._new_worker() if self.random.random() < 0.5 else Worker(worker.name)
            )
            self.messages.append(message)  # it was not acknowledged
        finally:
            celery_worker._process[:] = before
            self._busy.remove(worker)
        return True


class _Process:
    def __init__(self, worker: Worker) -> None:
        self.worker = worker

    def do(self, work: Callable[[], bool]) -> bool:
        return tasks.guarded(self.worker, work)


@pytest.fixture
def sited(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Site]:
    """Makes sites in the place of what workers, their broker and the clock are."""
    current: list[Site] = []

    def hold(queue: Queue[Any], row: Claimed, worker: str, **values: object) -> bool:
        return bool(queue.held(row, worker).update(heartbeat_at=current[0].now, **values))

    def work(queue: Queue[Any], row: Claimed, worker: str) -> None:
        current[0].begun.setdefault(row.pk, current[0].now)
        for _ in range(WORK_STEPS):
            current[0].step(queue.kind)
            if not hold(queue, row, worker, claims=0):
                return
        hold(queue, row, worker, status="finished", claimed_by="")

    def carry_out(*, experiment: Experiment, worker: str, wanted_elsewhere: Any) -> bool:
        queue, key = queue_of(experiment), experiment.pk
        if experiment.claimed_by == worker:
            Experiment.objects.filter(pk=key).update(engine_version=engine_build())
            portions_make(experiment, range(experiment.n_done, current[0].n_variants))
        while portion := portion_claim(
            experiment=experiment, among=range(current[0].n_variants), worker=worker
        ):
            if wanted_elsewhere():
                portions_release(worker=worker, claims=0)
                queue.give_back(experiment, worker)
                return False
            current[0].step(queue.kind)
            hold(queue, experiment, worker, claims=0)
            if Portion.objects.filter(pk=portion.pk, claimed_by=worker).delete()[0]:
                done = portion.stop
                Experiment.objects.filter(pk=key, n_done__lt=done).update(n_done=done)
        if queue.held(experiment, worker).exists() and not experiment.portions.exists():
            experiment_close(experiment, status=Experiment.Status.FINISHED)
            return True
        current[0].now += dt.timedelta(seconds=5)  # others have the rest, and it waits for them
        experiments_release(worker=worker)
        return False

    def site(seed: int, **sizes: int) -> Site:
        current[:] = [Site(seed, **sizes)]
        return current[0]

    monkeypatch.setattr("django.utils.timezone.now", lambda: current[0].now if current else BEGIN)
    clock = SimpleNamespace(monotonic=lambda: timezone.now().timestamp())
    monkeypatch.setattr(tasks, "time", clock)
    monkeypatch.setattr(tasks, "run_execute", lambda run, worker: work(RUNS, run, worker))
    monkeypatch.setattr(tasks, "experiment_carry_out", carry_out)
    monkeypatch.setattr(Worker, "tidy", lambda worker: None)
    monkeypatch.setattr(
        jobs, "optimum_execute", lambda found, worker: work(jobs.QUEUE, found, worker)
    )
    monkeypatch.setattr(announcing, "announce", lambda kind, key, *_: current[0].send(kind, key))
    monkeypatch.setattr(announcing, "send", lambda *asked, **_: current[0].send(*asked))
    monkeypatch.setattr(tasks, "ended_at", lambda *_: contextlib.nullcontext())
    return site


@pytest.mark.parametrize("seed", range(20))
def test_whatever_waits_is_done(sited: Callable[..., Site], ada: Person, seed: int) -> None:
    site = sited(seed)
    rows = _rows(site, ada)
    site.deaths = 6
    n_looks = 0
    while _open(rows):
        if not site.receive():
            n_looks += 1
            site.now += dt.timedelta(seconds=celery_worker.LOOK_S)
            celery_worker.look()
        assert n_looks < MOST_LOOKS, f"not done: {_open(rows)}"
        assert site.steps.total() < len(rows) * MOST_STEPS, site.steps
        assert site.n_received < len(rows) * MOST_STEPS, site.messages


@pytest.mark.parametrize("by_itself", [True, False], ids=["luck", "experiment"])
def test_a_run_whose_worker_fell_silent_goes_on_within_half_a_minute(
    sited: Callable[..., Site], ada: Person, by_itself: bool
) -> None:
    """What gives way to it is announced again at once; the run itself has no message."""
    site = sited(1, n_workers=1, n_variants=300)
    site.is_reliable = True
    run, other = ada.queued(), _experiment(ada, by_itself=by_itself)
    assert RUNS.claim_row(str(run.pk), "killed") is not None
    silent_since = site.now
    queue_of(other).announce(other)

    while run.pk not in site.begun:
        if not site.receive():
            site.now += dt.timedelta(seconds=celery_worker.LOOK_S)
            celery_worker.look()
        assert site.n_received < MOST_STEPS
    assert site.begun[run.pk] - silent_since <= dt.timedelta(seconds=30)
    while _open([run, other]):
        assert site.receive()


def _rows(site: Site, ada: Person) -> list[Row]:
    """Rows of every kind: some wait, some are held, some by a worker that is gone."""
    over = ada.queued()
    Run.objects.filter(pk=over.pk).update(status="finished")
    rows: list[Row] = [ada.queued() for _ in range(4)]
    rows += [_experiment(ada, by_itself=by_itself) for by_itself in (False, False, True, True)]
    rows += [
        Optimum.objects.create(run=over, mode=mode, asked_at=site.now)
        for mode in ("classic", "snapshot")
    ]
    for row in rows:
        queue = _queue(row)
        if site.random.random() < 0.3:
            assert queue.claim_row(str(row.pk), "gone") is not None
        else:
            queue.announce(row)
    return rows


def _experiment(ada: Person, *, by_itself: bool) -> Experiment:
    run = ada.queued()
    assert run.snapshot is not None
    Run.objects.filter(pk=run.pk).update(status="finished")
    return Experiment.objects.create(
        workspace=ada.workspace, snapshot=run.snapshot, kind="luck", by_itself=by_itself
    )


def _queue(row: Row) -> Queue[Any]:
    if isinstance(row, Experiment):
        return queue_of(row)
    return RUNS if isinstance(row, Run) else jobs.QUEUE


def _open(rows: list[Row]) -> list[Row]:
    """Those that are not over; luck that nobody asked for is gone when it is."""

    def is_open(row: Row) -> bool:
        return _queue(row).rows().filter(pk=row.pk, status__in=("queued", "running")).exists()

    return [row for row in rows if is_open(row)]
