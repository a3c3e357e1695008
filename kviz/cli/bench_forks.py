"""How long until the first cycle of a variant is stored that begins in the middle of its parent.

A worker executes everything, in a data folder of its own, which is gone afterwards.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from kviz.bench.calibration import N_ITERATIONS, loop_s
from kviz.bench.dump import objects_of_dump
from kviz.bench.workloads import WORKLOADS, make_node
from kviz.cli.bench_storage import as_uploaded, upload
from kviz.cli.django_setup import start_django
from scheduler_core.api import Node
from scheduler_core.changes import read_lines

if TYPE_CHECKING:
    from kviz.runs.models import Run

FORKS: Final = (1_000, 5_000, 10_000)
EARLIER: Final = 50
"""So many cycles before, another variant forks where it was expected."""
N_TRIES: Final = 3
LOOK_S: Final = 0.005
MAX_S: Final = 600.0


@dataclass(frozen=True, slots=True)
class ForkResult:
    """Variants that fork at one cycle, the first one and the quickest of those after it.

    And a first one that was expected, as the Lab says while one edits: it took `ready_s` until the
    worker was ready. Times are from the request to the stored cycle, by the clock; beside them the
    CPU time of the worker and its copies. What rests takes `copies_bytes` beyond what is shared.
    """

    cycle: int
    first_s: float
    first_cpu_s: float
    next_s: float
    next_cpu_s: float
    ready_s: float
    expected_s: float
    expected_cpu_s: float
    copies_bytes: int
    calibration_s: float

    def as_json(self) -> dict[str, float]:
        return {name: round(value, 3) for name, value in asdict(self).items()}


def measure_forks(
    workload: str, n_nodes: int, n_pods: int, dump: Path | None
) -> Iterator[ForkResult]:
    """Execute a run, then variants that fork at some of its cycles."""
    objects = (
        list(WORKLOADS[workload].make(n_nodes, n_pods))
        if dump is None
        else objects_of_dump(dump, n_nodes=None, n_pods=n_pods)
    )
    with tempfile.TemporaryDirectory(prefix="kviz-bench-") as folder:
        os.environ["KVIZ_DATA_DIR"] = folder
        start_django(migrate=True)
        from kviz.accounts.services import local_workspace_ensure
        from kviz.runs import services

        snapshot = upload("workload.json", as_uploaded(objects))
        parent = services.run_create(workspace=local_workspace_ensure(), snapshot=snapshot)
        nodes = [item.name for item in objects if isinstance(item, Node)]
        with _worker() as worker:
            _wait(parent)
            # The worker looks for causes afterwards; it is idle again when another run is over.
            tiny = upload("node.json", as_uploaded([make_node(0)]))
            _wait(services.run_create(workspace=local_workspace_ensure(), snapshot=tiny))
            for cycle in FORKS:
                if cycle <= parent.cycles:
                    first, *others = [
                        _fork_s(parent, cycle, nodes[-1 - i], worker.pid)
                        for i in range(1 + N_TRIES)
                    ]
                    ready_s = _ready_s(parent, cycle - EARLIER)
                    expected = _fork_s(parent, cycle - EARLIER, nodes[-1], worker.pid)
                    n_bytes, calibration_s = _copies_bytes(worker.pid), loop_s(N_ITERATIONS)
                    yield ForkResult(
                        cycle, *first, *min(others), ready_s, *expected, n_bytes, calibration_s
                    )


def _fork_s(parent: Run, cycle: int, node: str, worker: int) -> tuple[float, float]:
    """Return how long a variant takes to its first own cycle: by the clock, and calculating."""
    from kviz.accounts.services import local_workspace_ensure
    from kviz.runs import services

    began_s, began_cpu_s = time.perf_counter(), _cpu_s(worker)
    variant = services.run_vary(
        workspace=local_workspace_ensure(),
        parent=parent,
        changes=read_lines(f"node/{node} cordon"),
        cycle=cycle,
    )
    while not variant.cycle_rows.filter(number=cycle).exists():
        _check(began_s)
    took = time.perf_counter() - began_s, _cpu_s(worker) - began_cpu_s
    services.run_cancel(run=variant)
    time.sleep(1)  # until the worker has noticed
    return took


def _ready_s(parent: Run, cycle: int) -> float:
    """Return how long the worker takes to be ready for a variant that forks at a cycle."""
    from kviz.runs import services
    from kviz.runs.models import ExpectedFork

    began_s = time.perf_counter()
    services.fork_expect(run=parent, cycle=cycle)
    while ExpectedFork.objects.exists():
        _check(began_s)
    return time.perf_counter() - began_s


def _wait(run: Run) -> None:
    began_s = time.perf_counter()
    while not run.is_over:
        _check(began_s)
        run.refresh_from_db()


def _check(began_s: float) -> None:
    if time.perf_counter() - began_s > MAX_S:
        raise TimeoutError(f"no answer from the worker in {MAX_S:.0f} s")
    time.sleep(LOOK_S)


@contextmanager
def _worker() -> Iterator[subprocess.Popen[bytes]]:
    """Have a worker execute the folder's runs meanwhile."""
    command = [sys.executable, "-m", "kviz.cli", "worker"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.terminate()


def _copies_bytes(pid: int) -> int:
    """Return what the copies of a process have for themselves."""
    found = 0
    for copy in _descendants(pid):
        with suppress(OSError):  # it may have left
            for line in Path(f"/proc/{copy}/smaps_rollup").read_text().splitlines():
                if line.startswith("Private_Dirty:"):
                    found += 1024 * int(line.split()[1])
    return found


def _cpu_s(pid: int) -> float:
    """Return the CPU seconds of a process and its copies, those included that have left."""
    ticks = [int(_stat(pid)[i]) for i in (13, 14)]
    for each in (pid, *_descendants(pid)):
        with suppress(OSError):  # it may have left
            ticks += [int(_stat(each)[i]) for i in (11, 12)]
    return sum(ticks) / os.sysconf("SC_CLK_TCK")


def _descendants(pid: int) -> list[int]:
    parents = {}
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parents[int(path.name)] = int(_stat(int(path.name))[1])
    found, fresh = [], [pid]
    while fresh:
        fresh = [each for each, parent in parents.items() if parent in fresh]
        found += fresh
    return found


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the name; its state is the first."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
