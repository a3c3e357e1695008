"""`kviz diff` as a script calls it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kviz.cli import main
from tests.cluster_text import node, pod

CLUSTER = (
    node("small", "2", "4Gi", "10")
    + node("large", "8", "8Gi", "10")
    + pod("web", "1", "3Gi", namespace="shop")
)
PACKED = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args:
      scoringStrategy:
        type: MostAllocated
        resources: [{name: cpu, weight: 1}, {name: memory, weight: 1}]
"""


@pytest.fixture
def cluster(tmp_path: Path) -> Path:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    return file


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    file = tmp_path / "packed.yaml"
    file.write_text(PACKED)
    return file


def diff(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, dict[str, object]]:
    code = main(["diff", *map(str, arguments), "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_one_cluster_twice_is_identical(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = diff(capsys, cluster, cluster)

    assert code == 0
    assert document["identical"] is True
    assert document["first_divergence"] is None
    assert document["moved"] == document["newly_bound"] == document["newly_pending"] == []
    assert document["evicted"] == {"a": [], "b": []}


def test_another_configuration_moves_a_pod(
    cluster: Path, packed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, document = diff(capsys, cluster, cluster, "--config-b", packed)

    first = document["first_divergence"]
    assert code == 1
    assert document["identical"] is False
    assert isinstance(first, dict)
    assert (first["cycle"], first["pod"], first["point"], first["plugin"], first["what"]) == (
        *(1, "shop/web", "Score"),
        *("NodeResourcesFit", "raw"),
    )
    assert first["a"] != first["b"]
    assert [(each["pod"], each["a"], each["b"]) for each in document["moved"]] == [  # type: ignore[attr-defined]
        ("shop/web", "large", "small")
    ]


def test_run_files_say_the_same_as_clusters(
    cluster: Path, packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = tmp_path / "a.kviz", tmp_path / "b.kviz"
    main(["simulate", str(cluster), "--trace", str(a)])
    main(["simulate", str(cluster), "--config", str(packed), "--trace", str(b)])
    capsys.readouterr()

    saved = diff(capsys, a, b)

    assert saved == diff(capsys, cluster, cluster, "--config-b", packed)
    assert saved == diff(capsys, a, cluster, "--config", packed)
    assert diff(capsys, a, a)[0] == 0


def test_the_text_leads_with_the_sentence(
    cluster: Path, packed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diff", str(cluster), str(cluster), "--config-b", str(packed)]) == 1
    lines = capsys.readouterr().out.splitlines()

    assert lines[0].startswith("The runs diverge in cycle 1, at shop/web, attempt 1: Score/")
    assert lines[0].endswith("In the end 1 pod is on another node.")
    assert lines[lines.index("Moved") + 1].split() == ["shop/web", "large", "small"]


def test_a_gate_of_one_side_only(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    gate = "gate DRAPartitionableDevices=false"
    code, document = diff(capsys, cluster, cluster, "--change-b", gate)
    inputs = document["inputs"]

    assert code == 0
    assert isinstance(inputs, dict)
    assert inputs["settings"] == [{"name": "gate DRAPartitionableDevices", "a": "", "b": "false"}]


def test_a_change_of_one_side_only(cluster: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, document = diff(capsys, cluster, cluster, "--change-b", "node/large cordon")
    first = document["first_divergence"]

    assert code == 1
    assert isinstance(first, dict)
    assert [first[key] for key in ("point", "plugin", "node", "a", "b")] == [
        *("Filter", "NodeUnschedulable", "large", "passes"),
        "node(s) were unschedulable",
    ]


@pytest.mark.parametrize(
    ("b", "more", "said"),
    [
        ("missing.yaml", (), "missing.yaml: No such file"),
        ("cluster.yaml", ("--config-b", "missing.yaml"), "missing.yaml: No such file"),
        ("cluster.yaml", ("--config-b", "cluster.yaml"), "cluster.yaml: "),
        ("cluster.yaml", ("--change-b", "gate"), "missing bool value"),
        ("cut.kviz", (), "cut.kviz: This file is cut off"),
        ("whole.kviz", ("--seed-b", "3"), "--seed-b: "),
    ],
)
def test_bad_input_is_told_from_runs_that_differ(
    cluster: Path,
    b: str,
    more: tuple[str, ...],
    said: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(cluster.parent)
    main(["simulate", "cluster.yaml", "--trace", "whole.kviz"])
    Path("cut.kviz").write_bytes(Path("whole.kviz").read_bytes()[:-50])
    capsys.readouterr()

    assert main(["diff", "cluster.yaml", b, *more]) == 2
    printed = capsys.readouterr()
    assert said in printed.err
    assert printed.out == ""


def test_options_do_not_change_two_runs_that_are_made(
    cluster: Path, packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made = tmp_path / "a.kviz"
    main(["simulate", str(cluster), "--trace", str(made)])
    capsys.readouterr()

    assert main(["diff", str(made), str(made), "--config", str(packed)]) == 2
    assert "--config: both are runs already" in capsys.readouterr().err
