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


SHAPED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: VolumeBinding
    args: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}
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
        "From Kubernetes v1.36.2 (nodes say v1.36.1) to v1.37.2:\n"
        "1 pod becomes pending, because of #139057.\n"
    )
    assert "shop/low  n        pending  #139057     no gate or argument does" in text
    assert "StorageCapacityScoring changes from false to true" in text


def test_the_document_has_what_the_release_makes_of_the_gates(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    gates = "DRADeviceTaints=false,GangScheduling=false,NodeDeclaredFeatures=true"
    assert main(["rehearse", cluster, "--to", "1.37", "--json", "--feature-gates", gates]) == 1
    document = json.loads(capsys.readouterr().out)
    (pending,) = document["newly_pending"]
    assert (pending["pod"], pending["a"], pending["keep"]) == (
        "shop/low",
        "n",
        "no gate or argument does",
    )
    assert (pending["because"], pending["together"]) == (["gated_pods_nominated"], False)
    assert (document["from"], document["to"], document["identical"]) == ("1.36.2", "1.37.2", False)
    (switch,) = document["switches"]
    assert (switch["upstream"], switch["undo"], switch["pods"]) == ("#139057", None, 1)
    rules = document["configuration"]
    refused = [each["field"] for each in rules["refused"]]
    assert (rules["starts"], refused) == (True, ["GangScheduling", "DRADeviceTaints"])
    assert [each["field"] for each in rules["ignored"]] == ["NodeDeclaredFeatures"]
    assert {"name": "VolumeLimitScaling", "a": "false", "b": "true"} in rules["changed"]


def test_a_configuration_that_is_refused_is_the_answer(
    cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text(SHAPED)
    back = ["--from", "1.37", "--to", "1.36", "--config", str(config)]
    assert main(["rehearse", cluster, *back]) == 1
    text = capsys.readouterr().out
    assert "kube-scheduler v1.36.3 refuses this configuration and does not start.\n" in text
    assert "v1.36.3 refuses profiles[0].pluginConfig[0].args.shape: Invalid value" in text


def test_nothing_is_known_of_the_release_today(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "cluster.yaml"
    path.write_text(CLUSTER.replace("nodeInfo: {kubeletVersion: v1.36.1}", ""))
    assert main(["rehearse", str(path), "--to", "1.37"]) == 1
    assert capsys.readouterr().out.startswith("From Kubernetes v1.36.3 to v1.37.2:\n")


def test_exit_codes_say_whether_pods_end_otherwise(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rehearse", cluster, "--to", "1.36.3"]) == 0
    assert "Every pod ends as before.\n" in capsys.readouterr().out
    assert main(["rehearse", cluster, "--to", "1.36.2"]) == 2
    assert "follows v1.36.2 (nodes say v1.36.1) already" in capsys.readouterr().err
