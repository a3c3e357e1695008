"""`kviz rehearse`: its text, its JSON and its exit codes, over one small cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kviz.cli.main import main

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: n, labels: {kubernetes.io/hostname: n}}
status:
  allocatable: {cpu: "1", pods: "10"}
  nodeInfo: {kubeletVersion: v1.36.1}
---
apiVersion: v1
kind: Pod
metadata: {name: gated, namespace: shop}
spec:
  priority: 9
  schedulingGates: [{name: g}]
  containers: [{name: c, resources: {requests: {cpu: "1"}}}]
status: {nominatedNodeName: n}
---
apiVersion: v1
kind: Pod
metadata: {name: low, namespace: shop}
spec:
  containers: [{name: c, resources: {requests: {cpu: "1"}}}]
"""


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER)
    return str(path)


def test_a_pod_is_told_with_the_change_that_keeps_it_pending(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rehearse", cluster, "--to", "1.37"]) == 1
    text = capsys.readouterr().out
    assert text.startswith(
        "From Kubernetes v1.36.2 (nodes say v1.36.1) to v1.37.2: 1 pod ends otherwise.\n"
    )
    assert "gated_pods_nominated (#139057): 1 pod. A gated pod" in text
    assert "Nothing keeps the old behaviour." in text
    gates = "DRADeviceTaints=false,GangScheduling=false"
    assert main(["rehearse", cluster, "--to", "1.37", "--json", "--feature-gates", gates]) == 1
    document = json.loads(capsys.readouterr().out)
    (pending,) = document["newly_pending"]
    assert (pending["pod"], pending["a"]) == ("shop/low", "n")
    assert pending["because"] == ["gated_pods_nominated"]
    assert (document["from"], document["to"], document["identical"]) == ("1.36.2", "1.37.2", False)
    (switch,) = document["switches"]
    assert (switch["upstream"], switch["undo"], switch["pods"]) == ("#139057", None, 1)
    assert document["refused"].keys() == {"DRADeviceTaints", "GangScheduling"}


def test_exit_codes_say_whether_pods_end_otherwise(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rehearse", cluster, "--to", "1.36.3"]) == 0
    assert "no pod ends otherwise" in capsys.readouterr().out
    assert main(["rehearse", cluster, "--to", "1.36.2"]) == 2
    assert "follows v1.36.2 (nodes say v1.36.1) already" in capsys.readouterr().err
