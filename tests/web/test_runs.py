"""Runs over REST: what a script sees of them."""

from __future__ import annotations

import gzip

import msgspec
import pytest

from kviz.runs.execution.claim import run_claim
from kviz.runs.models import Run
from scheduler_core.trace.codec import MAX_CYCLES, decode_details
from scheduler_core.trace.events import (
    FilterColumns,
    ScoreColumns,
)
from tests.web.cast import NODES, Person, crowd, execute, pod, problem

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins:
    score:
      disabled: [{name: "*"}]
      enabled: [{name: NodeResourcesFit, weight: 7}]
"""


def test_from_snapshot_to_finished(ada: Person) -> None:
    snapshot = ada.snapshot()

    response = ada.post("/runs/", {"snapshot": str(snapshot.pk)})
    assert response.status_code == 201
    assert response.json()["status"] == "queued"
    execute(worker="test")

    run = ada.get(f"/runs/{response.json()['id']}/").json()
    assert run["status"] == "finished"
    assert (run["cycles"], run["bound"], run["pending"]) == (5, 5, 2)
    assert len(run["trace_hash"]) == 64
    assert run["error"] == ""


def test_the_same_inputs_give_the_same_hash_and_others_another(ada: Person) -> None:
    first, again = ada.finished(), ada.finished()
    other = ada.finished(scheduler_config=CONFIG)

    assert first.trace_hash == again.trace_hash
    assert other.trace_hash != first.trace_hash


def test_cycles_in_pages(ada: Person) -> None:
    run = ada.finished(crowd(130))
    seen = []
    after: int | None = 0
    while after is not None:
        page = ada.get(f"/runs/{run.pk}/cycles/", data={"after": after, "limit": 50}).json()
        seen += page["cycles"]
        after = page["next_after"]

    assert [cycle["cycle"] for cycle in seen] == list(range(1, 131))
    assert {cycle["result"] for cycle in seen} == {"scheduled"}
    assert {cycle["node"] for cycle in seen} == {"north", "south"}
    problem(ada.get(f"/runs/{run.pk}/cycles/", data={"limit": "0"}), 400)
    problem(ada.get(f"/runs/{run.pk}/cycles/", data={"after": "x"}), 400)


def test_one_cycle_with_everything_about_it(ada: Person) -> None:
    run = ada.finished(scheduler_config=CONFIG)

    cycle = ada.get(f"/runs/{run.pk}/cycles/5/").json()

    assert (cycle["pod"], cycle["attempt"], cycle["result"]) == ("shop/giant", 1, "unschedulable")
    assert cycle["filter"] == {
        node: {
            "code": "UnschedulableAndUnresolvable",
            "plugin": "NodeResourcesFit",
            "reasons": ["Insufficient cpu"],
        }
        for node in ("north", "south")
    }
    assert cycle["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert [event["reason"] for event in cycle["events"]] == ["FailedScheduling"]
    assert cycle["events"][0]["message"] == cycle["message"]
    assert cycle["scores"] == {}


def test_scores_of_a_cycle_add_up(ada: Person) -> None:
    run = ada.finished(scheduler_config=CONFIG)

    cycle = ada.get(f"/runs/{run.pk}/cycles/2/").json()

    assert list(cycle["scores"]) == ["NodeResourcesFit"]
    scores = cycle["scores"]["NodeResourcesFit"]
    assert scores["weight"] == 7
    assert cycle["totals"] == {node: 7 * score for node, score in scores["normalized"].items()}
    assert cycle["node"] in cycle["top_nodes"]
    assert cycle["feasible"] == ["north", "south"]
    assert [event["reason"] for event in cycle["events"]] == ["Scheduled"]
    assert [point["point"] for point in cycle["points"]] == [
        "Reserve",
        "Permit",
        "PreBind",
        "Bind",
        "PostBind",
    ]


def test_a_cycle_at_the_end_of_a_chunk_tells_its_binding_too(ada: Person) -> None:
    run = ada.finished(crowd(2 * MAX_CYCLES))
    ends = set(run.chunks.values_list("last_cycle", flat=True))

    for number in ends & set(range(1, run.cycles)):
        cycle = ada.get(f"/runs/{run.pk}/cycles/{number}/").json()
        assert [event["reason"] for event in cycle["events"]] == ["Scheduled"]
        assert [point["point"] for point in cycle["points"]][-1] == "PostBind"
    assert len(ends) >= 2


def test_the_columns_of_a_cycle_for_the_browser(ada: Person) -> None:
    run = ada.finished()
    path = f"/api/v1/runs/{run.pk}/cycles/2/detail/"

    plain = ada.client.get(path, headers={**ada.headers, "Accept": "application/vnd.msgpack"})
    packed = ada.client.get(path, headers={**ada.headers, "Accept-Encoding": "gzip"})

    assert plain.headers["Content-Type"] == "application/vnd.msgpack"
    assert packed.headers["Content-Encoding"] == "gzip"
    assert gzip.decompress(packed.content) == plain.content
    assert [type(event) for event in decode_details(plain.content)] == [
        FilterColumns,
        ScoreColumns,
    ]
    assert isinstance(msgspec.msgpack.decode(plain.content), list)
    problem(ada.get(f"/runs/{run.pk}/cycles/99/detail/"), 404)
    problem(ada.get(f"/runs/{run.pk}/cycles/99/"), 404)


def test_why_a_pod_is_pending(ada: Person) -> None:
    run = ada.finished()

    why = ada.get(f"/runs/{run.pk}/pods/shop/giant/why/").json()

    assert why["status"] == "pending"
    cause = {
        "plugin": "NodeResourcesFit",
        "reason": "Insufficient cpu",
        "n_nodes": 2,
        "n_unresolvable": 2,
        "n_nominated": 0,
    }
    assert why["reasons"] == [cause]
    assert why["funnel"] == [
        {
            "point": "Filter",
            "plugin": "NodeResourcesFit",
            "n_rejected": 2,
            "n_unresolvable": 2,
            "n_left": 0,
            "reasons": [cause],
        }
    ]
    assert [near["node"] for near in why["nearest"]] == ["south", "north"], "the least short first"
    assert [near["shortages"][0]["free"] for near in why["nearest"]] == [1000, 0]
    assert why["cycle"] == 5
    assert why["next"]["queue"] == "unschedulable"
    assert why["next"]["waits_for"] == ["NodeResourcesFit"]


def test_what_became_of_other_pods(ada: Person) -> None:
    run = ada.finished()

    def status(name: str) -> str:
        return str(ada.get(f"/runs/{run.pk}/pods/shop/{name}/why/").json()["status"])

    assert status("gated") == "gated"
    assert status("web-0") == "bound"
    assert status("old") == "bound"
    problem(ada.get(f"/runs/{run.pk}/pods/shop/nobody/why/"), 404)


@pytest.mark.parametrize(
    ("config", "path", "line"),
    [
        (CONFIG + "percentageOfNodesToScore: 200\n", "percentageOfNodesToScore", 9),
        (CONFIG.replace("weight: 7", "weight: heavy"), "weight", 8),
        (CONFIG.replace("name: NodeResourcesFit", "name: NodeWishes"), "enabled[0]", 8),
        (CONFIG + "x: [", "", 10),
    ],
    ids=["value", "type", "unknown plugin", "syntax"],
)
def test_a_bad_configuration_is_reported_with_its_line(
    ada: Person, config: str, path: str, line: int | None
) -> None:
    snapshot = ada.snapshot()

    response = ada.post("/runs/", {"snapshot": str(snapshot.pk), "scheduler_config": config})

    [error] = problem(response, 400)["errors"]
    assert error["field"] == "scheduler_config"
    assert path in error["path"]
    assert error.get("line") == line
    assert not Run.objects.exists()


SCENARIO = """\
steps:
- at: 10s
  create:
    apiVersion: v1
    kind: Pod
    metadata: {name: late, namespace: shop}
    spec: {containers: [{name: c}]}
