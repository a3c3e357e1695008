"""A finished pod is on no node, whatever its spec says: all counts of pods on nodes agree."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from kviz.cli import main
from kviz.snapshots.summary import summarise
from scheduler_core.api.ingest import ingest
from tests.web.cast import Person

CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, uid: u1}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: done, namespace: shop, uid: u2}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "3"}}}]}
status: {phase: Succeeded}
---
apiVersion: v1
kind: Pod
metadata: {name: ends, namespace: shop, uid: u3}
spec: {nodeName: n1, containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
status: {phase: Running}
---
apiVersion: v1
kind: Pod
metadata: {name: new, namespace: shop, uid: u4}
spec: {containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
"""
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
    assert re.findall(r"<td class=\"number\">(\d+)</td>", page) == ["1", "2", "0"]

    (cluster := tmp_path / "cluster.yaml").write_text(CLUSTER)
    (scenario := tmp_path / "scenario.yaml").write_text(SCENARIO)
    assert main(["simulate", str(cluster), "--scenario", str(scenario), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["bound"] == 2
