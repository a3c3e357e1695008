"""How long one event takes that requeues every unschedulable pod at once, by number of pods."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass

from kviz.bench.workloads import make_node, make_pod
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.sim.simulation import Simulation, Timing
from scheduler_core.trace.recorder import Recorder

START_NS = 1_767_225_600_000_000_000
MINUTE_NS = 60_000_000_000
FRACTIONS = (8, 4, 2, 1)
"""Measured at an eighth, a quarter, half, and all of the pods."""


@dataclass(frozen=True, slots=True)
class FlushResult:
    """CPU time of the event `NodeAdd`, hints and PreEnqueue of every pod included."""

    n_pods: int
    flush_s: float

    def as_json(self) -> dict[str, float]:
        return {"pods": self.n_pods, "flush_ms": 1000 * self.flush_s}


def measure_flush(n_pods: int) -> Iterator[FlushResult]:
    """Requeue growing numbers of unschedulable pods, up to `n_pods`."""
    for fraction in FRACTIONS:
        yield _wake(max(n_pods // fraction, 1))


def _wake(n_pods: int) -> FlushResult:
    """Let pods fail on a full node, wait until no backoff is left, then add a node."""
    timing = Timing(kubelet_start_ns=None)
    recorder = Recorder(lambda _: None, details=False)
    simulation = Simulation(SchedulerOptions(), recorder, START_NS, timing)
    simulation.load([make_node(0), make_pod("full", requests={"cpu": "4"}, node_name="node-00000")])
    simulation.load(make_pod(f"pod-{i:05d}") for i in range(n_pods))
    while simulation.attempt():
        pass
    simulation.advance_to(START_NS + MINUTE_NS)
    began_s = time.process_time()
    simulation.load([make_node(1)])
    return FlushResult(n_pods, time.process_time() - began_s)
