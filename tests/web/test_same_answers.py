"""What REST answers is what the command prints as JSON, for the same cluster.

The command adds what it was asked with and what was missing, which over REST stand beside the
answer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kviz.cli import main
from kviz.experiments.execution.carry_out import experiment_carry_out
from kviz.experiments.execution.claim import experiment_claim
from kviz.experiments.models import Experiment
from tests.web.cast import CLUSTER, Person, pod

BIG = pod("big", "2").removeprefix("---\n")
BESIDE = (
    "changes", "featureGates", "incomplete", "notModelled", "release", "releaseText",
    "release_text",
)  # fmt: skip
RULES = "- {name: web binds, bind: {pods: {name: web-0}}}\n- {name: all bind, bind: {pods: {}}}\n"


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER)
    return str(path)


def written(folder: str, name: str, text: str) -> str:
    path = Path(folder).with_name(name)
    path.write_text(text)
    return str(path)


def printed(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    assert main([*arguments, "--json"]) == code
    return without(json.loads(capsys.readouterr().out), *BESIDE)


def experiment(ada: Person, kind: str, **asked: Any) -> Any:
    given = {"snapshot": str(ada.snapshot().pk), "kind": kind, "asked": asked}
    number = ada.post("/experiments/", given).json()["id"]
    claimed = experiment_claim(worker="w")
    assert claimed is not None
    experiment_carry_out(experiment=claimed, worker="w")
    assert Experiment.objects.get(pk=number).status == "finished"
    return ada.get(f"/experiments/{number}/").json()["answer"]


def without(document: Any, *names: str) -> Any:
    return {name: value for name, value in document.items() if name not in names}


@pytest.mark.django_db
def test_rules(ada: Person, cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    run = ada.finished()
    verdicts = ada.post(f"/runs/{run.pk}/rules/", {"rules": RULES}).json()
    rules = written(cluster, "rules.yaml", RULES)
    assert without(verdicts, *BESIDE) == printed(
        capsys, "check", cluster, f"--rules={rules}", code=1
    )


@pytest.mark.django_db
@pytest.mark.parametrize("pod", ["shop/giant", "shop/gated"])
def test_unblock(ada: Person, cluster: str, capsys: pytest.CaptureFixture[str], pod: str) -> None:
    expected = printed(capsys, "unblock", cluster, f"--pod={pod}", "--jobs=1")
    assert expected["answers"]
    assert experiment(ada, "unblock", pod=pod) == expected


@pytest.mark.django_db
def test_capacity(ada: Person, cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = experiment(ada, "capacity", templates=[{"manifest": BIG}])
    pasted = written(cluster, "big.yaml", BIG)
    expected = printed(capsys, "capacity", cluster, f"--pod={pasted}")
    assert without(found, "alone") == expected


@pytest.mark.django_db
def test_nodes(ada: Person, cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = printed(capsys, "nodes", cluster, "--jobs=1")
    assert experiment(ada, "nodes") == expected


@pytest.mark.django_db
def test_luck(ada: Person, cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    expected = printed(capsys, "luck", cluster, "--runs=10", "--jobs=1")
    assert experiment(ada, "luck", runs=10) == expected


@pytest.mark.django_db
def test_survive_sets(ada: Person, cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    sets = [["north", "south"], ["south"]]
    answer = experiment(ada, "survive", of="sets", sets=sets)
    expected = printed(capsys, "survive", cluster, "--set=north,south", "--set=south", "--jobs=1")
    assert (answer["ranking"], answer["before"]) == (expected["ranking"], expected["before"])
    assert answer["variants"] == 2


@pytest.mark.django_db
def test_survive(ada: Person, cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer = experiment(ada, "survive", of="zones")
    number = Experiment.objects.get().pk
    results = ada.get(f"/experiments/{number}/results/").json()["results"]
    losses = [each["outcome"] for each in results if each["variant"]]
    found = {"losses": losses, "ranking": answer["ranking"], "before": answer["before"]}
    expected = printed(capsys, "survive", cluster, "--zones", "--jobs=1")
    assert found == expected
