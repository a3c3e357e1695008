"""`kviz bench --answers`: every question that a cluster allows, and what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import bench_answers, main

CLINIC = Path("kviz/samples/clusters/why-pending.yaml")
EMPTY = """\
apiVersion: v1
kind: Node
metadata: {name: a}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""


def measured(capsys: pytest.CaptureFixture[str], *files: Path) -> list[dict[str, Any]]:
    assert main(["bench", "--answers", *map(str, files), "--json"]) == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)["answers"]
    return found


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench_answers, "N_ITERATIONS", 1_000)
    monkeypatch.setattr("kviz.questions.luck.answer.RUNS", 4)
    monkeypatch.setattr("kviz.questions.luck.answer.MIN_RUNS", 4)


@pytest.mark.usefixtures("quick")
def test_each_question_is_answered_and_timed(capsys: pytest.CaptureFixture[str]) -> None:
    found = measured(capsys, CLINIC)
    answers = {each["question"]: each["answer"] for each in found}
    assert list(answers) == ["unblock", "capacity", "nodes", "survive", "luck"]
    assert answers["unblock"].startswith("clinic/analytics-0: 3 answers")
    assert answers["luck"].startswith("4 runs")
    assert answers["survive"] == "2 zones lost in turn"
    for each in found:
        assert each["cluster"] == "why-pending"
        assert 0 < each["first_s"] <= each["took_s"]


@pytest.mark.usefixtures("quick")
def test_a_cluster_without_pods_is_not_asked_about_them(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "empty.yaml"
    file.write_text(EMPTY)
    assert [each["question"] for each in measured(capsys, file)] == ["nodes", "survive", "luck"]


def test_a_file_without_nodes_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "none.yaml"
    file.write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: a}\n")
    assert main(["bench", "--answers", str(file)]) != 0
    assert "there is no node in it" in capsys.readouterr().err
