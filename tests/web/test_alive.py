"""Who looks after workers sees which are alive, and which get on."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from django.utils import timezone
from pytest_django import Settings

from kviz.common import work_counts
from kviz.live import tasks
from kviz.live.alive import SILENT, idle_worker_looked, workers_alive
from kviz.live.models import IdleWorker
from kviz.live.tasks import Task, Worker, work_once
from kviz.runs.execution.claim import run_claim
from kviz.runs.models import Run
from tests.web.cast import Person


def long_ago() -> dt.datetime:
    return timezone.now() - SILENT - dt.timedelta(seconds=1)


def test_workers_that_look_or_hold_a_row_are_alive_and_silent_ones_are_not(ada: Person) -> None:
    assert workers_alive() == 0
    ada.queued()
    idle_worker_looked(name="looks")
    idle_worker_looked(name="looks")
    run_claim(worker="works")
    assert workers_alive() == 2
    IdleWorker.objects.update(looked_at=long_ago())
    assert workers_alive() == 1
    Run.objects.update(heartbeat_at=long_ago())
    assert workers_alive() == 0


@pytest.fixture
def file(tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> Path:
    """What a worker touches; the last time is long ago."""
    monkeypatch.setattr(work_counts, "TOUCH_S", 0.0)
    settings.WORKER_ALIVE_FILE = str(tmp_path / "alive")
    return tmp_path / "alive"


def test_a_worker_that_has_nothing_to_do_or_stores_something_gets_on(
    ada: Person, file: Path
) -> None:
    worker = Worker("w")
    assert not work_once(worker)
    assert file.exists()
    file.unlink()
    ada.queued()
    assert work_once(worker)
    assert file.exists()


def test_a_worker_that_begins_work_and_leaves_it_for_ever_does_not(
    db: None, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left_again = Task("luck", lambda: ["key"], lambda worker, key: True, lambda key: "queued")
    monkeypatch.setattr(tasks, "TASKS", [left_again])
    worker = Worker("w")
    assert all(work_once(worker) for _ in range(5))
    assert not file.exists()
