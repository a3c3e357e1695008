"""Which other plugins would also have turned a node down, asked over REST."""

from __future__ import annotations

from typing import Any

import pytest

from kviz.runs.execution.engine import max_cycle
from kviz.runs.models import Run
from kviz.runs.reading import reenactment
from tests.web.cast import CLUSTER, NODES, Person, pod, problem

PICKY = pod("picky", "64", nodeSelector="{disk: ssd}", priority="-1")
NO_LABEL = {
    "plugin": "NodeAffinity",
    "code": "UnschedulableAndUnresolvable",
    "reasons": ["node(s) didn't match Pod's node affinity/selector"],
}
TOO_BIG = {
    "plugin": "NodeResourcesFit",
    "code": "UnschedulableAndUnresolvable",
    "reasons": ["Insufficient cpu"],
}


def also(person: Person, run: Run, cycle: int) -> Any:
    return person.get(f"/runs/{run.pk}/cycles/{cycle}/also/")


def cycle_of(person: Person, run: Run, name: str) -> int:
    cycles = person.get(f"/runs/{run.pk}/cycles/").json()["cycles"]
    return next(int(each["cycle"]) for each in cycles if each["pod"] == name)


@pytest.fixture
def run(ada: Person) -> Run:
    return ada.finished(CLUSTER + PICKY)


def test_what_the_scheduler_did_not_get_to(ada: Person, run: Run) -> None:
    cycle = cycle_of(ada, run, "shop/picky")
    recorded = ada.get(f"/runs/{run.pk}/cycles/{cycle}/").json()
    assert recorded["filter"] == {"north": NO_LABEL, "south": NO_LABEL}

    answer = also(ada, run, cycle)
    assert answer.status_code == 200
    document = answer.json()
    assert document == {
        "cycle": cycle,
        "pod": "shop/picky",
        "note": reenactment.NOTE,
        "pre_filter": [],
        "also": {"north": [TOO_BIG], "south": [TOO_BIG]},
        "release_text": run.release_text,
    }
    assert document["note"].startswith("Beyond what kube-scheduler computes")


def test_one_reason_is_all(ada: Person, run: Run) -> None:
    document = also(ada, run, cycle_of(ada, run, "shop/giant")).json()
    assert document["also"] == {}


def test_a_cycle_that_found_a_node(ada: Person, run: Run) -> None:
    assert also(ada, run, 1).json()["also"] == {}


def test_a_run_that_goes_on_is_answered_too(ada: Person) -> None:
    run = ada.finished(CLUSTER + PICKY)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING)
    assert also(ada, run, 1).status_code == 200


def test_a_pod_that_pre_filter_turns_down(ada: Person) -> None:
    """The scheduler looked at no node; the others would have found it too big."""
    claim = "[{name: v, persistentVolumeClaim: {claimName: missing}}]"
    run = ada.finished(NODES + pod("unclaimed", "64", volumes=claim))
    recorded = ada.get(f"/runs/{run.pk}/cycles/1/").json()
    assert recorded["pre_filter"]["status"]["plugin"] == "VolumeRestrictions"
    assert recorded["filter"] == {}
    document = also(ada, run, 1).json()
    for node in ("north", "south"):
        too_big, limits = document["also"][node]
        assert too_big == TOO_BIG
        assert limits["plugin"] == "NodeVolumeLimits"
    assert [each["plugin"] for each in document["pre_filter"]] == ["VolumeBinding", "VolumeZone"]


def test_the_answer_is_kept(ada: Person, run: Run) -> None:
    cycle = cycle_of(ada, run, "shop/picky")
    first = also(ada, run, cycle).json()
    Run.objects.filter(pk=run.pk).update(scheduler_config="no configuration at all")
    assert also(ada, run, cycle).json() == first
    problem(also(ada, run, 1), 409)


def test_what_is_not_there(ada: Person, run: Run) -> None:
    problem(also(ada, run, 99), 404)


# ---------------------------------------------------------------- refusals


