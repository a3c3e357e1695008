"""`kviz nodes`: the JSON that scripts read, the tables, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import main
from tests.cluster_text import node, pod

CLUSTER = (
    node("a", "4", "8Gi", "10", labels={"pool": "general"})
    + node("b", "4", "8Gi", "10", labels={"pool": "general"})
    + pod("web-1", "1", owner=("ReplicaSet", "web"), phase="Running", nodeName="a")
    + pod("big", "6")
)
SHAPES = """\
shapes:
- {name: wide, allocatable: {cpu: "8", memory: 16Gi}, price: 0.5}
pools:
- {name: general, price: 0.2}
"""


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    cluster, shapes = tmp_path / "cluster.yaml", tmp_path / "shapes.yaml"
    cluster.write_text(CLUSTER)
    shapes.write_text(SHAPES)
    return [str(cluster), f"--shapes={shapes}"]


def answer(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["nodes", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_json(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, *files)
    add = found["add"]
    assert add["nodes"] == [{"offer": "wide", "count": 1, "price": 0.5}]
    assert (add["price"], add["proven_minimal"]) == (0.5, True)
    assert add["placed"] == {"default/big": "wide-copy-1"}
    assert [each["node"] for each in found["drain"]["nodes"]] == ["b"]
    assert (found["drain"]["tried"], found["drain"]["of"]) == (2, 2)


def test_without_shapes_nothing_helps(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    add = answer(capsys, files[0])["add"]
    assert (add["count"], add["price"]) == (0, None)
    assert [each["pod"] for each in add["unhelped"]] == ["default/big"]


def test_text(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nodes", *files]) == 0
    text = capsys.readouterr().out
    assert "Add 1 node for 0.5, and 1 pending pod binds:" in text
    assert "A run proves it, and no set that costs less will do" in text
    assert "1 node can go with everything still placed" in text


@pytest.mark.parametrize(
    ("shapes", "says"),
    [
        ("pools: [{name: absent, price: 1}]", "there is no pool absent; there is general"),
        ("shapes: [{name: a, allocatable: {cpu: 1}}]", "a is the name of a node"),
        ("shapes: 3", "shapes: expected a list"),
    ],
)
def test_shapes_that_are_wrong(
    files: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], shapes: str, says: str
) -> None:
    (tmp_path / "shapes.yaml").write_text(shapes)
    assert main(["nodes", *files]) == 1
    assert says in capsys.readouterr().err


def test_limits_that_make_no_sense(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["nodes", *files, "--max-runs=0"]) == 2
    assert "--max-runs is 1 or more" in capsys.readouterr().err
