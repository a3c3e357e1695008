"""`kviz capacity`: the JSON that scripts read, the table, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import main
from tests.cluster_text import node, pod

CLUSTER = node("a", "4", "8Gi", "10") + node(
    "b", "4", "8Gi", "10", taints=[{"key": "gpu", "effect": "NoSchedule"}]
)
WEB = pod("web", "1500m")


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    cluster, web = tmp_path / "cluster.yaml", tmp_path / "web.yaml"
    cluster.write_text(CLUSTER)
    web.write_text(WEB)
    return [str(cluster), f"--pod={web}"]


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["capacity", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_json(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *files)
    assert (found["count"], found["by_node"]) == (2, {"a": 2})
    assert found["stopped_by"] == {"NodeResourcesFit": 1, "TaintToleration": 1}
    assert found["message"].startswith("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had")


def test_with_changes(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *files, "--change=node/b untaint gpu")
    assert (found["count"], found["changes"]) == (4, ["untaint node b gpu"])


@pytest.mark.parametrize(
    ("kind", "group", "within"),
    [
        ("Deployment", "apps/v1", "{template: POD}"),
        ("StatefulSet", "apps/v1", "{serviceName: web, template: POD}"),
        ("ReplicaSet", "apps/v1", "{template: POD}"),
        ("Job", "batch/v1", "{template: POD}"),
        ("CronJob", "batch/v1", "{jobTemplate: {spec: {template: POD}}}"),
    ],
)
def test_the_pod_that_a_workload_makes(
    kind: str, group: str, within: str, files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    made = "{spec: {containers: [{name: c, resources: {requests: {cpu: 1500m}}}]}}"
    file = Path(files[1].removeprefix("--pod="))
    head = f"apiVersion: {group}\nkind: {kind}\nmetadata: {{name: web, namespace: shop}}\n"
    file.write_text(f"{head}spec: {within.replace('POD', made)}\n")
    found = answer(capsys, *files)
    assert (found["count"], found["templates"][0]["pod"]) == (2, "shop/web")
    file.write_text(f"{head}spec: {{}}\n")
    assert main(["capacity", *files]) == 1
    assert "spec." in capsys.readouterr().err


AGENT = pod("agent-a", "2", owner=("DaemonSet", "agent"), phase="Running", nodeName="a")


def test_daemon_sets_take_their_part_of_nodes_that_changes_add(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "agent.yaml").write_text(AGENT)
    found = answer(capsys, str(tmp_path / "agent.yaml"), *files, "--change=node/a copies 1")
    assert found["by_node"] == {"a-copy-1": 1, "a": 1}
    assert found["daemons"] == {"pods": 2, "requests": {"cpu": 4000}}
    assert main(["capacity", str(tmp_path / "agent.yaml"), *files]) == 0
    assert "\n1 pod of DaemonSets on these nodes: 2 cpu requested\n" in capsys.readouterr().out


def test_text(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capacity", *files]) == 0
    text = capsys.readouterr().out
    assert "2 copies of default/web fit, on 1 node" in text
    assert "NodeResourcesFit on 1 node" in text


def test_a_mix(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    mix = [files[0], f"{files[1]}=2", f"{files[1]}=1"]
    assert [each["count"] for each in answer(capsys, *mix)["templates"]] == [1, 1]


@pytest.mark.parametrize(
    ("wrong", "code", "says"),
    [
        (["--max=0"], 2, "at least one copy"),
        (["--pod=absent.yaml"], 1, "absent.yaml: No such file"),
    ],
)
def test_what_makes_no_sense(
    files: list[str],
    capsys: pytest.CaptureFixture[str],
    wrong: list[str],
    code: int,
    says: str,
) -> None:
    assert main(["capacity", *files, *wrong]) == code
    assert says in capsys.readouterr().err


def test_weights_for_all_or_none(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capacity", *files, f"{files[1]}=3"]) == 2
    assert "give each file of a mix a weight" in capsys.readouterr().err


def test_a_file_without_pods(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["capacity", files[0], f"--pod={files[0]}"]) == 1
    assert "there is no pod in it" in capsys.readouterr().err
