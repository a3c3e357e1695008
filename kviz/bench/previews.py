"""How long a preview of a changed cycle takes, from the change to the packed answer."""

from __future__ import annotations

import gzip
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

import msgspec
import numpy as np

from kviz.bench.calibration import N_ITERATIONS, loop_s
from kviz.bench.workloads import WORKLOADS
from scheduler_core.changes import Change, read_changes
from scheduler_core.config.types import JsonValue
from scheduler_core.sim import ReenactedCycle, RunOptions, reenact_cycle

N_PREVIEWS: Final = 40
"""Of each kind, no two of them alike."""

Make = Callable[[ReenactedCycle, int], JsonValue]


@dataclass(frozen=True, slots=True)
class PreviewResult:
    """CPU times in milliseconds; `first_ms` is what the first preview of a cycle takes more."""

    change: str
    p50_ms: float
    p95_ms: float
    n_bytes: int
    first_ms: float
    calibration_s: float

    def as_json(self) -> dict[str, object]:
        return {
            "change": self.change,
            "p50_ms": self.p50_ms,
            "p95_ms": self.p95_ms,
            "bytes": self.n_bytes,
            "first_ms": self.first_ms,
            "calibration_s": self.calibration_s,
        }


def measure_previews(workload: str, n_nodes: int, n_pods: int) -> Iterator[PreviewResult]:
    """Hold the cycle in the middle of a run, and change its pod, a node, and a weight."""
    objects = list(WORKLOADS[workload].make(n_nodes, n_pods))
    held = reenact_cycle(objects, RunOptions(details=False), max(n_pods // 2, 1))
    if held is None:
        raise ValueError(f"cycle {max(n_pods // 2, 1)} of {workload} looked at no node")
    first_ms, _ = _timed(held, ())
    for name, make in CHANGES.items():
        took = [_timed(held, read_changes([make(held, i)])) for i in range(N_PREVIEWS)]
        times_ms = [each_ms for each_ms, _ in took]
        yield PreviewResult(
            change=name,
            p50_ms=float(np.percentile(times_ms, 50)),
            p95_ms=float(np.percentile(times_ms, 95)),
            n_bytes=max(n_bytes for _, n_bytes in took),
            first_ms=first_ms,
            calibration_s=loop_s(N_ITERATIONS // 2),
        )


def _timed(held: ReenactedCycle, changes: tuple[Change, ...]) -> tuple[float, int]:
    """Return how long a preview takes, in CPU milliseconds, and the bytes of its answer."""
    began_s = time.process_time()
    found = held.previews.change(changes)
    packed = gzip.compress(msgspec.msgpack.encode(found.events), compresslevel=1, mtime=0)
    return 1000 * (time.process_time() - began_s), len(packed)


def _pod(held: ReenactedCycle, i: int) -> JsonValue:
    namespace, _, name = held.pod.partition("/")
    path = "spec.containers[0].resources.requests.cpu"
    pod: dict[str, JsonValue] = {"kind": "Pod", "namespace": namespace, "name": name}
    return {"set": {**pod, "path": path, "value": f"{101 + i}m"}}


def _node(held: ReenactedCycle, i: int) -> JsonValue:
    node = held.evidence.node_names[i % len(held.evidence.node_names)]
    return {"taint": {"node": node, "key": "bench", "value": str(i), "effect": "NoSchedule"}}


def _weight(held: ReenactedCycle, i: int) -> JsonValue:
    return {"weight": {"plugin": "NodeResourcesFit", "weight": 2 + i}}


CHANGES: Final[dict[str, Make]] = {"pod": _pod, "node": _node, "weight": _weight}