- at: 20s
  cordon: south
"""


def test_a_scenario_is_played(ada: Person) -> None:
    snapshot = ada.snapshot()

    response = ada.post("/runs/", {"snapshot": str(snapshot.pk), "scenario": SCENARIO})
    execute(worker="test")

    why = ada.get(f"/runs/{response.json()['id']}/pods/shop/late/why/").json()
    assert (why["status"], why["attempts"]) == ("bound", 1)


def test_a_bad_scenario_is_reported_with_its_line(ada: Person) -> None:
    snapshot = ada.snapshot()
    bad = SCENARIO.replace("at: 20s", "at: soon")

    response = ada.post("/runs/", {"snapshot": str(snapshot.pk), "scenario": bad})

    [error] = problem(response, 400)["errors"]
    assert (error["field"], error["line"]) == ("scenario", 8)
    assert not Run.objects.exists()


def test_a_configuration_may_be_an_object(ada: Person) -> None:
    snapshot = ada.snapshot()
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
    }

    response = ada.post("/runs/", {"snapshot": str(snapshot.pk), "scheduler_config": config})

    assert response.status_code == 201


def test_a_run_can_be_cancelled_once(ada: Person) -> None:
    run = ada.queued()

    assert ada.post(f"/runs/{run.pk}/cancel/", {}).json()["status"] == "cancelled"
    problem(ada.post(f"/runs/{run.pk}/cancel/", {}), 409)


def test_a_paused_run_waits_until_it_is_resumed(ada: Person) -> None:
    run = ada.queued()

    assert ada.post(f"/runs/{run.pk}/pause/", {}).json()["status"] == "paused"
    problem(ada.post(f"/runs/{run.pk}/pause/", {}), 409)
    assert run_claim(worker="w") is None
    assert ada.post(f"/runs/{run.pk}/resume/", {}).json()["status"] == "queued"
    problem(ada.post(f"/runs/{run.pk}/resume/", {}), 409)
    execute(worker="w")

    assert ada.get(f"/runs/{run.pk}/").json()["status"] == "finished"
    problem(ada.post(f"/runs/{run.pk}/pause/", {}), 409)


def test_a_paused_run_can_be_cancelled(ada: Person) -> None:
    run = ada.queued()
    ada.post(f"/runs/{run.pk}/pause/", {})

    assert ada.post(f"/runs/{run.pk}/cancel/", {}).json()["status"] == "cancelled"


def test_a_run_can_be_deleted(ada: Person) -> None:
    run = ada.finished()

    assert ada.delete(f"/runs/{run.pk}/").status_code == 204
    problem(ada.get(f"/runs/{run.pk}/"), 404)


def test_a_cycle_has_the_nodes_of_its_time(ada: Person) -> None:
    scenario = """\
    steps:
    - {at: 1s, delete: {kind: Node, name: north}}
    - at: 20s
      create:
        apiVersion: v1
        kind: Node
        metadata: {name: large}
        status: {allocatable: {cpu: 99, pods: 9}}
    """
    run = ada.finished(NODES + pod("giant", "64"), scenario=scenario)
    first, second = (ada.get(f"/runs/{run.pk}/cycles/{n}/").json() for n in (1, 2))
    assert set(first["filter"]) == {"north", "south"}
    assert set(second["filter"]) == {"south"}
