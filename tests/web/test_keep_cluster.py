"""A moment of a run is kept as a cluster, and a cluster leaves as YAML that kviz reads."""

from __future__ import annotations

import io
from http import HTTPStatus

import pytest

from kviz.runs import services
from kviz.runs.models import Run
from kviz.samples import Sample
from kviz.snapshots.models import Snapshot
from kviz.snapshots.samples import SAMPLES
from kviz.snapshots.selectors import snapshot_objects
from scheduler_core.api import Pod
from scheduler_core.api.ingest import ingest
from tests.web.cast import Person, execute, problem
from tests.web.test_saved_runs import body

pytestmark = pytest.mark.django_db


def kept(someone: Person, run: Run, cycle: int) -> Snapshot:
    answer = someone.post(f"/runs/{run.pk}/cycles/{cycle}/snapshot/", {})
    assert answer.status_code == HTTPStatus.CREATED, answer.content
    return Snapshot.objects.get(pk=answer.json()["id"])


def nodes_of_pods(snapshot: Snapshot) -> dict[str, str]:
    return {each.name: each.spec.node_name for each in snapshot_objects(snapshot=snapshot).of(Pod)}


def test_what_is_bound_by_then_is_bound_and_the_rest_is_pending(ada: Person) -> None:
    run = ada.finished()
    first, last = kept(ada, run, 1), kept(ada, run, run.cycles)
    assert nodes_of_pods(first) == nodes_of_pods(ada.snapshot())
    placed = {name for name, node in nodes_of_pods(last).items() if node}
    assert {"old", "web-0", "web-1"} <= placed
    assert not {"giant", "gated"} & placed
    assert last.name == "cluster, cycle 5"
    assert last.counts == {"Node": 2, "Pod": 7}


def test_a_run_over_the_kept_cluster_ends_as_the_run_did(ada: Person) -> None:
    run = ada.finished()
    again = services.run_create(workspace=ada.workspace, snapshot=kept(ada, run, 3))
    execute(worker="test")
    again.refresh_from_db()
    assert (again.bound, again.pending) == (run.bound, run.pending)


def test_the_same_moment_is_kept_once(ada: Person) -> None:
    run = ada.finished()
    assert kept(ada, run, 2) == kept(ada, run, 2)


def test_a_cycle_that_is_not_there_is_refused(ada: Person) -> None:
    run = ada.finished()
    problem(ada.post(f"/runs/{run.pk}/cycles/99/snapshot/", {}), HTTPStatus.NOT_FOUND)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.slug)
def test_a_cluster_as_yaml_is_read_as_the_same_cluster(ada: Person, sample: Sample) -> None:
    snapshot = ada.snapshot(sample.path.read_text(encoding="utf-8"))
    answer = ada.get(f"/snapshots/{snapshot.pk}/yaml/")
    assert answer.headers["Content-Type"] == "application/yaml"
    assert "cluster.yaml" in answer.headers["Content-Disposition"]
    again = ingest([("cluster.yaml", io.BytesIO(body(answer)))])
    assert not again.errors
    assert again.objects == snapshot_objects(snapshot=snapshot)
