"""Experiments: many variants as one job, each run and counted once, whatever happens to workers."""

from __future__ import annotations

import csv
import datetime as dt
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.test import Client
from django.utils import timezone

from kviz.common.claiming import MAX_CLAIMS
from kviz.engine_build import engine_build
from kviz.experiments import selectors, services
from kviz.experiments.execution.carry_out import experiment_carry_out
from kviz.experiments.execution.claim import (
    experiment_claim,
    experiment_to_share,
    experiments_release,
    portion_claim,
)
from kviz.experiments.models import Experiment, Portion, Result
from tests.web.cast import NODES, Person, crowd, pod, problem
from tests.web.test_saved_runs import body

TIGHT = NODES + "".join(pod(f"web-{i}", "2") for i in range(3))
"""Three pods that fill both nodes: nothing survives."""


def started(ada: Person, text: str = TIGHT, **more: Any) -> Experiment:
    asked = {"kind": "survive", "asked": {"of": "zones"}} | more
    answer = ada.post("/experiments/", {"snapshot": str(ada.snapshot(text).pk), **asked})
    assert answer.status_code == 201, answer.json()
    return Experiment.objects.get(pk=answer.json()["id"])


def carried_out(worker: str = "w", **more: Any) -> Experiment:
    experiment = experiment_claim(worker=worker)
    assert experiment is not None
    experiment_carry_out(experiment=experiment, worker=worker, **more)
    experiment.refresh_from_db()
    return experiment


def outcomes(ada: Person, experiment: Experiment) -> dict[str, Any]:
    found = ada.get(f"/experiments/{experiment.pk}/results/").json()["results"]
    return {each["name"]: each["outcome"] for each in found}


def test_what_survives_the_loss_of_a_zone(ada: Person) -> None:
    carried_out_of = started(ada)
    experiment = carried_out()

    assert experiment.pk == carried_out_of.pk
    assert (experiment.status, experiment.n_done, experiment.n_variants) == ("finished", 3, 3)
    assert experiment.answer == {
        "variants": 2,
        "harmless": 0,
        "problems": 0,
        "ranking": [{"kind": "zone", "name": "north"}, {"kind": "zone", "name": "south"}],
        "before": {"pending": 0, "broken_budgets": []},
    }
    found = outcomes(ada, experiment)
    assert (found["as it is"]["bound"], found["as it is"]["pending"]) == (3, 0)
    assert found["without zone north"]["gone"] == ["shop/web-0", "shop/web-1"]
    assert len(found["without zone south"]["gone"]) == 1


def test_changes_of_ones_own_and_one_that_cannot_be_made(ada: Person) -> None:
    variants = [
        {"name": "more room", "changes": ["node/south copies 1", {"cordon": "north"}]},
        {"changes": ["node/west cordon"]},
    ]
    started(ada, TIGHT + pod("more", "2"), kind="changes", asked={"variants": variants})
    experiment = carried_out()

    found = outcomes(ada, experiment)
    assert found["as it is"]["pending"] == 1
    assert found["more room"]["pending"] == 2
    assert "west" in found["node/west cordon"]["problem"]
    assert experiment.answer == {"variants": 2, "harmless": 0, "problems": 1}


