"""`kviz survive`: the JSON that scripts read, the tables, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import main

NODE = """\
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{topology.kubernetes.io/zone: {zone}}}}}
status: {{allocatable: {{cpu: "4", memory: 8Gi, pods: "10"}}}}
---
"""
POD = """\
apiVersion: v1
kind: Pod
metadata: {{name: {name}, ownerReferences: [{{kind: StatefulSet, name: {name}, controller: true}}]}}
spec: {{nodeName: {node}, containers: [{{name: c, resources: {{requests: {{cpu: "{cpu}"}}}}}}]}}
status: {{phase: Running}}
---
"""


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    file = tmp_path / "cluster.yaml"
    nodes = (NODE.format(name=name, zone=name[0]) for name in ("a1", "b1", "b2"))
    pods = (("web", "a1", 1), ("db", "b1", 4), ("queue", "b2", 1))
    file.write_text("".join([*nodes, *(POD.format(name=n, node=m, cpu=c) for n, m, c in pods)]))
    return str(file)


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["survive", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_every_zone_and_every_node(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, cluster)
    assert [(each["kind"], each["name"]) for each in found["losses"]] == [
        *(("zone", "a"), ("zone", "b")),
        *(("node", "a1"), ("node", "b1"), ("node", "b2")),
    ]
    assert [each["name"] for each in found["ranking"]][:2] == ["b", "b1"]
    by_name = {each["name"]: each for each in found["losses"]}
    assert by_name["b1"]["down"] == ["StatefulSet default/db"]
    assert [each["pod"] for each in by_name["b1"]["pending"]] == ["default/db"]
    assert by_name["a1"]["pending"] == []


def test_the_same_one_at_a_time(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert answer(capsys, cluster, "--jobs=1") == answer(capsys, cluster, "--jobs=3")


def test_a_set(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    (loss,) = answer(capsys, cluster, "--set=a1, b2")["losses"]
    assert (loss["kind"], loss["nodes"], loss["pods_lost"]) == ("set", ["a1", "b2"], 2)


def test_text(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["survive", cluster, "--zones"]) == 0
    text = capsys.readouterr().out
    assert "2 of 2 losses do harm; zone b most" in text
    assert "StatefulSet default/db has no pod on a node, of 1" in text


def test_a_node_that_is_not_there(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["survive", cluster, "--set=a1,absent"]) == 1
    assert "there is no node absent" in capsys.readouterr().err
