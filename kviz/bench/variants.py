"""How many variants of one cluster run per second, each in a copy of the process that loaded it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

import numpy as np

from kviz.bench.calibration import N_ITERATIONS, loop_s
from kviz.bench.workloads import WORKLOADS
from kviz.forking.copies import mapped, n_cores
from scheduler_core.analysis.advice.trial import Trials
from scheduler_core.api import Node
from scheduler_core.changes.vocabulary import Cordon
from scheduler_core.sim.run import RunOptions

SIZES: Final = (100, 5_000)
"""So many nodes, unless a number is given."""
N_VARIANTS: Final = 40


@dataclass(frozen=True, slots=True)
class VariantsResult:
    """Variants that cordon a node each, in `processes` copies at a time.

    `variants_per_s` is by the clock, with forking and collecting; `cpu_ms` is the median CPU time
    of a variant in its copy, in milliseconds. Loading the cluster, `load_s` of CPU, is in neither.
    """

    workload: str
    nodes: int
    pods: int
    processes: int
    variants: int
    variants_per_s: float
    cpu_ms: float
    load_s: float
    calibration_s: float

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def measure_variants(
    workload: str, n_nodes: int | None, n_pods: int, n_variants: int = N_VARIANTS
) -> Iterator[VariantsResult]:
    """Run variants of a cluster by one process at a time, and by as many as there are cores."""
    for size in (n_nodes,) if n_nodes else SIZES:
        began_s = time.process_time()
        objects = list(WORKLOADS[workload].make(size, n_pods))
        trials = Trials(objects, RunOptions())
        _ = trials.as_it_is
        load_s = time.process_time() - began_s
        calibration_s = loop_s(N_ITERATIONS)
        nodes = [each.name for each in objects if isinstance(each, Node)]
        cordons = [Cordon(nodes[i % len(nodes)], True) for i in range(n_variants)]
        for jobs in sorted({1, n_cores()}):
            per_s, cpu_ms = _run(trials, cordons, jobs)
            yield VariantsResult(
                workload, size, n_pods, jobs, n_variants, per_s, cpu_ms, load_s, calibration_s
            )


def _run(trials: Trials, changes: list[Cordon], jobs: int) -> tuple[float, float]:
    """Return variants per second by the clock, and a variant's median CPU time in milliseconds."""

    def cpu_s(change: Cordon) -> float:
        began_s = time.process_time()
        trials.after([change])
        return time.process_time() - began_s

    began_s = time.perf_counter()
    took_s = mapped(cpu_s, changes, jobs)
    return len(changes) / (time.perf_counter() - began_s), 1000 * float(np.median(took_s))
