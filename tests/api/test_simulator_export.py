"""Exports of kube-scheduler-simulator, as its API (JSON) and its web page (YAML) write them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from kviz.following.simulator import beside_simulator
from scheduler_core.api.ingest import Ingested, ingest
from scheduler_core.config import load_configuration
from scheduler_core.scheduler.assembly import SchedulerOptions

PREFIX = "kube-scheduler-simulator.sigs.k8s.io/"


def node(name: str, cpu: str) -> dict[str, Any]:
    room = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {"metadata": {"name": name}, "spec": {}, "status": {"allocatable": room}}


def pod(name: str, cpu: str, created: str, said: dict[str, Any], on: str = "") -> dict[str, Any]:
    """A pod as the simulator leaves it, with what it wrote."""
    annotations = {
        f"{PREFIX}{key}": value if isinstance(value, str) else json.dumps(value)
        for key, value in said.items()
    }
    metadata = {
        "name": name,
        "namespace": "default",
        "creationTimestamp": created,
        "annotations": {**annotations, "mine": "private"},
    }
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    return {"metadata": metadata, "spec": {"containers": [container], "nodeName": on}, "status": {}}


PASSED = {"NodeResourcesFit": "passed", "TaintToleration": "passed"}
FULL = {"TaintToleration": "passed", "NodeResourcesFit": "Insufficient cpu"}


def export(**more: Any) -> dict[str, Any]:
    first = {
        "filter-result": {"big": PASSED, "small": FULL},
        "finalscore-result": {},
        "selected-node": "big",
        "result-history": [{}, {}],
    }
    second = {
        "filter-result": {"big": PASSED, "small": PASSED},
        "finalscore-result": {
            "big": {"NodeResourcesFit": "60", "TaintToleration": "300"},
            "small": {"NodeResourcesFit": "90", "TaintToleration": "300"},
        },
        "selected-node": "small",
        "result-history": [{}],
    }
    never = {"filter-result": {"big": FULL, "small": FULL}, "selected-node": ""}
    return {
        "pods": [
            pod("wide", "3", "2026-01-01T00:00:01Z", first, on="big"),
            pod("slim", "500m", "2026-01-01T00:00:02Z", second, on="small"),
            pod("giant", "64", "2026-01-01T00:00:03Z", never),
        ],
        "nodes": [node("big", "4"), node("small", "2")],
        "pvs": [],
        "pvcs": None,
        "storageClasses": [{"metadata": {"name": "fast"}, "provisioner": "x"}],
        "priorityClasses": [{"metadata": {"name": "high"}, "value": 7}],
        "namespaces": [{"metadata": {"name": "default"}}],
        "schedulerConfig": {"profiles": [{"schedulerName": "default-scheduler"}]},
        **more,
    }


def yaml_of(value: Any, indent: int = 0) -> str:
    """Block YAML as js-yaml writes it; scalars as JSON has them."""
    pad = " " * indent
    if isinstance(value, dict) and value:
        return "".join(
            f"{pad}{key}:\n{yaml_of(part, indent + 2)}"
            if isinstance(part, dict | list) and part
            else f"{pad}{key}: {json.dumps(part)}\n"
            for key, part in value.items()
        )
    if isinstance(value, list) and value:
        return "".join(f"{pad}- {yaml_of(part, indent + 2).lstrip()}" for part in value)
    return f"{pad}{json.dumps(value)}\n"


JSON = json.dumps(export()).encode()
YAML = yaml_of(export()).encode()


@pytest.mark.parametrize("data", [JSON, YAML], ids=["json", "yaml"])
def test_an_export_is_read_as_a_cluster(data: bytes) -> None:
    found = ingest([("export", data)])
    assert found.errors == ()
    assert found.counts == {
        "Namespace": 1,
        "Node": 2,
        "Pod": 3,
        "PriorityClass": 1,
        "StorageClass": 1,
    }
    assert found.ignored == {}
    assert load_configuration(found.scheduler_config).profiles[0].scheduler_name == (
        "default-scheduler"
    )
    assert any("wrote results on 3 pods" in warning for warning in found.warnings)
    assert any("KubeSchedulerConfiguration came" in warning for warning in found.warnings)


@pytest.mark.parametrize("data", [JSON, YAML], ids=["json", "yaml"])
def test_what_the_simulator_wrote_is_kept_and_no_other_annotation(data: bytes) -> None:
    found = ingest([("export", data)])
    wide, slim, giant = found.results
    assert (wide.pod, wide.selected_node, wide.n_passed, wide.n_rejected, wide.n_attempts) == (
        "default/wide",
        "big",
        1,
        1,
        2,
    )
    assert wide.rejected == {"small": "NodeResourcesFit: Insufficient cpu"}
    assert slim.totals == {"small": 390, "big": 360}
    assert (giant.selected_node, giant.n_rejected) == ("", 2)
    assert all(not item.metadata.annotations for item in found.objects)


def test_a_broken_object_costs_no_other_and_a_broken_result_only_itself() -> None:
    broken = export()
    broken["pods"][0]["spec"]["containers"] = "none"
    broken["pods"][1]["metadata"]["annotations"][f"{PREFIX}filter-result"] = "{"
    found = ingest([("export", json.dumps(broken).encode())])
    assert found.counts["Pod"] == 2
    (error,) = found.errors
    assert error.field == "spec.containers"
    slim = found.results[0]
    assert (slim.pod, slim.n_passed, slim.selected_node) == ("default/slim", 0, "small")


def test_pods_of_the_simulators_cluster_bring_their_results_however_they_were_printed() -> None:
    pods = export()["pods"]
    listed = {"apiVersion": "v1", "kind": "PodList", "items": pods}
    found = ingest([("pods.json", json.dumps(listed).encode())])
    assert [result.pod for result in found.results] == [
        "default/wide",
        "default/slim",
        "default/giant",
    ]


def beside(found: Ingested) -> list[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    rows = beside_simulator(found.results, list(found.objects), SchedulerOptions())
    return [(row.result.pod, row.beside, row.rejected_there, row.rejected_here) for row in rows]


def test_each_pod_is_attempted_in_the_cluster_that_it_met() -> None:
    """When `wide` came nothing ran; when `slim` came, `big` was nearly full."""
    assert beside(ingest([("export", JSON)])) == [
        ("default/wide", "same", (), ()),
        ("default/slim", "same", (), ()),
        ("default/giant", "same", (), ()),
    ]


def test_where_they_part_the_nodes_are_named() -> None:
    other = export(nodes=[node("big", "4"), node("small", "4")])
    other["nodes"][0]["spec"]["unschedulable"] = True
    rows = beside(ingest([("export", json.dumps(other).encode())]))
    assert rows[0] == ("default/wide", "another", ("small",), ())
    assert rows[1] == ("default/slim", "same", (), ("big",))
