"""The rehearsal of an upgrade: its form, its job, its page and REST, and the two runs it opens."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kviz.cli.main import main
from kviz.experiments.models import Experiment
from kviz.runs.models import Run
from tests.questions.rehearse.test_command import CLUSTER, SHAPED
from tests.web.cast import Person, execute
from tests.web.test_experiments import carried_out


@pytest.fixture
def finished(ada: Person) -> Experiment:
    sent = {"snapshot": str(ada.snapshot(CLUSTER).pk), "kind": "rehearse", "asked": {"to": "1.37"}}
    assert ada.post("/experiments/", sent).status_code == 201
    return carried_out()


def test_rest_has_what_the_command_prints(
    ada: Person, finished: Experiment, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert finished.status == "finished", finished.error
    document = ada.get(f"/experiments/{finished.pk}/").json()
    cluster = tmp_path / "cluster.yaml"
    cluster.write_text(CLUSTER)
    assert main(["rehearse", str(cluster), "--to", "1.37", "--json"]) == 1
    assert document["answer"] == json.loads(capsys.readouterr().out)
    (pending,) = document["answer"]["newly_pending"]
    assert (pending["pod"], pending["because"]) == ("shop/low", ["gated_pods_nominated"])
    results = ada.get(f"/experiments/{finished.pk}/results/").json()["results"]
    cause = next(each for each in results if each["name"].endswith(" gated_pods_nominated"))
    assert cause["outcome"]["differs"]["end"] == []
    assert sum(each["outcome"]["differs"]["end"] == [] for each in results) == 1


def test_the_page_has_the_answer_first(owner: Person) -> None:
    snapshot = owner.snapshot(CLUSTER)
    form = owner.client.get(f"/experiments/rehearse?snapshot={snapshot.pk}").content.decode()
    assert "auto: 1.36.2 (nodes say v1.36.1)" in form
    assert '<option value="1.37.2" selected>' in form
    sent = {"snapshot": str(snapshot.pk), "from": "auto", "to": "1.37.2"}
    answer = owner.client.post("/experiments/rehearse", sent)
    experiment = carried_out()
    assert answer["Location"] == f"/experiments/{experiment.pk}"
    text = owner.client.get(answer["Location"]).content.decode()
    first, table = text.index("1 pod becomes pending, because of"), text.index("<tbody>")
    assert first < table < text.index("#139057", table)
    assert "no gate or argument does" in text


def test_both_runs_are_made_once_and_compared(owner: Person) -> None:
    sent = {"snapshot": str(owner.snapshot(CLUSTER).pk), "to": "1.37.2"}
    address = owner.client.post("/experiments/rehearse", sent)["Location"]
    carried_out()
    compare = owner.client.post(f"{address}/both")["Location"]
    assert "Waiting for a worker" in owner.client.get(compare).content.decode()
    releases = [execute(worker="w").release for _ in range(2)]
    assert sorted(releases) == ["1.36.2", "1.37.2"]
    assert "The runs diverge in cycle 1, at shop/low" in owner.client.get(compare).content.decode()
    assert owner.client.post(f"{address}/both")["Location"] == compare
    assert Run.objects.count() == 2


def test_what_cannot_be_rehearsed(owner: Person) -> None:
    snapshot = str(owner.snapshot(CLUSTER).pk)
    for sent, why in (
        ({"to": "1.36.2"}, "follows v1.36.2 (nodes say v1.36.1) already"),
        ({"to": "1.35"}, "kviz knows no release"),
        ({"to": "1.37", "scheduler_config": SHAPED}, "unexpected field `shape`"),
        ({"to": "1.37", "feature_gates": "Nope=true"}, "unrecognized feature gate: Nope"),
        ({"to": "1.37", "feature_gates": "Nope"}, "Nope"),
    ):
        answer = owner.client.post("/experiments/rehearse", {"snapshot": snapshot, **sent})
        assert answer.status_code == 400
        assert why in answer.content.decode()


def test_a_refused_configuration_is_the_answer(owner: Person) -> None:
    sent = {
        "snapshot": str(owner.snapshot(CLUSTER).pk),
        "from": "1.37.2",
        "to": "1.36.3",
        "scheduler_config": SHAPED,
        "feature_gates": "StorageCapacityScoring=true",
    }
    address = owner.client.post("/experiments/rehearse", sent)["Location"]
    experiment = carried_out()
    assert experiment.answer["configuration"]["starts"] is True
    sent["feature_gates"] = ""
    address = owner.client.post("/experiments/rehearse", sent)["Location"]
    carried_out()
    text = owner.client.get(address).content.decode()
    assert "refuses this configuration and does not start" in text
