"""`kviz whatif`: a pod before and after, who else ends differently, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import main
from tests.cluster_text import node, pod

CLUSTER = (
    node("a", "4", "4Gi", "10")
    + node("b", "2", "4Gi", "10")
    + pod(
        "running", "3", namespace="shop", owner=("ReplicaSet", "r"), phase="Running", nodeName="a"
    )
    + pod("small", "1500m", namespace="shop")
    + pod("big", "3", namespace="shop")
)


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    return str(file)


def whatif(capsys: pytest.CaptureFixture[str], cluster: str, *changes: str) -> dict[str, Any]:
    options = [f"--change={change}" for change in changes]
    assert main(["whatif", cluster, "--pod=shop/big", *options, "--format=json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def others(found: dict[str, Any]) -> dict[str, str]:
    return {each["pod"]: each["what"] for each in found["others"]}


def test_a_pod_that_finds_a_node_with_a_change(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = whatif(capsys, cluster, "node/b taint x:NoSchedule", "pod/shop/small delete",
                   "pod/shop/running delete")  # fmt: skip
    before, after = found["before"], found["after"]
    assert (before["outcome"], before["node"]) == ("pending", "")
    assert before["message"].startswith("0/2 nodes are available: 2 Insufficient cpu.")
    assert "cpu" in before["lead"]["text"]
    assert (after["outcome"], after["node"], after["lead"]) == ("bound", "a", None)
    change = {"change": "pod/shop/running delete", "sentence": "delete pod shop/running"}
    assert found["changes"][2] == change
    assert others(found) == {"shop/running": "gone", "shop/small": "gone"}


def test_others_that_end_differently(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = whatif(capsys, cluster, "pod/shop/big set spec.priority=10")
    assert others(found) == {"shop/running": "evicted"}
    assert found["after"]["node"] == "a"
    found = whatif(capsys, cluster, "node/a drain")
    assert others(found) == {"shop/running": "newly pending"}
    found = whatif(capsys, cluster, "node/b cordon")
    assert others(found) == {"shop/small": "newly pending"}
    found = whatif(capsys, cluster, "node/b copies 1", "node/b cordon")
    assert others(found) == {"shop/small": "moved"}
    found = whatif(capsys, cluster, "replicaset/shop/r scale 2")
    (what,) = others(found).values()
    assert what == "new, pending"


def test_text(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    changes = ["--change=pod/shop/running delete", "--change=pod/shop/small delete"]
    assert main(["whatif", cluster, "--pod=shop/big", *changes]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:3] == ["With", "  delete pod shop/running", "  delete pod shop/small"]
    assert lines[3:6] == ["", "shop/big", "  before  pending"]
    assert "  after   on a" in lines
    assert "  shop/running gone, was on a" in lines
    assert main(["whatif", cluster, "--pod=shop/big", "--change=seed 5"]) == 0
    assert "No other pod ends differently" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "code", "text"),
    [
        (["--pod=shop/big"], 2, "Give --change at least once"),
        (["--pod=shop/none", "--change=seed 5"], 1, "there is no pod shop/none, neither before"),
    ],
)
def test_refusals(
    options: list[str], code: int, text: str, cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["whatif", cluster, *options]) == code
    assert text in capsys.readouterr().err


def test_a_change_in_the_middle(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    """The small pod has had its cycle by then, so it stays where it is."""
    change = "--change=pod/shop/running delete"
    assert main(["whatif", cluster, "--pod=shop/small", change, "--fork-at=2"]) == 0
    assert "at cycle 2: delete pod shop/running" in capsys.readouterr().out
