"""`kviz unblock`: the JSON that scripts read, whose changes `kviz simulate` takes, and the text."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import main
from kviz.questions.unblock.text import as_text
from scheduler_core.analysis.advice.answer import Answer
from scheduler_core.analysis.advice.unblock import Unblocked

CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: a}
spec: {taints: [{key: gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata:
  name: web
  namespace: shop
  ownerReferences: [{kind: ReplicaSet, name: web, controller: true}]
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
"""


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    return str(file)


def asked(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main([*arguments]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_the_json_and_its_changes_make_the_pod_bind(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = asked(capsys, "unblock", cluster, "--pod=shop/web", "--json")
    assert found["pod"] == "shop/web"
    assert found["complete"] is True
    assert found["tried"] == sum(found["triedByKind"].values()) == len(found["plans"])
    assert found["plans"][0] == {
        "sentence": "let pod shop/web tolerate gpu:NoSchedule",
        "price": 2,
        "result": "binds",
    }
    binding = [each["sentence"] for each in found["plans"] if each["result"] == "binds"]
    assert sorted(binding) == sorted(answer["sentence"] for answer in found["answers"])
    assert found["answers"][0] == {
        "changes": [
            'pod/shop/web set spec.tolerations[+]={"key":"gpu","operator":"Exists",'
            '"effect":"NoSchedule"}'
        ],
        "title": "Tolerate gpu",
        "sentence": "let pod shop/web tolerate gpu:NoSchedule",
        "verdict": "binds on a",
        "node": "a",
        "evicted": [],
        "others": {"newly_bound": [], "newly_pending": []},
        "kinds": ["tolerate"],
        "harm": "none",
        "warnings": [],
        "price": 2,
        "helps": 1,
        "leaving": [],
        "afterwards": [],
        "podKinds": {},
        "budgets": [],
    }
    assert found["pods"] == ["shop/web"]
    for answer in found["answers"]:
        changes = [f"--change={change}" for change in answer["changes"]]
        after = asked(capsys, "simulate", cluster, "--format=json", *changes)
        assert after["cycles"][-1]["node"] == answer["node"]


def test_the_text_says_what_to_do_and_what_was_tried(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["unblock", cluster, "--owner=ReplicaSet/shop/web"]) == 0
    text = capsys.readouterr().out
    assert (
        "shop/web binds, harmless first:\n  1. Tolerate gpu\n     let pod shop/web tolerate" in text
    )
    assert "Nothing smaller exists among what was tried." in text
    assert "CAME TO" not in text
    assert main(["unblock", cluster, "--owner=ReplicaSet/shop/web", "--tried"]) == 0
    (row,) = [line for line in capsys.readouterr().out.splitlines() if "it binds" in line][:1]
    assert row.startswith("it binds ")
    assert row.endswith("  let pod shop/web tolerate gpu:NoSchedule")


BUDGETED = """\
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: b}
status: {allocatable: {cpu: "2", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata:
  name: db
  namespace: shop
  labels: {app: db}
  ownerReferences: [{kind: ReplicaSet, name: db, controller: true}]
spec: {nodeName: a, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
status: {phase: Running}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db, namespace: shop}
spec: {minAvailable: 1, selector: {matchLabels: {app: db}}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec: {containers: [{name: c, resources: {requests: {cpu: "4"}}}]}
"""


def test_the_text_says_whether_a_budget_allows_that_a_pod_is_moved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "budgeted.yaml"
    for budget, says in (
        (BUDGETED, "PodDisruptionBudget shop/db allows no disruption"),
        (BUDGETED.replace("minAvailable: 1", "minAvailable: 0"), "shop/db allows it"),
        (BUDGETED.replace("{app: db}}}", "{app: x}}}"), "no PodDisruptionBudget covers who leaves"),
    ):
        file.write_text(budget)
        assert main(["unblock", str(file), "--pod=shop/web"]) == 0
        _, _, moved = capsys.readouterr().out.partition("delete pod shop/db on a")
        assert says in "".join(moved.splitlines(keepends=True)[:3])


def test_all_pods_of_an_owner(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    twice = CLUSTER.partition("---\n")[2].replace("name: web\n", "name: web-b\n", 1)
    Path(cluster).with_name("twice.yaml").write_text(twice)
    both = [cluster, str(Path(cluster).with_name("twice.yaml"))]
    found = asked(capsys, "unblock", *both, "--owner=ReplicaSet/shop/web", "--json")
    assert found["pods"] == ["shop/web", "shop/web-b"]
    assert (found["answers"][0]["helps"], len(found["answers"][0]["changes"])) == (2, 2)
    assert main(["unblock", *both, "--owner=ReplicaSet/shop/web"]) == 0
    text = capsys.readouterr().out
    assert "shop/web and 1 other pod of its owner bind, harmless first:" in text
    assert "binds on a; 2 of 2 bind; no other pod is affected" in text


def test_what_is_free_and_who_took_the_room(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    untainted = [
        "--change=node/a untaint gpu",
        "--change=pod/shop/web set spec.containers[0].resources.requests.cpu=3",
    ]
    more = Path(cluster).with_name("more.yaml")
    more.write_text(CLUSTER.partition("---\n")[2].replace("name: web\n", "name: after\n"))
    files = [cluster, str(more)]
    bigger = "--change=pod/shop/after set spec.containers[0].resources.requests.cpu=2"
    found = asked(capsys, "unblock", *files, *untainted, bigger, "--pod=shop/after", "--json")
    assert found["freeRoom"] == {
        "sentence": "Only a lacks nothing but room: it has 1 cpu free",
        "nodes": 1,
        "resources": [
            {"resource": "cpu", "requested": 2000, "free": 1000, "most": 1000, "emptiest": "a"}
        ],
    }
    assert found["tookRoom"] == {
        "sentence": "1 earlier placement took the room: with it taken back, the last cycle finds "
        "a node.",
        "nodes": 1,
        "earlier": 1,
        "placements": [{"pod": "shop/web", "cycle": 1, "node": "a"}],
        "complete": True,
    }
    assert main(["unblock", *files, *untainted, bigger, "--pod=shop/after"]) == 0
    text = capsys.readouterr().out
    assert "Only a lacks nothing but room: it has 1 cpu free.\n" in text
    assert "finds a node.\n  cycle 1: shop/web on a\n" in text
    assert main(["explain", *files, *untainted, bigger]) == 0
    assert "\n  Only a lacks nothing but room: it has 1 cpu free\n" in capsys.readouterr().out


def test_an_interrupted_search_says_what_it_has_found(
    cluster: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """At a terminal one sees the best answer so far, and Ctrl-C ends the search with that."""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "200")
    real, shown = sys.stderr.write, []

    def interrupted(text: str) -> int:
        shown.append(text)
        if "let pod shop/web tolerate" in text:
            raise KeyboardInterrupt
        return real(text)

    monkeypatch.setattr(sys.stderr, "write", interrupted)
    found = asked(capsys, "unblock", cluster, "--pod=shop/web", "--json", "--jobs=1")
    assert any("so far, on a: let pod shop/web tolerate gpu:NoSchedule" in text for text in shown)
    assert [each["node"] for each in found["answers"]] == ["a"]
    assert (found["complete"], found["tried"]) == (False, 1)


def test_a_search_that_was_ended_says_so(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = asked(capsys, "unblock", cluster, "--pod=shop/web", "--time-limit=0", "--json")
    assert found["complete"] is False


def test_a_pod_that_is_not_there(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["unblock", cluster, "--pod=shop/other"]) == 1
    assert "pod shop/other is not there, not pending" in capsys.readouterr().err
    assert main(["unblock", cluster, "--owner=web"]) == 2


@pytest.mark.parametrize("warnings", [("it may starve",), ()])
def test_it_is_said_where_nothing_helps_without_a_risk(warnings: tuple[str, ...]) -> None:
    answer = Answer((), "", "a", (), (), (), 1, 1, (), warnings=warnings)
    text = as_text(Unblocked("shop/web", ("shop/web",), answers=(answer,)))
    assert ("Nothing that was tried helps without a risk" in text) is bool(warnings)