def test_configurations_side_by_side(ada: Person) -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: another}]
"""
    asked = {"configurations": [{"name": "another", "scheduler_config": config}]}
    started(ada, kind="configurations", asked=asked)

    assert carried_out().answer == {"variants": 1, "harmless": 0, "problems": 0}


def test_an_experiment_about_a_run_has_its_inputs(ada: Person) -> None:
    run = ada.finished(TIGHT, changes=())
    answer = ada.post(
        "/experiments/", {"run": str(run.pk), "kind": "survive", "asked": {"of": "nodes"}}
    )
    assert answer.status_code == 201
    assert carried_out().run_id == run.pk
    refused = ada.post(
        "/experiments/",
        {"run": str(run.pk), "seed": 4, "kind": "survive", "asked": {"of": "nodes"}},
    )
    assert problem(refused, 400)["errors"][0]["field"] == "seed"


@pytest.mark.parametrize(
    ("kind", "asked", "message"),
    [
        ("survive", {"of": "racks"}, "racks"),
        ("survive", {}, "of"),
        ("survive", {"of": "sets"}, "Name the nodes"),
        ("survive", {"of": "sets", "sets": [[]]}, "length"),
        ("survive", {"of": "sets", "sets": [["south"], ["west"]]}, "no node west"),
        ("changes", {"variants": []}, "length"),
        ("changes", {"variants": [{"changes": ["node/n1 explode"]}]}, "explode"),
        ("configurations", {"configurations": [{"name": "x", "scheduler_config": "{"}]}, ""),
    ],
)
def test_what_cannot_be_asked_is_refused(
    ada: Person, kind: str, asked: object, message: str
) -> None:
    asks = {"snapshot": str(ada.snapshot().pk), "kind": kind, "asked": asked}
    assert message in json.dumps(problem(ada.post("/experiments/", asks), 400)["errors"])


def test_limits(ada: Person, settings: Any) -> None:
    asks = {"snapshot": str(ada.snapshot().pk), "kind": "survive", "asked": {"of": "nodes"}}
    settings.MAX_VARIANTS = 1
    assert problem(ada.post("/experiments/", asks), 413)["type"].endswith("too-large")
    settings.MAX_VARIANTS, settings.MAX_EXPERIMENTS = 10, 1
    assert ada.post("/experiments/", asks).status_code == 201
    problem(ada.post("/experiments/", asks), 429)


def test_results_come_page_by_page_and_as_files(ada: Person) -> None:
    started(ada)
    experiment = carried_out()
    path = f"/experiments/{experiment.pk}"

    first = ada.get(f"{path}/results/?limit=2").json()
    rest = ada.get(f"{path}/results/?after={first['next_after']}").json()
    assert [each["number"] for each in first["results"] + rest["results"]] == [1, 2, 3]
    assert rest["next_after"] is None

    document = json.loads(body(ada.get(f"{path}/results.json/")))
    assert (document["status"], len(document["results"])) == ("finished", 3)
    table = body(ada.get(f"{path}/results.csv/")).decode()
    rows = {row["name"]: row for row in csv.DictReader(io.StringIO(table))}
    assert rows["without zone north"]["gone"] == "2"


# ---------------------------------------------------------------- workers


def test_a_worker_that_dies_loses_only_what_was_under_way(ada: Person, settings: Any) -> None:
    settings.EXPERIMENT_PROCESSES = 1
    started(ada)
    calm = carried_out()
    first_answer = calm.answer
    whole = [each.outcome for each in calm.results.order_by("variant")]
    started(ada)
    experiment = experiment_claim(worker="first")
    assert experiment is not None
    Experiment.objects.filter(pk=experiment.pk).update(n_done=1, engine_version=engine_build())
    Result.objects.create(experiment=experiment, number=1, variant=1, name="kept", outcome=whole[1])
    assert experiments_release(worker="first") == 1

    again = carried_out("second")

    assert (again.status, again.n_done) == ("finished", 3)
    results = again.results.order_by("variant")
    assert [each.outcome for each in results] == whole
    assert results[1].name == "kept"
    assert again.answer == first_answer


def test_results_of_another_engine_are_made_again(ada: Person) -> None:
    experiment = started(ada)
    Experiment.objects.filter(pk=experiment.pk).update(n_done=1, engine_version="old")
    Result.objects.create(experiment=experiment, number=1, variant=1, name="old", outcome={})

    assert carried_out().n_done == 3
    assert not experiment.results.filter(name="old").exists()


def test_a_variant_has_one_result(ada: Person) -> None:
    started(ada)
    experiment = carried_out()
    with pytest.raises(IntegrityError), transaction.atomic():
        Result.objects.create(experiment=experiment, number=4, variant=1, name="", outcome={})


def test_a_cancelled_experiment_stores_nothing_more(ada: Person) -> None:
    started(ada)
    experiment = experiment_claim(worker="w")
    assert experiment is not None
    assert ada.post(f"/experiments/{experiment.pk}/cancel/", {}).json()["status"] == "cancelled"
    experiment_carry_out(experiment=experiment, worker="w")

    experiment.refresh_from_db()
    assert (experiment.status, experiment.n_done) == ("cancelled", 0)
    problem(ada.post(f"/experiments/{experiment.pk}/cancel/", {}), 409)


def test_a_silent_worker_loses_its_claim_and_a_deadly_experiment_is_given_up(ada: Person) -> None:
    experiment = started(ada)
    assert experiment_claim(worker="silent") is not None
    assert experiment_claim(worker="other") is None
    long_ago = timezone.now() - dt.timedelta(minutes=5)
    Experiment.objects.filter(pk=experiment.pk).update(heartbeat_at=long_ago, claims=MAX_CLAIMS)

    given_up = carried_out("other")

    assert given_up.status == "failed"
    assert "workers died" in given_up.error


def test_an_experiment_gives_way(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kviz.experiments.execution.carry_out.HEARTBEAT_S", 0.0)
    started(ada)
    assert carried_out(wanted_elsewhere=lambda: True).status == "queued"
    assert carried_out().n_done == 3


@pytest.mark.parametrize("stopped_in", ["", "cordoned"])
def test_how_far_a_variant_is_is_told_and_it_is_stopped_between_its_cycles(
    ada: Person, monkeypatch: pytest.MonkeyPatch, stopped_in: str
) -> None:
    monkeypatch.setattr("kviz.experiments.execution.carry_out.HEARTBEAT_S", 0.0)
    monkeypatch.setattr("kviz.forking.copies.TELL_S", 0.0)
    asked = {"variants": [{"name": "cordoned", "changes": ["node/south cordon"]}]}
    experiment = started(ada, crowd(100), kind="changes", asked=asked)
    told: dict[str, list[int]] = {}

    def look() -> bool:
        for each in Experiment.objects.get().doing:
            told.setdefault(each["name"], []).append(each["cycles"])
            if each["name"] == stopped_in:
                services.experiment_cancel(experiment=experiment)
        return False

    assert carried_out(wanted_elsewhere=look).status == "cancelled"
    assert 0 < told[stopped_in][0] < 100
    told.clear()
    stopped_in = "nowhere"
    experiment = started(ada, crowd(100), kind="changes", asked=asked)
    Experiment.objects.exclude(pk=experiment.pk).delete()
    whole = carried_out(wanted_elsewhere=look)
    assert (whole.status, whole.n_done, whole.doing) == ("finished", 2, [])
    # A quick variant may be over before anybody looks.
    assert all(cycles == sorted(cycles) for cycles in told.values())


def test_what_the_engine_refuses_is_said(ada: Person) -> None:
    experiment = started(ada)
    inputs = experiment.inputs | {"scheduler_config": "{"}
    Experiment.objects.filter(pk=experiment.pk).update(inputs=inputs)
    assert carried_out().status == "failed"
    services.experiment_delete(experiment=experiment)
    assert not selectors.experiments_visible(workspace=ada.workspace)


# ---------------------------------------------------------------- one experiment, several workers


def joined(worker: str, experiment: Experiment, **more: Any) -> None:
    """Carry out with others what there is to carry out with them."""
    shared = experiment_to_share(key=str(experiment.pk))
    assert shared is not None
    experiment_carry_out(experiment=shared, worker=worker, **more)
    experiment.refresh_from_db()


def led_until(moment: Callable[[Experiment], bool], experiment: Experiment) -> None:
    """Begin as the first worker, and put it aside at a moment."""
    assert experiment_claim(worker="first") is not None
    experiment.refresh_from_db()
    experiment_carry_out(
        experiment=experiment, worker="first", wanted_elsewhere=lambda: moment(experiment)
    )
    experiment.refresh_from_db()


@pytest.fixture
def in_small_steps(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """Each result is stored when it is there, and each time the worker looks around."""
    settings.EXPERIMENT_PROCESSES = 1
    for name in ("HEARTBEAT_S", "FLUSH_S", "STAY_S"):
        monkeypatch.setattr(f"kviz.experiments.execution.carry_out.{name}", 0.0)


@pytest.mark.usefixtures("in_small_steps")
def test_one_who_joins_runs_portions_and_goes_on_alone_when_the_first_is_gone(ada: Person) -> None:
    started(ada)
    calm = carried_out()
    whole = {each.variant: each.outcome for each in calm.results.all()}
    experiment = started(ada)

    led_until(lambda each: each.results.count() == 1, experiment)
    assert (experiment.status, experiment.n_done, experiment.portions.count()) == ("queued", 1, 2)
    joined("second", experiment)

    assert (experiment.status, experiment.n_done) == ("finished", 3)
    assert {each.variant: each.outcome for each in experiment.results.all()} == whole
    assert sorted(each.number for each in experiment.results.all()) == [1, 2, 3]
    assert experiment.answer == calm.answer
    assert not experiment.portions.exists()


@pytest.mark.usefixtures("in_small_steps")
def test_one_who_joined_leaves_the_end_to_the_first(ada: Person) -> None:
    experiment = started(ada)
    led_until(lambda each: each.results.count() == 1, experiment)
    assert experiment_claim(worker="first") is not None

    joined("second", experiment)

    assert (experiment.status, experiment.n_done, experiment.answer) == ("running", 3, None)
    assert experiment_to_share(key=str(experiment.pk)) is None
    experiment_carry_out(experiment=experiment, worker="first")
    experiment.refresh_from_db()
    assert (experiment.status, experiment.n_done) == ("finished", 3)


@pytest.mark.usefixtures("in_small_steps")
def test_one_who_joined_stops_when_the_experiment_is_cancelled(ada: Person) -> None:
    experiment = started(ada)
    led_until(lambda each: each.results.count() == 1, experiment)
    assert experiment_claim(worker="first") is not None

    def cancelled() -> bool:
        services.experiment_cancel(experiment=experiment)
        return False

    joined("second", experiment, wanted_elsewhere=cancelled)

    assert (experiment.status, experiment.answer) == ("cancelled", None)
    assert experiment.n_done == experiment.results.count() < 3
    assert not experiment.portions.exists()


@pytest.mark.usefixtures("in_small_steps")
def test_what_a_silent_worker_had_is_run_by_another_and_stored_once(ada: Person) -> None:
    experiment = started(ada)
    led_until(lambda each: each.results.count() == 1, experiment)
    silent = portion_claim(experiment=experiment, among=range(3), worker="silent")
    assert silent is not None
    long_ago = timezone.now() - dt.timedelta(minutes=5)
    Portion.objects.filter(pk=silent.pk).update(heartbeat_at=long_ago)

    joined("second", experiment)

    assert (experiment.status, experiment.n_done) == ("finished", 3)
    assert sorted(each.variant for each in experiment.results.all()) == [0, 1, 2]


@pytest.mark.usefixtures("in_small_steps")
def test_a_portion_that_kills_its_workers_ends_the_experiment(ada: Person) -> None:
    experiment = started(ada)
    led_until(lambda each: each.results.count() == 1, experiment)
    experiment.portions.update(claims=MAX_CLAIMS)

    joined("second", experiment)

    assert experiment.status == "failed"
    assert "workers died" in experiment.error
    assert not experiment.portions.exists()


@pytest.mark.usefixtures("in_small_steps")
def test_nobody_joins_with_another_engine(ada: Person) -> None:
    experiment = started(ada)
    led_until(lambda each: each.results.count() == 1, experiment)
    Experiment.objects.update(engine_version="another")
    assert experiment_to_share(key=str(experiment.pk)) is None


# ---------------------------------------------------------------- pages


def test_the_form_asks_and_the_page_answers(owner: Person, client: Client) -> None:
    snapshot = owner.snapshot(TIGHT)
    form = client.get(f"/experiments/new?snapshot={snapshot.pk}&question=zones")
    assert b'value="zones" checked' in form.content

    sent = client.post("/experiments/new", {"snapshot": str(snapshot.pk), "question": "zones"})
    waiting = client.get(sent["Location"])
    assert b"Waiting for a worker" in waiting.content
    carried_out()
    page = client.get(sent["Location"]).content.decode()

    assert "<h1>Losing north hurts most: 2 pods are pending or gone.</h1>" in page
    assert "None of the losses is without harm." in page
    assert b"What survives the loss of a zone" in client.get("/experiments/").content


def test_chosen_nodes_are_lost_together(owner: Person, client: Client) -> None:
    given = {"question": "sets", "sets": "south\nnorth south"}
    sent = client.post("/experiments/new", {"snapshot": str(owner.snapshot(TIGHT).pk), **given})
    carried_out()
    page = client.get(sent["Location"]).content.decode()
    assert "<h1>Losing north, south hurts most: 3 pods are pending or gone.</h1>" in page
    assert "What survives the loss of chosen nodes" in page


@pytest.mark.parametrize(
    ("given", "answer"),
    [
        ({"question": "configurations", "preset": ["bin-packing"], "own": "{}"}, 400),
        ({"question": "configurations", "preset": ["bin-packing", "default"]}, 302),
        ({"question": "changes", "variants": "# more\nnode/south copies 1\n\nseed 4"}, 302),
        ({"question": "changes", "variants": "# nothing"}, 400),
        ({"question": "nodes"}, 302),
        ({"question": "sets", "sets": "north, south\n\nsouth"}, 302),
        ({"question": "sets", "sets": "west"}, 400),
        ({"question": "sets", "sets": ""}, 400),
        ({}, 400),
    ],
)
def test_what_the_form_takes(
    owner: Person, client: Client, given: dict[str, object], answer: int
) -> None:
    sent = client.post("/experiments/new", {"snapshot": str(owner.snapshot().pk), **given})
    assert sent.status_code == answer


def test_an_experiment_is_stopped_and_deleted_on_its_page(owner: Person, client: Client) -> None:
    experiment = started(owner)
    client.post(f"/experiments/{experiment.pk}/cancel")
    assert b"stopped" in client.get(f"/experiments/{experiment.pk}").content
    client.post(f"/experiments/{experiment.pk}/delete")
    assert not Experiment.objects.exists()
