"""`kviz luck`: on several processes, as text, as JSON, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import main
from kviz.questions.luck import answer as answers
from kviz.questions.luck import command
from kviz.questions.luck.answer import luck, runs_for
from scheduler_core.sim import RunOptions
from tests.builders import make_node, make_pod
from tests.cluster_text import node, pod

CLUSTER = (
    node("a", "4", "4Gi", "10")
    + node("b", "4", "4Gi", "10")
    + pod("web", "1", namespace="shop")
    + pod("huge", "40", namespace="shop")
)


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER)
    return str(path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    assert main(["luck", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_answer_does_not_depend_on_the_number_of_processes() -> None:
    nodes = [make_node(f"n{i}").cpu(4).obj() for i in range(2)]
    pods = [make_pod(f"p{i}").cpu(3).obj() for i in range(3)]
    made: list[int] = []
    one, three = (
        luck(
            [*nodes, *pods],
            RunOptions(),
            coins=("arrival", "workers"),
            runs=7,
            seed=3,
            jobs=jobs,
            progress=made.append,
        )
        for jobs in (1, 3)
    )
    assert one == three
    assert made == [1, 8, 15, 22] * 2


def test_as_json(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = printed(capsys, cluster, "--runs", "12", "--seed", "2", "--jobs", "1")
    assert (found["runs"], found["asked"], found["seed"], found["tight"]) == (12, 12, 2, False)
    assert found["placements"] == {"made": 1, "held": 0, "always_bound": 1}
    assert [each["coin"] for each in found["coins"]] == ["arrival", "start", "workers", "maps"]
    web, huge = found["pods"]
    assert (web["pod"], web["pinned"], web["deciding"]) == ("shop/web", "a", ["start", "workers"])
    assert [each["node"] for each in web["nodes"]] in (["a", "b"], ["b", "a"])
    assert [each["n"] for each in web["pools"]] == [12]
    assert huge["bound"] == {"n": 0, "share": 0.0, "low": 0.0, "high": 0.2425}
    assert found["lost_node"] == []


def test_one_pod_as_text(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["luck", cluster, "--runs", "12", "--jobs", "1", "--pod", "shop/web"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("Of 1 placement, 0 held in all 12 runs tried; 1 is luck. ")
    assert "shop/web" in out
    assert "shop/huge" not in out
    assert "Wilson intervals at 95 %" in out


def test_changes_and_coins_are_taken(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ("--runs", "10", "--jobs", "1", "--choices", "draws", "--change", "node/b cordon")
    found = printed(capsys, cluster, *asked)
    assert found["placements"] == {"made": 1, "held": 1, "always_bound": 1}
    assert [each["coin"] for each in found["coins"]] == ["draws"]


@pytest.mark.parametrize(
    ("asked", "code", "says"),
    [
        (("--choices", "dice"), 2, "there is no 'dice'"),
        (("--runs", "0"), 2, "--runs must be from 1"),
        (("--pod", "shop/nobody"), 1, "there is no pod shop/nobody"),
    ],
)
def test_what_is_refused(
    cluster: str,
    asked: tuple[str, str],
    code: int,
    says: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["luck", cluster, *asked]) == code
    assert says in capsys.readouterr().err


class Asked(Exception):
    """Before any run is made."""


def test_fewer_runs_are_made_of_larger_clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    assert [runs_for(n, n_nodes=100) for n in (1, 58, 10_000)] == [1000, 200, 100]
    monkeypatch.setattr(answers, "WORK", 1)

    def begin(n_runs: int) -> None:
        raise Asked(n_runs)

    objects = [make_node("n").obj(), make_pod("p").obj()]
    with pytest.raises(Asked, match=r"^100$"):
        luck(objects, RunOptions(), coins=("draws",), runs=None, seed=0, jobs=1, begin=begin)


def test_what_takes_long_is_announced(
    cluster: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = ["luck", cluster, "--runs", "3", "--jobs", "1", "--choices", "draws"]
    monkeypatch.setattr(command, "ROUND", 1)
    monkeypatch.setattr(command, "LONG_S", 3600)
    assert main(asked) == 0
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(command, "LONG_S", 0)
    assert main(asked) == 0
    assert "3 are made, or fewer once every interval is tight" in capsys.readouterr().err
