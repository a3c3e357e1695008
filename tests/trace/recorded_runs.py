"""Whole runs as the browser is sent them, for the tests of the Explorer's components.

`python -m tests.trace.recorded_runs` prints them as JSON by name; vitest calls it when it begins
(`frontend/src/testing/recorded.ts`).
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Iterator

import msgspec

from kviz.out_of_tree import load_plugins
from kviz.samples import sample_texts
from scheduler_core.api.ingest import ingest
from scheduler_core.config import default_configuration, load_configuration
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.sim.scenario import Scenario, load_scenario
from scheduler_core.trace.codec import Chunk, TraceWriter, starts_cycle
from scheduler_core.trace.events import AnyEvent

CASCADE = """\
apiVersion: v1
kind: Node
metadata: {name: east, labels: {side: east}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Node
metadata: {name: west, labels: {side: west}}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: low-a, namespace: shop}
spec: {priority: 1, nodeName: west, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: low-b, namespace: shop}
spec: {priority: 1, nodeName: west, containers: [{name: c, resources: {requests: {cpu: "2"}}}]}
---
apiVersion: v1
kind: Pod
metadata:
  name: middle-a
  namespace: shop
  ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: middle, uid: m, controller: true}]
spec: {priority: 5, nodeName: east, containers: [{name: c, resources: {requests: {cpu: "4"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: high, namespace: shop}
spec:
  priority: 9
  nodeSelector: {side: east}
  containers: [{name: c, resources: {requests: {cpu: "3"}}}]
"""
"""An evicted pod is recreated and evicts two others."""


def recorded_runs() -> dict[str, list[dict[str, object]]]:
    """Return the chunks of each run, as a page carries them that opens from a disk."""
    runs = {"cascade": run(CASCADE, "options: {recreateEvicted: true}\nsteps: []\n")}
    for sample in sample_texts():
        cluster = sample.path.read_text(encoding="utf-8")
        runs[sample.slug] = run(cluster, sample.scenario, sample.scheduler_config)
    return {name: [as_json(chunk) for chunk in chunks] for name, chunks in runs.items()}


def run(cluster: str, scenario: str, configuration: str = "") -> list[Chunk]:
    writer, chunks = TraceWriter(), []
    for event in events_of(cluster, scenario, configuration):
        if writer.is_full and starts_cycle(event):
            chunks.append(writer.cut())
        writer.add(event)
    chunks.append(writer.cut())
    return [chunk for chunk in chunks if chunk is not None]


def events_of(cluster: str, scenario: str = "", configuration: str = "") -> Iterator[AnyEvent]:
    """Return the trace of a run."""
    objects = list(ingest([("cluster.yaml", cluster.encode())]).objects)
    wanted = load_configuration(configuration) if configuration else default_configuration()
    options = RunOptions(
        configuration=wanted,
        registry=load_plugins(wanted, None).registry,
        scenario=load_scenario(scenario) if scenario else Scenario(),
    )
    return simulate(objects, options)


def as_json(chunk: Chunk) -> dict[str, object]:
    return {
        "firstCycle": chunk.first_cycle,
        "lastCycle": chunk.last_cycle,
        "headers": base64.b64encode(chunk.headers).decode(),
        "details": base64.b64encode(chunk.details).decode(),
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(msgspec.json.encode(recorded_runs()))
