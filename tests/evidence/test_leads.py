"""What leads for pending pods: which cause comes first, and that a headline is short."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kviz.samples import sample_texts
from kviz.simulate import read_files
from scheduler_core.api.ingest import ingest
from scheduler_core.evidence.document import lead_document
from scheduler_core.sim import RunOptions
from scheduler_core.sim.pending import pending_pods
from tests.tables import rows

DUMPS = Path(__file__).parents[1] / "conformance" / "data" / "dumps"
CLUSTERS = [*sorted(DUMPS.glob("*.yaml.gz")), *(sample.path for sample in sample_texts())]
MAX_HEADLINE = 120


def node(name: str, of: dict[str, Any]) -> dict[str, Any]:
    labels = of.get("labels", {})
    if "zone" in of:
        labels = {**labels, "topology.kubernetes.io/zone": of["zone"]}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "spec": {"taints": of.get("taints", [])},
        "status": {"allocatable": {"cpu": of["cpu"], "memory": "8Gi", "pods": "110"}},
    }


@pytest.mark.parametrize("case", rows(__file__, "test_what_leads"), ids=lambda case: case["name"])
def test_what_leads(case: dict[str, Any]) -> None:
    documents = [node(name, of) for name, of in case["nodes"].items()]
    documents += [{"apiVersion": "v1", **each} for each in case["objects"]]
    read = ingest([("case.yaml", yaml.safe_dump_all(documents).encode())])
    assert not read.errors
    found = {
        pod.pod: lead_document(pod.lead)
        for pod in pending_pods(list(read.objects), RunOptions()).pods
        if pod.lead is not None
    }
    assert found.keys() == case["leads"].keys()
    for pod, expected in case["leads"].items():
        assert {name: found[pod][name] for name in expected} == expected


@pytest.mark.parametrize("path", CLUSTERS, ids=lambda path: path.name)
def test_a_headline_is_short(path: Path) -> None:
    for pod in pending_pods(list(read_files([path]).objects), RunOptions()).pods:
        assert pod.lead is None or len(pod.lead.text) <= MAX_HEADLINE
