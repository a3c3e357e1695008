"""The values behind a cycle's verdicts and scores, asked over REST."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kviz.runs.models import Run
from tests.web.cast import CLUSTER, Person, pod, problem
from tests.web.test_also import PICKY, cycle_of


@pytest.fixture
def run(ada: Person) -> Run:
    return ada.finished(CLUSTER + PICKY)


def node(person: Person, run: Run, cycle: int, name: str) -> Any:
    return person.get(f"/runs/{run.pk}/cycles/{cycle}/nodes/{name}/")


def test_one_node_that_was_rejected(ada: Person, run: Run) -> None:
    cycle = cycle_of(ada, run, "shop/picky")
    answer = node(ada, run, cycle, "north")
    assert answer.status_code == 200
    document = answer.json()
    assert document["pod"] == "shop/picky"
    assert document["examined"]
    assert not document["feasible"]
    assert document["recorded"]["plugin"] == "NodeAffinity"
    assert document["requests"][0]["total"] == 64_000
    found = document["evidence"]
    assert found["rejected_by"] == ["NodeAffinity", "NodeResourcesFit"]
    assert found["sentence"] == "selects nodes with disk=ssd, the node has no label disk"
    by_plugin = {each["plugin"]: each for each in found["plugins"]}
    (label,) = by_plugin["NodeAffinity"]["requirements"]
    assert label == {
        "kind": "nodeSelector",
        "met": False,
        "asks": "disk=ssd",
        "has": "no label disk",
        "sentence": "selects nodes with disk=ssd, the node has no label disk",
        "detail": "",
        "asks_parts": [["disk=", False], ["ssd", True]],
        "has_parts": [["no label disk", True]],
        "values": {"key": "disk", "value": "ssd", "actual": None},
    }
    assert found["scores"] == []
    assert found["total"] is None
    assert found["preemption"]["outcome"] == "unresolvable"
    assert document["comparison"] is None


def test_scores_are_written_out(ada: Person, run: Run) -> None:
    cycles = ada.get(f"/runs/{run.pk}/cycles/").json()["cycles"]
    number = next(each["cycle"] for each in cycles if each["n_feasible"] > 1)
    recorded = ada.get(f"/runs/{run.pk}/cycles/{number}/").json()
    for name in recorded["feasible"]:
        found = node(ada, run, number, name).json()["evidence"]
        assert found["preemption"] is None
        assert found["total"] == recorded["totals"][name]
        assert found["total_text"].endswith(f" = {found['total']}")
        for score in found["scores"]:
            assert score["raw"] == recorded["scores"][score["plugin"]]["raw"][name]
            assert score["normalized"] == recorded["scores"][score["plugin"]]["normalized"][name]


def test_what_leads(ada: Person, run: Run) -> None:
    cycle = cycle_of(ada, run, "shop/picky")
    document = ada.get(f"/runs/{run.pk}/cycles/{cycle}/evidence/").json()
    lead = document["lead"]
    assert lead["plugin"] == "NodeAffinity"
    assert lead["text"] == "selects nodes with disk=ssd, the node has no label disk (all 2 nodes)"
    assert len(lead["also"]) == 1
    assert document["rejections"] == []
    assert [each["node"] for each in document["nearest"]] == ["south", "north"]
    assert document["nearest"][0]["sentences"] == [
        {
            "plugin": "NodeAffinity",
            "sentence": "selects nodes with disk=ssd, the node has no label disk",
        },
        {
            "plugin": "NodeResourcesFit",
            "sentence": "needs 64 cpu, the whole node has 2",
        },
    ]


def test_nothing_leads_where_a_node_was_found(ada: Person, run: Run) -> None:
    document = ada.get(f"/runs/{run.pk}/cycles/1/evidence/").json()
    assert document["lead"] is None
    assert document["requests"]


def test_a_pod_that_is_rejected_as_a_whole(ada: Person) -> None:
    claim = "[{name: v, persistentVolumeClaim: {claimName: missing}}]"
    run = ada.finished(CLUSTER + pod("unclaimed", "1", volumes=claim))
    cycle = cycle_of(ada, run, "shop/unclaimed")
    document = ada.get(f"/runs/{run.pk}/cycles/{cycle}/evidence/").json()
    assert document["lead"]["text"] == "uses claim shop/missing, which does not exist"
    assert document["lead"]["node"] == ""
    assert {each["point"] for each in document["rejections"]} == {"PreFilter"}
    document = node(ada, run, cycle, "north").json()
    assert document["recorded"] is None
    assert not document["examined"]
    assert document["pod_rejections"]


def test_a_run_without_nodes(ada: Person) -> None:
    run = ada.finished(pod("lonely"))
    document = ada.get(f"/runs/{run.pk}/cycles/1/evidence/").json()
    assert document["lead"] is None
    assert document["requests"] == []


def test_two_nodes_that_were_scored(ada: Person, run: Run) -> None:
    cycles = ada.get(f"/runs/{run.pk}/cycles/").json()["cycles"]
    number = next(each["cycle"] for each in cycles if each["n_feasible"] > 1)
    recorded = ada.get(f"/runs/{run.pk}/cycles/{number}/").json()
    path = f"/runs/{run.pk}/cycles/{number}/nodes/north/?against=south"
    found = ada.get(path).json()["comparison"]
    assert found["nodes"] == ["north", "south"]
    assert found["totals"] == [recorded["totals"]["north"], recorded["totals"]["south"]]
    assert found["difference"] == found["totals"][0] - found["totals"][1]
    assert found["difference"] == sum(each["difference"] for each in found["scores"])
    for score in found["scores"]:
        columns = recorded["scores"][score["plugin"]]
        assert score["raw"] == [columns["raw"]["north"], columns["raw"]["south"]]
        weight = score["weight"]
        assert score["weighted"] == [value * weight for value in score["normalized"]]
    assert [each["plugin"] for each in found["scores"] if each["decides"]] == found["deciders"]
    assert found["sentence"].startswith("north scores ")


def test_two_nodes_that_were_rejected(ada: Person, run: Run) -> None:
    cycle = cycle_of(ada, run, "shop/picky")
    path = f"/runs/{run.pk}/cycles/{cycle}/nodes/north/?against=south"
    found = ada.get(path).json()["comparison"]
    assert found["scores"] == []
    assert found["totals"] is None
    assert found["sentence"].startswith("north is rejected: selects nodes with disk=ssd")
    first, *_, last = found["requirements"]
    assert (first["asks"], first["met"]) == ("disk=ssd", [False, False])
    assert last["met"] == [True, True]


def test_what_is_not_there(ada: Person, run: Run) -> None:
    problem(node(ada, run, 1, "west"), 404)
    problem(node(ada, run, 99, "north"), 404)
    found = problem(ada.get(f"/runs/{run.pk}/cycles/1/nodes/north/?against=west"), 404)
    assert found["detail"] == "Cycle 1 saw no node west."


def test_the_values_of_what_is_tried_are_those_of_its_preview(ada: Person, run: Run) -> None:
    cycle = cycle_of(ada, run, "shop/picky")
    free = ["pod/shop/picky set spec.nodeSelector.disk=null",
            "pod/shop/picky set spec.containers[0].resources.requests.cpu=100m",
            "weight NodeResourcesFit=3"]  # fmt: skip
    path = f"/runs/{run.pk}/cycles/{cycle}/"
    body = {"changes": free}
    preview = ada.post(f"{path}preview/", body).json()
    assert preview["feasible"]

    for name in preview["feasible"]:
        answer = ada.get(f"{path}nodes/{name}/", query_params={"changes": json.dumps(free)})
        assert answer.status_code == 200
        document = answer.json()
        assert document["feasible"]
        assert document["pod_node"] == preview["node"]
        scores = {each["plugin"]: each for each in document["evidence"]["scores"]}
        if scores:
            assert scores["NodeResourcesFit"]["weight"] == 3
            assert document["evidence"]["total"] == preview["totals"][name]
    assert node(ada, run, cycle, "north").json()["recorded"]["plugin"] == "NodeAffinity"


@pytest.mark.parametrize(
    ("changes", "says"),
    [("[", "Input data was truncated"), ('["node/nowhere cordon"]', "nowhere")],
)
def test_changes_that_cannot_be_tried_are_refused(
    ada: Person, run: Run, changes: str, says: str
) -> None:
    answer = ada.get(f"/runs/{run.pk}/cycles/1/nodes/north/", query_params={"changes": changes})
    assert answer.status_code == 400
    assert says in answer.json()["errors"][0]["message"]


def test_the_lab_begins_with_the_fields_of_the_pod(ada: Person, run: Run) -> None:
    cycle = cycle_of(ada, run, "shop/picky")
    document = ada.get(f"/runs/{run.pk}/cycles/{cycle}/lab/").json()
    assert document["pod"]["spec"]["nodeSelector"] == {"disk": "ssd"}
    assert document["scoring"] == {"type": "LeastAllocated"}
