"""How long two runs of a workload take to be compared, from their stored bytes to the summary."""

from __future__ import annotations

import json
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kviz.bench.calibration import N_ITERATIONS, loop_s
from kviz.bench.workloads import WORKLOADS
from scheduler_core.analysis.compare import Comparison, compare, read_lines
from scheduler_core.config import load_configuration
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace.codec import Chunk, chunked

KIB: Final = 1 << 10
HEAVIER: Final = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    score:
      disabled: [{name: NodeResourcesFit}]
      enabled: [{name: NodeResourcesFit, weight: 5}]
"""


@dataclass(frozen=True, slots=True)
class DiffResult:
    """One comparison; `compare_s` and the calibration around it are CPU seconds.

    `peak_rss_bytes` is the process's, with the simulations before it.
    """

    pair: str
    n_cycles: int
    n_moved: int
    compare_s: float
    calibration_s: float
    peak_rss_bytes: int

    def as_json(self) -> dict[str, object]:
        return {
            "pair": self.pair,
            "cycles": self.n_cycles,
            "moved": self.n_moved,
            "compare_s": self.compare_s,
            "calibration_s": self.calibration_s,
            "peak_rss_bytes": self.peak_rss_bytes,
        }


def measure_diff(workload: str, n_nodes: int, n_pods: int) -> Iterator[DiffResult]:
    """Compare a run with itself, with one in which a plugin weighs more, and with fewer nodes."""
    plain = _recorded(workload, n_nodes, n_pods, RunOptions())
    yield _measured("itself", plain, plain)
    heavier = RunOptions(configuration=load_configuration(HEAVIER))
    yield _measured("weight", plain, _recorded(workload, n_nodes, n_pods, heavier))
    yield _measured("a node less", plain, _recorded(workload, n_nodes - 1, n_pods, RunOptions()))


def _recorded(workload: str, n_nodes: int, n_pods: int, options: RunOptions) -> list[Chunk]:
    return list(chunked(simulate(list(WORKLOADS[workload].make(n_nodes, n_pods)), options)))


def _measured(pair: str, a: Sequence[Chunk], b: Sequence[Chunk]) -> DiffResult:
    before_s = loop_s(N_ITERATIONS)
    start_s = time.process_time()
    found = _summary(a, b)
    compare_s = time.process_time() - start_s
    calibration_s = (before_s + loop_s(N_ITERATIONS)) / 2
    peak_rss_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KIB
    n_moved = len(found.ends.moved)
    return DiffResult(pair, found.cycles.a, n_moved, compare_s, calibration_s, peak_rss_bytes)


def _summary(a: Sequence[Chunk], b: Sequence[Chunk]) -> Comparison:
    """Compare, and write the document, too, as a caller gets it."""
    found = compare(read_lines(a), read_lines(b))
    json.dumps(found.as_json())
    return found
