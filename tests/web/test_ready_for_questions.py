"""A worker keeps the cluster that it loaded last, and loads a large one before anybody asks."""

from __future__ import annotations

from typing import Any

import pytest

from kviz.common import memory
from kviz.experiments import loaded
from kviz.experiments.execution import ready
from kviz.experiments.models import Experiment
from kviz.live.tasks import Worker, work_once
from kviz.runs.models import Run
from kviz.runs.services import run_cancel
from scheduler_core.analysis.advice import trial
from scheduler_core.sim.loaded import LoadedCluster
from tests.web.cast import Person, execute
from tests.web.test_experiments import carried_out

pytestmark = pytest.mark.django_db


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many objects the clusters have that were loaded, one entry for each."""
    counts: list[int] = []

    class Counted(LoadedCluster):
        def __init__(self, objects: Any, options: Any) -> None:
            counts.append(len(objects))
            super().__init__(objects, options)

    monkeypatch.setattr(trial, "LoadedCluster", Counted)
    return counts


def worked(worker: Worker) -> None:
    while work_once(worker):
        pass


def ask(ada: Person, run: Run, pod: str = "shop/giant", **more: Any) -> Any:
    asked = {"run": str(run.pk), "kind": "unblock", "asked": {"pod": pod, **more}}
    assert ada.post("/experiments/", asked).status_code == 201
    experiment = carried_out()
    assert experiment.status == "finished", experiment.error
    return experiment.answer


def test_a_second_question_about_a_cluster_finds_it_loaded(ada: Person, loads: list[int]) -> None:
    run = ada.finished()
    first = ask(ada, run)
    again = ask(ada, run)
    assert (len(loads), again) == (1, first)


def test_another_question_about_it_hears_of_its_own_cycles(ada: Person, loads: list[int]) -> None:
    run = ada.finished()
    ask(ada, run)
    asked = {"variants": [{"changes": ["node/north cordon"]}]}
    ada.post("/experiments/", {"run": str(run.pk), "kind": "changes", "asked": asked})
    experiment = Experiment.objects.get(kind="changes")
    assert carried_out().pk == experiment.pk
    assert (experiment.results.count(), len(loads)) == (2, 1)


def test_the_same_cluster_by_other_rules_is_loaded_itself(ada: Person, loads: list[int]) -> None:
    run = ada.finished()
    ask(ada, run)
    assert run.snapshot is not None
    for other in ({"seed": 7}, {"changes": ["node/south cordon"]}):
        asked = {"snapshot": str(run.snapshot.pk), **other}
        assert ada.post("/runs/", asked).status_code == 201
        ask(ada, execute(worker="test"))
    assert len(loads) == 3


def test_a_cluster_nobody_asks_about_is_given_up(
    ada: Person, loads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ada.finished()
    ask(ada, run)
    monkeypatch.setattr(loaded, "IDLE_S", -1.0)
    work_once(Worker("w"))
    ask(ada, run)
    assert len(loads) == 2


@pytest.fixture(autouse=True)
def memory_to_spare(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine with enough of it, whatever else runs on this one."""
    monkeypatch.setattr(memory, "SPARE", 0.0)


@pytest.fixture
def all_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready, "MAX_LOADED", 0)


@pytest.mark.usefixtures("all_are_large")
def test_a_worker_with_nothing_to_do_loads_what_it_has_run(ada: Person, loads: list[int]) -> None:
    worker, run = Worker("w"), ada.queued()
    worked(worker)
    run.refresh_from_db()
    assert (run.status, len(loads)) == ("finished", 1)
    ask(ada, run)
    assert len(loads) == 1


@pytest.mark.usefixtures("all_are_large")
def test_it_does_so_once_and_what_is_asked_goes_first(ada: Person, loads: list[int]) -> None:
    worker = Worker("w")
    first, second = ada.queued(), ada.queued()
    work_once(worker)
    first.refresh_from_db()
    assert (first.status, loads) == ("finished", [])
    worked(worker)
    second.refresh_from_db()
    worked(worker)
    assert (second.status, len(loads)) == ("finished", 1)


def test_small_clusters_are_loaded_when_they_are_asked_about(ada: Person, loads: list[int]) -> None:
    ada.queued()
    worked(Worker("w"))
    assert loads == []


@pytest.mark.usefixtures("all_are_large")
def test_nothing_is_loaded_while_memory_is_short(
    ada: Person, loads: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory, "SPARE", 2.0)
    ada.queued()
    worked(Worker("w"))
    assert loads == []


@pytest.mark.usefixtures("all_are_large")
def test_nothing_is_loaded_for_a_run_that_was_stopped(ada: Person, loads: list[int]) -> None:
    run = ada.queued()
    run_cancel(run=run)
    worked(Worker("w"))
    assert loads == []
