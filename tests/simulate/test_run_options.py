"""What the command line lets one choose of a run: gates, the rule for ties, the order of pods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from kviz.cli import main
from kviz.run_file import Inputs, read_records
from scheduler_core.releases import LATEST

CLUSTER = """\
apiVersion: v1
kind: Node
metadata: {name: a}
status:
  allocatable: {cpu: "2", memory: 4Gi, pods: "10"}
  nodeInfo: {kubeletVersion: v1.36.2}
---
apiVersion: v1
kind: Node
metadata: {name: b}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Node
metadata: {name: c}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: second, namespace: shop}
spec: {containers: [{name: c, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: first, namespace: shop}
spec: {resources: {requests: {cpu: "9"}}, containers: [{name: c}]}
"""


@pytest.fixture
def cluster(tmp_path: Path) -> str:
    file = tmp_path / "cluster.yaml"
    file.write_text(CLUSTER)
    return str(file)


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> Mapping[str, object]:
    assert main([*arguments, "--format", "json"]) == 0
    found: Mapping[str, object] = json.loads(capsys.readouterr().out)
    return found


NO_POD_LEVEL = "PodLevelResources=false,InPlacePodLevelResourcesVerticalScaling=false"


@pytest.mark.parametrize(
    "options",
    [
        ["--feature-gates", NO_POD_LEVEL],
        ["--feature-gates", NO_POD_LEVEL.replace("false", "0")],
        [f"--feature-gates={part}" for part in NO_POD_LEVEL.split(",")],
        [f"--change=gate {part}" for part in NO_POD_LEVEL.split(",")],
    ],
)
def test_gates_are_switched(
    options: list[str], cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    usual = document(capsys, "simulate", cluster)
    assert (usual["pending"], usual["featureGates"]) == (["shop/first"], {})
    switched = document(capsys, "simulate", cluster, *options)
    assert switched["pending"] == []
    assert switched["featureGates"] == {
        "InPlacePodLevelResourcesVerticalScaling": False,
        "PodLevelResources": False,
    }
    explained = document(capsys, "explain", cluster, "--pod", "shop/first", *options)
    assert explained["status"] == "schedulable"
    assert explained["release"] == "1.36.2"
    assert explained["featureGates"] == switched["featureGates"]


def test_what_is_explained_says_what_it_follows(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--feature-gates=VolumeLimitScaling=true"]
    assert document(capsys, "explain", cluster, *options)["release"] == "1.36.2"
    for more in ([], ["--pod=shop/first"]):
        for form in ("text", "markdown"):
            assert main(["explain", cluster, *options, *more, "--format", form]) == 0
            last = capsys.readouterr().out.splitlines()[-1]
            assert (
                last
                == "Kubernetes v1.36.2 (nodes say v1.36.2), feature gates VolumeLimitScaling=true"
            )


def test_a_later_setting_of_a_gate_counts(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    flags = "VolumeLimitScaling=true,VolumeLimitScaling=false"
    assert document(capsys, "simulate", cluster, "--feature-gates", flags)["featureGates"] == {}


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--feature-gates=Nope=true"], "unrecognized feature gate: Nope"),
        (["--feature-gates=GangScheduling=true"], "does not model pod groups"),
        (["--feature-gates=SidecarContainers=false"], "feature is locked to true"),
        (["--feature-gates=VolumeLimitScaling"], "missing bool value for VolumeLimitScaling"),
        (["--feature-gates=VolumeLimitScaling=yes"], "invalid value of VolumeLimitScaling=yes"),
        (["--change=gate VolumeLimitScaling"], "missing bool value"),
        (["--change=gate Nope=true"], "unrecognized feature gate: Nope"),
    ],
)
@pytest.mark.parametrize("command", [["simulate"], ["explain", "--pod=shop/first"]])
def test_wrong_gates_are_wrong_usage(
    command: list[str],
    options: list[str],
    text: str,
    cluster: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([*command, cluster, *options]) == 2
    assert text in capsys.readouterr().err


def test_a_scenario_switches_gates_unless_the_command_line_does(
    cluster: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scenario = tmp_path / "scenario.yaml"
    scenario.write_text("featureGates: {VolumeLimitScaling: true}\n")
    run = ["simulate", cluster, "--scenario", str(scenario)]
    assert document(capsys, *run)["featureGates"] == {"VolumeLimitScaling": True}
    against = document(capsys, *run, "--feature-gates=VolumeLimitScaling=false")
    assert against["featureGates"] == {}

    scenario.write_text("steps: []\nfeatureGates:\n  GenericWorkload: true\n")
    assert main(run) == 1
    assert "line 3" in (said := capsys.readouterr().err)
    assert "does not model pod groups" in said


def test_ties_are_drawn_with_the_seed(cluster: str, capsys: pytest.CaptureFixture[str]) -> None:
    def node(*options: str) -> object:
        cycles = document(capsys, "simulate", cluster, *options)["cycles"]
        assert isinstance(cycles, list)
        return next(c["node"] for c in cycles if c["pod"] == "shop/second")

    drawn = {node("--tie-break=draw", f"--seed={seed}") for seed in range(12)}
    assert drawn == {"a", "b", "c"}
    assert {node(f"--seed={seed}") for seed in range(4)} == {node()}


def test_the_order_of_pending_pods_is_chosen(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def tried(*options: str) -> list[str]:
        cycles = document(capsys, "simulate", cluster, *options)["cycles"]
        assert isinstance(cycles, list)
        return [cycle["pod"] for cycle in cycles]

    assert tried() == ["shop/second", "shop/first"]
    assert tried("--queue-order=name") == ["shop/first", "shop/second"]


def test_the_table_says_what_it_was_made_with(
    cluster: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["simulate", cluster]) == 0
    assert "\nKubernetes v1.36.2 (nodes say v1.36.2)\n" in capsys.readouterr().out
    options = ["--tie-break=draw", "--seed=7", "--queue-order=created"]
    assert main(["simulate", cluster, "--change=gate VolumeLimitScaling=true", *options]) == 0
    assert (
        "\nKubernetes v1.36.2 (nodes say v1.36.2), feature gates VolumeLimitScaling=true; "
        "ties by draw, seed 7; pending pods queued by created\n"
    ) in capsys.readouterr().out


def test_a_run_file_has_the_options(cluster: str, tmp_path: Path) -> None:
    file = tmp_path / "run.kviz"
    options = ["--tie-break=draw", "--queue-order=name", "--feature-gates=VolumeLimitScaling=true"]
    assert main(["simulate", cluster, "--trace", str(file), *options]) == 0
    with file.open("rb") as opened:
        inputs = next(read_records(opened))
    assert isinstance(inputs, Inputs)
    assert (inputs.release, inputs.release_told) == ("1.36.2", "nodes v1.36.2")
    assert inputs.feature_gates == {"VolumeLimitScaling": True}
    assert (inputs.tie_break, inputs.queue_order) == ("draw", "name")


def test_the_taints_of_near_misses_follow_the_gate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With comparison operators the first taint is tolerated, and only the other one left."""
    file = tmp_path / "cluster.yaml"
    file.write_text("""\
apiVersion: v1
kind: Node
metadata: {name: n}
spec:
  taints:
  - {key: load, value: "5", effect: NoSchedule}
  - {key: gpu, effect: NoSchedule}
status: {allocatable: {cpu: "2", memory: 4Gi, pods: "10"}}
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: shop}
spec:
  tolerations: [{key: load, operator: Lt, value: "9"}]
  containers: [{name: c}]
""")

    def taints(*options: str) -> object:
        explained = document(capsys, "explain", str(file), "--pod=shop/p", *options)
        nearest = explained["nearest"]
        assert isinstance(nearest, list)
        assert len(nearest) == 1
        return nearest[0]["taints"]

    assert taints() == ["load=5:NoSchedule", "gpu:NoSchedule"]
    assert taints("--feature-gates=TaintTolerationComparisonOperators=true") == ["gpu:NoSchedule"]


def test_gates_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["gates", "--json", "--release", "1.37"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert listed["release"] == "1.37.2"
    by_name = {gate["name"]: gate for gate in listed["gates"]}
    asynchronous = by_name["SchedulerAsyncPreemption"]
    assert asynchronous["default"] is True
    assert asynchronous["switchable"] is True
    assert asynchronous["about"]
    assert by_name["GenericWorkload"]["notModelled"]
    assert by_name["NodeDeclaredFeatures"]["locked"] is True
    assert "SidecarContainers" not in by_name

    assert main(["gates"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"Kubernetes v{LATEST.name}"
    (line,) = (line for line in lines if line.startswith("GenericWorkload "))
    assert line.split()[1:3] == ["off", "beta"]
    assert "cannot be switched on" in line