def test_too_far_into_a_run(ada: Person, run: Run, settings: Any) -> None:
    settings.MAX_REENACTED_CYCLES = 2
    assert max_cycle(2) == 3
    assert also(ada, run, 3).status_code == 200
    refused = problem(also(ada, run, 4), 409)
    assert refused["type"] == "urn:kviz:problem:cannot-reenact"
    assert "the limit for 2 nodes is cycle 3" in refused["detail"]
    assert "Choose an earlier cycle" in refused["detail"]


@pytest.mark.parametrize(
    ("n_nodes", "cycles"), [(0, 20_000), (100, 18_181), (1_000, 10_000), (5_000, 3_333)]
)
def test_how_far(n_nodes: int, cycles: int) -> None:
    assert max_cycle(n_nodes) == cycles


def test_a_run_of_another_engine(ada: Person, run: Run) -> None:
    Run.objects.filter(pk=run.pk).update(engine_version="0.0.9+k8s.1.35")
    assert "made by engine 0.0.9+k8s.1.35" in problem(also(ada, run, 1), 409)["detail"]


def test_a_run_without_what_its_extenders_answered(ada: Person) -> None:
    config = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "extenders:\n- {urlPrefix: 'http://127.0.0.1:9', filterVerb: filter, ignorable: true}\n"
    )
    run = ada.finished(NODES + pod("web"), scheduler_config=config)
    run.extender_answers.all().delete()
    detail = problem(also(ada, run, 1), 409)["detail"]
    assert "What its extenders answered was not recorded" in detail


def test_a_cycle_that_goes_another_way(ada: Person, run: Run) -> None:
    """The recorded verdicts are never contradicted."""
    without = (
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
        "profiles:\n- plugins: {filter: {disabled: [{name: NodeAffinity}]}}\n"
    )
    cycle = cycle_of(ada, run, "shop/picky")
    Run.objects.filter(pk=run.pk).update(scheduler_config=without)
    assert "this cycle differs from the record" in problem(also(ada, run, cycle), 409)["detail"]
    assert also(ada, run, 1).status_code == 200


def test_plugins_that_are_gone(ada: Person, run: Run) -> None:
    gone = {"name": "Gone", "package": "gone", "version": "1"}
    Run.objects.filter(pk=run.pk).update(out_of_tree_plugins=[gone])
    assert "Gone from gone 1" in problem(also(ada, run, 1), 409)["detail"]


def test_the_schema_knows_it(ada: Person) -> None:
    schema = ada.get("/schema/", data={"format": "json"}).json()
    operation = schema["paths"]["/api/v1/runs/{run_id}/cycles/{cycle}/also/"]["get"]
    assert "more than the scheduler computes" in operation["description"]


def test_what_plugins_prepared(ada: Person, run: Run) -> None:
    cycle = cycle_of(ada, run, "shop/picky")
    document = ada.get(f"/runs/{run.pk}/cycles/{cycle}/state/").json()

    assert (document["cycle"], document["pod"]) == (cycle, "shop/picky")
    assert document["note"] == reenactment.STATE_NOTE
    prepared = {each["plugin"]: each for each in document["pre_filter"]}
    assert prepared["NodeAffinity"]["state"] == {"nodeSelector": {"disk": "ssd"}, "terms": None}
    assert prepared["NodeResourcesFit"]["state"] == {"cpu": 64_000}
    assert prepared["NodePorts"] == {"plugin": "NodePorts", "skipped": True, "state": None}
    assert document["pre_score"] == []
    problem(ada.get(f"/runs/{run.pk}/cycles/99/state/"), 404)


def test_a_state_too_long_to_read_is_cut(ada: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reenactment, "MAX_ENTRIES", 1)
    many = pod("many", hostNetwork="true", nodeSelector="{a: x, b: y, c: z}")
    run = ada.finished(NODES + many)
    document = ada.get(f"/runs/{run.pk}/cycles/1/state/").json()
    state = next(e["state"] for e in document["pre_filter"] if e["plugin"] == "NodeAffinity")
    assert state == {"nodeSelector": {"a": "x", "…": "2 more"}, "…": "1 more"}
