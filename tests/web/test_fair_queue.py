"""What waits for a worker: workspaces take turns, and each has so many places."""

from __future__ import annotations

from typing import Any

from django.test import Client

from kviz.experiments.execution.claim import experiment_claim
from kviz.experiments.models import Experiment
from kviz.questions.optimum.jobs import optimum_claim
from kviz.questions.optimum.services import optimum_ask
from kviz.runs import services
from kviz.runs.execution.claim import QUEUE, run_claim
from kviz.runs.models import Run
from kviz.snapshots.models import Snapshot
from tests.web.cast import NODES, Person, person, pod, problem

TINY = NODES + pod("web")


def queued(who: Person, n_runs: int) -> list[Run]:
    snapshot = Snapshot.objects.filter(workspace=who.workspace).first() or who.snapshot(TINY)
    return [services.run_create(workspace=who.workspace, snapshot=snapshot) for _ in range(n_runs)]


def next_run() -> Run:
    run = run_claim(worker="w")
    assert run is not None
    return run


def test_a_hundred_runs_of_one_do_not_delay_anothers_first(ada: Person, ben: Person) -> None:
    hers = queued(ada, 100)
    assert next_run() == hers[0]

    his = queued(ben, 2)

    assert [next_run() for _ in range(5)] == [his[0], hers[1], his[1], hers[2], hers[3]]


def test_who_never_had_a_run_goes_first(ada: Person, ben: Person) -> None:
    queued(ada, 3)
    queued(ben, 3)
    for _ in range(3):
        next_run()
    eve = person()
    [run] = queued(eve, 1)

    assert next_run() == run


def test_of_one_workspace_the_oldest_goes_first(ada: Person) -> None:
    runs = queued(ada, 4)
    assert [next_run() for _ in range(4)] == runs
    assert run_claim(worker="w") is None


def test_workers_that_ask_at_once_find_work_of_one_workspace_too(ada: Person, ben: Person) -> None:
    hers, [his] = queued(ada, 3), queued(ben, 1)
    found = QUEUE.waiting()
    assert sorted(found) == sorted(str(run.pk) for run in [*hers, his])


def test_searches_and_experiments_take_turns(ada: Person, ben: Person) -> None:
    hers = [ada.finished(TINY) for _ in range(2)]
    his = ben.finished(TINY)
    for run in [*hers, his]:
        optimum_ask(run=run, mode="classic", time_limit_s=1)
    searched = [optimum_claim(worker="w") for _ in range(3)]
    assert [found and found.run for found in searched] == [hers[0], his, hers[1]]

    wanted = [_experiment(run) for run in [*hers, his]]
    claimed = [experiment_claim(worker="w") for _ in range(3)]
    assert claimed == [wanted[0], wanted[2], wanted[1]]


def _experiment(run: Run) -> Experiment:
    assert run.snapshot is not None
    return Experiment.objects.create(
        workspace=run.workspace, snapshot=run.snapshot, kind="luck", asked={}, inputs={}
    )


# ---------------------------------------------------------------- places


def test_a_workspace_has_so_many_places_in_the_queue(
    ada: Person, ben: Person, settings: Any
) -> None:
    settings.MAX_WAITING_RUNS = 2
    runs = queued(ada, 2)
    asked = {"snapshot": str(runs[0].snapshot_id)}

    answer = ada.post("/runs/", asked)

    said = problem(answer, 429)["detail"]
    assert "2 runs waiting" in said
    assert "cancel" in said
    assert int(answer.headers["Retry-After"]) > 0
    problem(ada.post("/runs/", {"parent": str(runs[0].pk), "changes": []}), 429)
    queued(ben, 1)
    ada.post(f"/runs/{runs[1].pk}/cancel/", {})
    assert ada.post("/runs/", asked).status_code == 201


def test_a_form_says_that_there_is_no_place(owner: Person, settings: Any) -> None:
    settings.MAX_WAITING_RUNS = 1
    [run] = queued(owner, 1)

    answer = Client().post("/runs/new", {"snapshot": str(run.snapshot_id), "scenario": ""})

    assert answer.status_code == 429
    assert "1 run waiting" in answer.content.decode()
    assert int(answer.headers["Retry-After"]) > 0
    assert Run.objects.count() == 1


def test_any_page_that_starts_a_run_says_so(owner: Person, settings: Any) -> None:
    settings.MAX_WAITING_RUNS = 0

    answer = Client().post("/learn/what-is-a-node/begin")

    assert answer.status_code == 429
    assert int(answer.headers["Retry-After"]) > 0


def test_a_workspace_has_so_many_live_sessions(ada: Person, settings: Any) -> None:
    settings.MAX_SESSIONS = 1
    session = ada.post("/sessions/", {}).json()

    refused = ada.post("/sessions/", {})

    assert "1 live session" in problem(refused, 429)["detail"]
    assert int(refused.headers["Retry-After"]) > 0
    ada.post(f"/sessions/{session['id']}/revoke/", {})
    assert ada.post("/sessions/", {}).status_code == 201
