"""The optimum of a run: asked for, searched for by a worker, on its page and over REST."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from kviz.questions.optimum.jobs import optima_release, optimum_claim, optimum_execute
from kviz.runs.models import Optimum, Run
from kviz.runs.sharing import run_share
from kviz.samples import FOLDER
from tests.web.cast import CLUSTER, Person, problem

TRAP = (FOLDER / "size-trap.yaml").read_text()
CASUALTY = (FOLDER / "casualty.yaml").read_text()


def ask(person: Person, run: Run, **values: object) -> Any:
    return person.post(f"/runs/{run.pk}/optimum/", values)


def search() -> Optimum:
    """Claim the search that waits, and carry it out."""
    found = optimum_claim(worker="test")
    assert found is not None
    optimum_execute(found=found, worker="test")
    found.refresh_from_db()
    return found


def page(client: Client, run: Run, query: str = "") -> str:
    response = client.get(f"/runs/{run.pk}/optimum{query}")
    assert response.status_code == 200
    return str(response.content.decode())


def test_a_worker_finds_what_the_command_line_prints(owner: Person) -> None:
    run = owner.finished(TRAP)
    assert owner.get(f"/runs/{run.pk}/optimum/").status_code == 404

    asked = ask(owner, run, mode="snapshot")
    assert (asked.status_code, asked.json()["status"]) == (202, "queued")
    search()

    document = owner.get(f"/runs/{run.pk}/optimum/?mode=snapshot").json()
    answer = document["answer"]
    assert document["status"] == "finished"
    assert answer["run"] == {"placed": {"0": 1}, "value": 436}
    assert answer["optimum"]["placed"] == {"0": 2}
    assert (answer["lost_at_cycle"], answer["proven"]) == (1, True)
    assert answer["counts"] == {"possible": 9, "feasible": 5, "viable": 1}
    assert answer["moved"][1] == {"pod": "default/large", "run": "", "optimum": "n1"}
    assert [each["cycle"] for each in answer["reach"]] == [0, 1]


def test_the_page_says_it_first_and_links_the_cycle_that_lost_it(owner: Person) -> None:
    run = owner.finished(TRAP)
    assert "Find the best placement" in page(owner.client, run)

    asked = owner.client.post(f"/runs/{run.pk}/optimum/ask", {"mode": "classic"})
    assert asked.status_code == 302
    assert "Waiting for a worker" in page(owner.client, run)
    search()

    html = page(owner.client, run)
    assert "The scheduler placed 1 of 2 pods; 2 can be placed." in html
    assert f'href="/runs/{run.pk}/explore?c=1&amp;p=Score"' in html
    assert "Cycle 1 in the Explorer" in html
    assert html.index("can be placed") < html.index("Who is placed differently")


def test_the_explorer_knows_of_it_once_it_is_found(owner: Person) -> None:
    run = owner.finished(TRAP)
    explorer = f"/runs/{run.pk}/explore"
    assert "data-optimum-url" not in owner.client.get(explorer).content.decode()
    ask(owner, run, mode="snapshot")
    search()
    address = f'data-optimum-url="/runs/{run.pk}/optimum?mode=snapshot"'
    assert address in owner.client.get(explorer).content.decode()


def test_what_there_is_when_a_cycle_begins_has_an_optimum_of_its_own(owner: Person) -> None:
    run = owner.finished(TRAP)
    assert ask(owner, run, at_cycle=2).json()["at_cycle"] == 2
    search()
    assert owner.get(f"/runs/{run.pk}/optimum/").status_code == 404
    answer = owner.get(f"/runs/{run.pk}/optimum/?at_cycle=2").json()["answer"]
    assert (answer["pods"], answer["run"]["placed"], answer["gap"]) == (1, {"0": 0}, 0)

    html = page(owner.client, run, "?at=2")
    assert "Gap to optimum, from cycle 2 on" in html
    assert "The scheduler placed 0 of 1 pod that waited as cycle 2 began" in html
    assert "from cycle 2 on" in page(owner.client, run)
    assert "data-optimum-url" not in owner.client.get(f"/runs/{run.pk}/explore").content.decode()


def test_a_page_asks_and_stops_as_of_a_cycle(owner: Person) -> None:
    run = owner.finished(TRAP)
    asked = owner.client.post(f"/runs/{run.pk}/optimum/ask", {"mode": "classic", "at": "2"})
    assert asked["Location"] == f"/runs/{run.pk}/optimum?mode=classic&at=2"
    stopped = owner.client.post(f"/runs/{run.pk}/optimum/cancel", {"mode": "classic", "at": "2"})
    assert stopped["Location"] == asked["Location"]
    assert [(each.at_cycle, each.status) for each in run.optima.all()] == [(2, "cancelled")]
    assert "The search was stopped." in page(owner.client, run, "?at=2")


def test_the_run_and_the_optimum_are_two_maps(owner: Person) -> None:
    run = owner.finished(TRAP)
    ask(owner, run)
    search()
    html = page(owner.client, run)
    found = html.partition('<script id="placements" type="application/json">')[2]
    drawn = json.loads(found.partition("</script>")[0])
    assert [node["name"] for node in drawn["a"]["nodes"]] == ["n1", "n2"]
    assert {pod["pod"]: pod["node"] for pod in drawn["a"]["pods"]} == {
        "default/small": "n1",
        "default/large": "",
    }
    assert {pod["pod"]: pod["node"] for pod in drawn["b"]["pods"]} == {
        "default/small": "n2",
        "default/large": "n1",
    }
    assert drawn["b"]["pods"][1]["requests"] == {"cpu": 4000, "memory": 2**30}


def test_what_cannot_be_compared_is_said_by_name(owner: Person) -> None:
    run = owner.finished(CASUALTY)
    ask(owner, run)
    search()
    html = page(owner.client, run)
    assert "Not comparable" in html
    assert "default/b, default/c had to leave" in html
    assert "without any, 0 can be placed" in html
    for number in ("worth in the run", "What was still in reach", "Who is placed differently"):
        assert number not in html


def test_a_search_that_is_stopped_stores_nothing(owner: Person) -> None:
    run = owner.finished(TRAP)
    ask(owner, run)
    claimed = optimum_claim(worker="test")
    assert claimed is not None
    assert owner.delete(f"/runs/{run.pk}/optimum/").status_code == 204
    optimum_execute(found=claimed, worker="test")
    claimed.refresh_from_db()
    assert (claimed.status, claimed.answer) == ("cancelled", None)
    problem(owner.delete(f"/runs/{run.pk}/optimum/"), 409)
    assert "The search was stopped." in page(owner.client, run)


def test_a_cluster_in_which_no_pod_waits_has_none(owner: Person) -> None:
    run = owner.finished(CLUSTER.partition("---")[0])
    ask(owner, run)
    assert search().error == "no pod waits for a node"
    assert "no pod waits for a node" in page(owner.client, run)


def test_only_a_run_that_is_over_is_asked_about(owner: Person) -> None:
    run = owner.queued(TRAP)
    problem(ask(owner, run), 409)
    problem(ask(owner, owner.finished(TRAP), mode="best"), 400)


def test_whose_run_it_is(ada: Person, ben: Person) -> None:
    run = ada.finished(TRAP)
    ask(ada, run)
    search()
    problem(ben.get(f"/runs/{run.pk}/optimum/"), 404)
    problem(ask(ben, run), 404)
    share = run_share(run=run).token
    assert ben.get(f"/runs/{run.pk}/optimum/?share={share}").status_code == 200
    assert "Find the best placement" not in page(ben.client, run, f"?share={share}")
    assert ben.client.post(f"/runs/{run.pk}/optimum/ask?share={share}").status_code == 404


def test_what_a_dead_worker_held_is_searched_for_again(owner: Person) -> None:
    run = owner.finished(TRAP)
    ask(owner, run)
    assert optimum_claim(worker="test") is not None
    assert optimum_claim(worker="other") is None
    assert optima_release(worker="test") == 1
    assert search().status == "finished"


@pytest.mark.parametrize("mode", ["snapshot", "replayed"])
def test_every_mode_has_an_answer_of_its_own(owner: Person, mode: str) -> None:
    run = owner.finished(TRAP)
    for each in ("classic", mode):
        ask(owner, run, mode=each)
        search()
    assert run.optima.count() == 2
    assert "436" in page(owner.client, run, f"?mode={mode}")
    assert "436" not in page(owner.client, run, "?mode=classic")
