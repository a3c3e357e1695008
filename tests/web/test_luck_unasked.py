"""How lucky a small run was is found out though nobody asked, after all that somebody asked for."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from kviz.experiments import services
from kviz.experiments.execution.carry_out import experiment_carry_out
from kviz.experiments.execution.claim import BY_ITSELF, experiment_claim
from kviz.experiments.models import Experiment
from kviz.live.tasks import Worker, work_once
from kviz.questions.luck import services as luck
from kviz.runs.known import Known
from kviz.runs.models import Run
from kviz.runs.services import run_reveal
from tests.running_server import Server, serving
from tests.waiting import eventually
from tests.web.cast import CLUSTER, NODES, Person, execute, pod
from tests.web.test_experiment_crash import CLUSTER as LARGER
from tests.web.test_serve import call, run_of, wait_for, workers_of


@pytest.fixture(autouse=True)
def _asked_of_every_run(settings: Any) -> None:
    settings.LUCK_OF_RUNS = True


def expected(run: Run) -> Experiment | None:
    return run.experiments.filter(by_itself=True).first()


def found_out(run: Run) -> Any:
    experiment = experiment_claim(worker="w", queue=BY_ITSELF)
    assert experiment is not None
    experiment_carry_out(experiment=experiment, worker="w")
    run.refresh_from_db()
    return run.luck


def test_the_page_of_luck_says_it_without_being_asked(owner: Person) -> None:
    run = owner.finished()
    found_out(run)
    page = Client().get(f"/runs/{run.pk}/luck").content.decode()
    assert "4 runs" in page
    assert expected(run) is None


def test_it_is_what_one_would_have_been_told_on_asking(ada: Person) -> None:
    run = ada.finished()
    unasked = found_out(run)
    asked = ada.post(f"/runs/{run.pk}/luck/", {}).json()
    assert asked == unasked | {"release_text": asked["release_text"]}


def test_it_counts_for_nothing_that_was_asked_for(ada: Person, settings: Any) -> None:
    settings.MAX_EXPERIMENTS = 1
    run = ada.finished()
    hidden = expected(run)
    assert hidden is not None
    assert ada.get("/experiments/").json() == []
    assert ada.get(f"/experiments/{hidden.pk}/").status_code == 404
    asks = {"run": str(run.pk), "kind": "survive", "asked": {"of": "zones"}}
    assert ada.post("/experiments/", asks).status_code == 201


def test_everything_else_goes_first(ada: Person) -> None:
    run = ada.finished()
    worker = Worker("w")
    asks = {"run": str(run.pk), "kind": "survive", "asked": {"of": "zones"}}
    asked = Experiment.objects.get(pk=ada.post("/experiments/", asks).json()["id"])
    other = ada.queued()

    assert work_once(worker)
    other.refresh_from_db()
    assert other.status == "finished"
    assert work_once(worker)
    asked.refresh_from_db()
    assert (asked.status, expected(run) is None) == ("finished", False)
    assert work_once(worker)
    run.refresh_from_db()
    assert run.luck is not None
    assert work_once(worker)  # that of the other run
    assert not work_once(worker)


def test_a_worker_puts_it_aside_for_whatever_comes(ada: Person) -> None:
    run = ada.finished()
    experiment = experiment_claim(worker="w", queue=BY_ITSELF)
    assert experiment is not None

    experiment_carry_out(experiment=experiment, worker="w", wanted_elsewhere=lambda: True)

    experiment.refresh_from_db()
    assert (experiment.status, experiment.claims) == ("queued", 0)
    assert found_out(run) is not None


def test_what_was_found_out_on_asking_meanwhile_stays(ada: Person) -> None:
    run = ada.finished()
    ada.post(f"/runs/{run.pk}/luck/", {})
    Run.objects.filter(pk=run.pk).update(luck={"marked": True})
    assert found_out(run) == {"marked": True}


def test_where_it_fails_one_may_still_ask(owner: Person) -> None:
    run = owner.finished()
    Experiment.objects.filter(run=run).update(claims=100)
    assert found_out(run) is None
    assert expected(run) is None
    page = Client().get(f"/runs/{run.pk}/luck").content.decode()
    assert "Make 100 random runs" in page


@pytest.mark.parametrize("limit", ["MAX_UNASKED", "MAX_LOADED"])
def test_of_large_runs_it_is_not_found_out_unasked(
    ada: Person, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    monkeypatch.setattr(luck, limit, 1)
    assert expected(ada.finished()) is None


def test_nor_where_it_is_switched_off_or_nothing_was_placed(ada: Person, settings: Any) -> None:
    assert expected(ada.finished(NODES + pod("giant", "400"))) is None
    settings.LUCK_OF_RUNS = False
    assert expected(ada.finished()) is None


def test_nor_of_a_run_that_was_hidden(ada: Person) -> None:
    run = ada.queued(CLUSTER, hidden_after=1)
    execute(worker="w")
    assert expected(run) is None
    run_reveal(run=run, upto=Known(100))
    execute(worker="w")
    run.refresh_from_db()
    assert (run.status, expected(run)) == ("finished", None)


def test_of_many_runs_the_newest_are_looked_into(
    ada: Person, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(services, "MOST_BY_THEMSELVES", 2)
    runs = [ada.finished() for _ in range(3)]
    assert [expected(run) is not None for run in runs] == [False, True, True]


@pytest.mark.long
def test_a_worker_killed_meanwhile(data_dir: Path) -> None:
    with serving(data_dir, KVIZ_LUCK_OF_RUNS="yes") as server:
        calm = found(server)
        killed = run_of(server, LARGER)
        wait_for(server, killed)
        begun = f"(luck of run {killed})"
        eventually(lambda: begun in (data_dir / "serve.log").read_text())
        [worker] = eventually(lambda: workers_of(server))
        os.kill(worker, signal.SIGKILL)
        assert luck_of(server, killed) == luck_of(server, calm)
        assert (data_dir / "serve.log").read_text().count(begun) > 1


def found(server: Server) -> str:
    run = run_of(server, LARGER)
    luck_of(server, run)
    return run


def luck_of(server: Server, run: str) -> Any:
    """What was found out of a run; none of its questions is left when it is there."""
    wait_for(server, run)
    eventually(lambda: "luck" in told(server, run))
    return told(server, run)["luck"]


def told(server: Server, run: str) -> dict[str, Any]:
    try:
        return {"luck": call(server, f"/runs/{run}/luck/")}
    except OSError:  # 404: not known yet
        return {}
