"""Pods placed by hand, alone: moves, refusals, what is hidden until one is done."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kviz.by_hand.models import Game
from kviz.questions.optimum.jobs import optimum_claim, optimum_execute
from kviz.runs.models import Cycle, Optimum, Run, TraceChunk
from kviz.snapshots.models import Snapshot
from kviz.snapshots.services import samples_load
from tests.web.cast import CLUSTER, NODES, Person, execute, pod

pytestmark = pytest.mark.django_db

SMALL, LARGE = "default/small", "default/large"


def play(who: Person, address: str) -> str:
    """Begin a game as a browser does; where its board is, below /api/v1."""
    answer = who.client.post(address)
    assert answer.status_code == 302, answer.content
    found = answer.headers["Location"].rsplit("/", 1)[1]
    assert who.client.get(f"/by-hand/{found}").status_code == 200
    return f"/by-hand/{found}/"


@pytest.fixture
def board(owner: Person) -> str:
    samples_load()
    snapshot = Snapshot.objects.get(is_sample=True, name="size-trap")
    return play(owner, f"/by-hand/snapshot/{snapshot.pk}")


def do(who: Person, board: str, what: str, **more: str) -> Any:
    return who.post(board, json.dumps({"do": what, **more}))


def search() -> None:
    found = optimum_claim(worker="w")
    assert found is not None
    optimum_execute(found=found, worker="w")


def test_who_beats_the_scheduler_is_told_so_and_that_nobody_can_do_better(
    owner: Person, board: str
) -> None:
    execute(worker="w")
    for name, node in ((LARGE, "n1"), (SMALL, "n2")):
        assert do(owner, board, "place", pod=name, node=node).status_code == 200
    done = do(owner, board, "finish").json()
    assert (done["mine"]["placed"], done["outcome"]["scheduler"]) == ({"0": 2}, None)
    execute(worker="w")
    assert owner.get(board).json()["outcome"]["best"]["state"] == "waiting"
    search()
    found = owner.get(board).json()
    assert found["verdict"] == "You beat the scheduler, and no placement is better: this is proved."
    assert found["outcome"]["scheduler"]["placed"] == {"0": 1}
    assert found["outcome"]["best"]["state"] == "proven"
    assert found["outcome"]["best"]["side"]["placement"] == found["mine"]["placement"]
    small = next(each for each in found["pods"] if each["name"] == SMALL)
    assert (small["node"], small["best"]) == ("n2", small["total"])


def test_until_one_is_done_nothing_is_simulated_and_nothing_sent(owner: Person, board: str) -> None:
    execute(worker="w")
    do(owner, board, "place", pod=SMALL, node="n2")
    sent = owner.get(board).json()
    assert (sent["outcome"], sent["verdict"], sent["mine"]) == (None, "", None)
    assert [each["best"] for each in sent["pods"]] == [None, None]
    run = Game.objects.get().run
    assert (run.cycles, Cycle.objects.count(), Optimum.objects.count()) == (0, 0, 0)
    assert owner.get(f"/runs/{run.pk}/cycles/1/").status_code == 409
    refused = owner.post(f"/runs/{run.pk}/optimum/", {"mode": "snapshot"})
    assert refused.status_code == 409
    assert all(chunk.last_cycle == 0 for chunk in TraceChunk.objects.all())


def test_a_node_refuses_with_the_plugins_reason_and_values(owner: Person, board: str) -> None:
    do(owner, board, "place", pod=SMALL, node="n1")
    found = owner.get(f"{board}?pod={LARGE}").json()["nodes"]
    assert found["n1"]["plugin"] == "NodeResourcesFit"
    assert found["n1"]["message"] == "Insufficient cpu"
    assert found["n1"]["sentence"].startswith("needs 4 cpu, 2 free of 4")
    refused = do(owner, board, "place", pod=LARGE, node="n1")
    assert (refused.status_code, len(owner.get(board).json()["pods"])) == (409, 2)
    assert "needs 4 cpu, 2 free of 4" in refused.json()["detail"]
    assert owner.get(f"{board}?pod=default/nobody").status_code == 409


def test_moves_are_taken_back_one_by_one_or_all(owner: Person, board: str) -> None:
    do(owner, board, "place", pod=SMALL, node="n1")
    now = do(owner, board, "undo").json()
    assert (now["n_moves"], now["nodes"][0]["pods"]) == (0, [])
    for name, node in ((LARGE, "n1"), (SMALL, "n2")):
        now = do(owner, board, "place", pod=name, node=node).json()
    assert [node["pods"] for node in now["nodes"]] == [[LARGE], [SMALL]]
    assert do(owner, board, "reset").json()["n_moves"] == 0


def test_who_is_done_moves_nothing_but_may_begin_again(owner: Person, board: str) -> None:
    do(owner, board, "place", pod=SMALL, node="n1")
    do(owner, board, "finish")
    assert do(owner, board, "undo").status_code == 409
    assert do(owner, board, "place", pod=LARGE, node="n1").status_code == 409
    again = do(owner, board, "reset").json()
    assert (again["is_finished"], again["n_moves"], again["outcome"]) == (False, 0, None)


def test_a_game_is_its_players_own(owner: Person, ben: Person, board: str) -> None:
    assert ben.get(board).status_code == 404
    assert do(ben, board, "finish").status_code == 404
    assert do(owner, board, "dance").status_code == 400


def test_a_run_is_played_with_its_own_rules(owner: Person) -> None:
    run = owner.finished(seed=7, scheduler_config="")
    board = play(owner, f"/by-hand/run/{run.pk}")
    game = Game.objects.get()
    assert (game.run.seed, game.run.hidden_after) == (7, 0)
    names = {each["name"] for each in owner.get(board).json()["pods"]}
    assert names == {"shop/giant", *(f"shop/web-{i}" for i in range(4))}
    assert f'action="/by-hand/run/{run.pk}"' in owner.client.get(f"/runs/{run.pk}").content.decode()


@pytest.mark.parametrize(
    ("cluster", "why"),
    [
        (NODES, "No pod waits here"),
        (NODES + "".join(pod(f"p-{i}", "1m") for i in range(21)), "at most 30 nodes and 20"),
    ],
)
def test_what_nobody_can_place_by_hand_is_refused(owner: Person, cluster: str, why: str) -> None:
    snapshot = owner.snapshot(cluster)
    page = owner.client.get(f"/snapshots/{snapshot.pk}").content.decode()
    assert "/by-hand/snapshot/" not in page
    refused = owner.client.post(f"/by-hand/snapshot/{snapshot.pk}", follow=True)
    assert why in refused.content.decode()
    assert Run.objects.count() == 0


def test_learn_and_a_clusters_page_lead_to_a_game(owner: Person) -> None:
    snapshot = owner.snapshot(CLUSTER)
    for page in (f"/snapshots/{snapshot.pk}", "/learn/"):
        assert "/by-hand/" in owner.client.get(page).content.decode()
