"""A finished pod is on no node, whatever its spec says: all counts of pods on nodes agree."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kviz.cli import main
from kviz.snapshots.summary import summarise
from scheduler_core.api.ingest import ingest
from tests.cluster_text import node, pod
from tests.web.cast import Person

CLUSTER = (
    node("n1", "4", "8Gi", "10")
    + pod("web", "1", namespace="shop", uid="u1", phase="Running", nodeName="n1")
    + pod("done", "3", namespace="shop", uid="u2", phase="Succeeded", nodeName="n1")
    + pod("ends", "1", namespace="shop", uid="u3", phase="Running", nodeName="n1")
    + pod("new", "2", namespace="shop", uid="u4")
)
SCENARIO = """\
steps:
- at: 5s
  patch: {kind: Pod, name: ends, namespace: shop, merge: {status: {phase: Failed}}}
"""


def test_before_the_run_two_are_on_the_node() -> None:
    found = summarise(ingest([("cluster.yaml", CLUSTER.encode())]).objects)
    assert (found.n_bound, found.n_finished, len(found.pending)) == (2, 1, 1)


def test_after_it_pages_rest_and_commands_count_the_same(
    owner: Person, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = owner.finished(CLUSTER, scenario=SCENARIO)
    assert owner.get(f"/runs/{run.pk}/").json()["bound"] == 2
    page = " ".join(owner.client.get("/runs/").content.decode().split())
    assert "2 on nodes, 0 pending" in page

    (cluster := tmp_path / "cluster.yaml").write_text(CLUSTER)
    (scenario := tmp_path / "scenario.yaml").write_text(SCENARIO)
    assert main(["simulate", str(cluster), "--scenario", str(scenario), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["bound"] == 2
