"""How fast several workers carry out one experiment together: real ones, each with a core.

Everything happens in a separate data folder, which is gone afterwards.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Final

from kviz.bench.calibration import N_ITERATIONS, loop_s
from kviz.bench.workloads import RELEASE, WORKLOADS
from kviz.cli.bench_storage import as_uploaded, upload
from kviz.cli.django_setup import start_django
from kviz.forking.copies import n_cores

if TYPE_CHECKING:
    from kviz.experiments.models import Experiment
    from kviz.snapshots.models import Snapshot

N_VARIANTS: Final = 1_000
POLL_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class WorkersResult:
    """One experiment; `took_s` is by the clock, from when it was asked for to its answer.

    `load` is how many processes wanted a core meanwhile, on average over the last minute.
    """

    workers: int
    nodes: int
    variants: int
    took_s: float
    speedup: float
    calibration_s: float
    load: float

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def measure_workers(
    workload: str, n_nodes: int, n_pods: int, n_variants: int = N_VARIANTS
) -> Iterator[WorkersResult]:
    """Have an experiment carried out by one worker, by two, and by one per core."""
    with tempfile.TemporaryDirectory(prefix="kviz-bench-") as name:
        os.environ |= {"KVIZ_DATA_DIR": name, "KVIZ_EXPERIMENT_PROCESSES": "1"}
        start_django(migrate=True)
        data = as_uploaded(list(WORKLOADS[workload].make(n_nodes, n_pods)))
        snapshot = upload("workload.json", data)
        alone_s = 0.0
        for n_workers in sorted({1, min(2, n_cores()), n_cores()}):
            calibration_s = loop_s(N_ITERATIONS)
            took_s = _took_s(snapshot, n_workers, n_variants)
            alone_s = alone_s or took_s
            yield WorkersResult(
                n_workers,
                n_nodes,
                n_variants,
                took_s,
                alone_s / took_s,
                calibration_s,
                os.getloadavg()[0],
            )


def _took_s(snapshot: Snapshot, n_workers: int, n_variants: int) -> float:
    with ExitStack() as stack:
        for number in range(n_workers):
            stack.enter_context(_worker(number))
        experiment = _asked(snapshot, n_variants)
        while not experiment.is_over:
            time.sleep(POLL_S)
            experiment.refresh_from_db()
    assert experiment.finished_at is not None
    n_run = experiment.results.filter(outcome__problem__isnull=True).count()
    assert experiment.n_done == n_run == n_variants + 1, experiment.error
    return (experiment.finished_at - experiment.created_at).total_seconds()


def _asked(snapshot: Snapshot, n_variants: int) -> Experiment:
    """Ask for variants in each of which a node is cordoned."""
    from kviz.accounts.services import local_workspace_ensure
    from kviz.experiments.services import experiment_create
    from kviz.runs.services import run_prepare

    n_nodes = snapshot.counts["Node"]
    variants = [{"changes": [f"node/node-{i % n_nodes:05d} cordon"]} for i in range(n_variants)]
    workspace = local_workspace_ensure()
    return experiment_create(
        workspace=workspace,
        beginning=run_prepare(workspace=workspace, snapshot=snapshot, release=RELEASE),
        kind="changes",
        asked={"variants": variants},
    )


@contextmanager
def _worker(number: int) -> Iterator[None]:
    """Have a worker at work meanwhile, with its copies on one core."""
    cores = sorted(os.sched_getaffinity(0))
    command = [sys.executable, "-m", "kviz.cli", "worker", "--leave-with-stdin"]
    pipe = subprocess.PIPE  # it ends with this process, however that goes
    with subprocess.Popen(command, stdin=pipe, stderr=pipe, text=True) as process:
        os.sched_setaffinity(process.pid, {cores[number % len(cores)]})
        assert process.stderr is not None
        try:
            while "is ready" not in process.stderr.readline():
                assert process.poll() is None, "a worker has ended"
            yield
        finally:
            process.terminate()
            process.stderr.read()
