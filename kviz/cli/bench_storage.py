"""What a stored run costs: executed as a worker does, read back as a browser does.

Everything happens in a separate data folder, which is gone afterwards.
"""

from __future__ import annotations

import io
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol

import msgspec
from websockets.sync.client import connect

from kviz.bench.workloads import RELEASE, WORKLOADS
from kviz.cli.django_setup import start_django
from scheduler_core.api import KubeObject
from scheduler_core.trace.codec import read_headers
from scheduler_core.trace.events import CycleStarted

if TYPE_CHECKING:
    from kviz.runs.models import Run
    from kviz.snapshots.models import Snapshot

WORKER: Final = "bench"
N_CYCLES_READ: Final = 30
PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")


@dataclass(frozen=True, slots=True)
class StorageResult:
    """Measured on one run; times of reading are wall times, of executing CPU seconds."""

    cycles: int
    upload_s: float
    upload_peak_rss_bytes: int
    first_start_s: float
    """From a worker's claim to the first stored chunk, wall time; then again, for the next run."""
    next_start_s: float
    cpu_s_per_1000_cycles: float
    database_bytes: int
    rss_bytes_at_start: int
    rss_bytes_at_end: int
    details_cold_ms: float
    details_warm_ms: float
    cycle_cold_ms: float
    cycle_warm_ms: float
    header_cycles_per_s: float


@dataclass
class _Execution:
    """One run executed here, up to its end or to its first stored chunk."""

    first_chunk_s: float = 0.0
    cpu_s: float = 0.0
    rss_bytes: list[int] = field(default_factory=list)

    def execute(self, *, to_the_end: bool) -> Run:
        from kviz.runs.execution.claim import run_claim
        from kviz.runs.execution.record import run_execute
        from kviz.runs.services import run_cancel
        from kviz.runs.signals import run_advanced

        began_s, began_cpu_s = time.perf_counter(), time.process_time()
        run = run_claim(worker=WORKER)
        assert run is not None

        def advanced(seq: int, **_: object) -> None:
            self.rss_bytes.append(_rss_bytes())
            if seq >= 0 and not self.first_chunk_s:
                self.first_chunk_s = time.perf_counter() - began_s
                if not to_the_end:
                    run_cancel(run=run)

        run_advanced.connect(advanced)
        run_execute(run=run, worker=WORKER)
        run_advanced.disconnect(advanced)
        self.cpu_s = time.process_time() - began_cpu_s
        return run


def measure_storage(workload: str, n_nodes: int, n_pods: int, dump: Path | None) -> StorageResult:
    """Upload a cluster, execute a run over it, begin another one, and read the first back."""
    with tempfile.TemporaryDirectory(prefix="kviz-bench-") as folder:
        os.environ["KVIZ_DATA_DIR"] = folder
        start_django(migrate=True)
        from kviz.accounts.services import local_workspace_ensure
        from kviz.runs import services

        if dump is None:
            data = as_uploaded(list(WORKLOADS[workload].make(n_nodes, n_pods)))
        else:
            data = dump.read_bytes()
        began_s = time.process_time()
        snapshot = upload(dump.name if dump else "workload.json", data)
        upload_s, upload_peak_rss_bytes = time.process_time() - began_s, _peak_rss_bytes()
        for _ in range(2):
            services.run_create(
                workspace=local_workspace_ensure(), snapshot=snapshot, release=RELEASE
            )
        whole, begun = _Execution(), _Execution()
        run = whole.execute(to_the_end=True)
        begun.execute(to_the_end=False)
        return StorageResult(
            cycles=run.cycles,
            upload_s=upload_s,
            upload_peak_rss_bytes=upload_peak_rss_bytes,
            first_start_s=whole.first_chunk_s,
            next_start_s=begun.first_chunk_s,
            cpu_s_per_1000_cycles=1000 * whole.cpu_s / max(run.cycles, 1),
            database_bytes=_database_bytes(Path(folder)),
            rss_bytes_at_start=whole.rss_bytes[1],
            rss_bytes_at_end=whole.rss_bytes[-1],
            **_reading(run),
            header_cycles_per_s=_stream(run, Path(folder)),
        )


def as_json(result: StorageResult) -> dict[str, float]:
    return {name: round(value, 4) for name, value in asdict(result).items()}


# ---------------------------------------------------------------- upload


def as_uploaded(objects: list[KubeObject]) -> bytes:
    """Return the objects as kubectl would print them."""
    items = [
        msgspec.to_builtins(item) | {"apiVersion": item.api_version, "kind": item.kind}
        for item in objects
    ]
    return msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items})


def upload(name: str, data: bytes) -> Snapshot:
    from kviz.accounts.services import local_workspace_ensure
    from kviz.snapshots.services import snapshot_create

    return snapshot_create(workspace=local_workspace_ensure(), files=[(name, io.BytesIO(data))])


# ---------------------------------------------------------------- reading back


def _reading(run: Run) -> dict[str, float]:
    """Take the times of the details of single cycles, the first one cold, the others warm."""
    from kviz.runs.reading.trace import cycle_details, cycle_get

    step = max(run.cycles // N_CYCLES_READ, 1)
    cycles = range(run.cycles, 0, -step)

    def details_of(*, run: Run, cycle: int) -> object:
        return cycle_details(run_id=run.pk, cycle=cycle)

    details = [_timed_ms(details_of, run, cycle) for cycle in cycles]
    named = [_timed_ms(cycle_get, run, cycle) for cycle in cycles]
    return {
        "details_cold_ms": details[0],
        "details_warm_ms": statistics.median(details[1:] or details),
        "cycle_cold_ms": named[0],
        "cycle_warm_ms": statistics.median(named[1:] or named),
    }


class _Read(Protocol):
    def __call__(self, *, run: Run, cycle: int) -> object: ...


def _timed_ms(read: _Read, run: Run, cycle: int) -> float:
    began_s = time.perf_counter()
    read(run=run, cycle=cycle)
    return 1000 * (time.perf_counter() - began_s)


def _stream(run: Run, folder: Path) -> float:
    """Follow the finished run on its websocket; return cycles received and decoded per second."""
    with serving(folder) as (url, _):
        token = (folder / "token").read_text().strip()
        address = f"{url.replace('http', 'ws', 1)}/ws/runs/{run.pk}/?after=-1"
        headers = {"Authorization": f"Bearer {token}"}
        n_cycles, seq, began_s = 0, -1, time.perf_counter()
        with connect(address, additional_headers=headers, max_size=None) as socket:
            while seq < run.last_seq:
                message = socket.recv()
                if isinstance(message, bytes):
                    first_seq, events = read_headers(message)
                    seq = first_seq + len(events) - 1
                    n_cycles += sum(isinstance(event, CycleStarted) for event in events)
                    socket.send(msgspec.json.encode({"ack": seq}).decode())
        return n_cycles / (time.perf_counter() - began_s)


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, int]]:
    """Serve the folder on a free port meanwhile; the address, and the process."""
    command = [sys.executable, "-m", "kviz.cli", "serve", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().split()[3].rstrip("/"), process.pid
        finally:
            process.terminate()
            process.stdout.read()


# ---------------------------------------------------------------- memory and disk


def _rss_bytes() -> int:
    """Return the memory in use just now, of this process."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_BYTES


def _peak_rss_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _database_bytes(folder: Path) -> int:
    return sum(file.stat().st_size for file in folder.glob("*.sqlite3*"))
