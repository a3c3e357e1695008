"""What many viewers of one run cost: how late they are, while others read pages.

A `kviz serve` with a separate data folder executes a run. Viewers follow it over websockets from
one process, readers ask for pages and REST from another, and this one notes when what was stored.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Final

import httpx
import msgspec
from websockets.asyncio.client import connect

from kviz.bench.calibration import N_ITERATIONS, loop_s
from kviz.bench.workloads import RELEASE, WORKLOADS
from kviz.cli.bench_storage import as_uploaded, serving, upload
from kviz.cli.django_setup import start_django
from scheduler_core.trace.codec import read_headers

if TYPE_CHECKING:
    from kviz.runs.models import Run

POLL_S: Final = 0.01
"""How exactly it is known when something was stored."""
THINKING_S: Final = 5.0
"""Between two requests of a reader."""
TIMEOUT_S: Final = 120.0
CONNECTING: Final = 32
"""Viewers that connect at the same time."""

Received = list[tuple[int, float]]
"""The last seq of a chunk, and when it came."""


@dataclass(frozen=True, slots=True)
class FollowersResult:
    """Measured on one run; times are wall times."""

    followers: int
    readers: int
    cycles: int
    chunks: int
    run_s: float
    server_cpu_s: float
    """Of the process that serves viewers and readers, in all."""
    complete: int
    """Viewers that have received every chunk, once and in order."""
    lag_p50_ms: float
    lag_p95_ms: float
    lag_max_ms: float
    """From when a chunk was stored to when a viewer has it."""
    requests: int
    failed: int
    read_p50_ms: float
    read_p95_ms: float
    calibration_s: float

    def as_json(self) -> dict[str, float]:
        return {name: round(value, 4) for name, value in asdict(self).items()}


def measure_followers(
    workload: str, n_nodes: int, n_pods: int, n_followers: int, n_readers: int
) -> FollowersResult:
    """Execute a run with so many viewers from its beginning, and so many readers meanwhile."""
    with tempfile.TemporaryDirectory(prefix="kviz-bench-") as name:
        folder = Path(name)
        os.environ["KVIZ_DATA_DIR"] = name
        start_django(migrate=True)
        from kviz.accounts.services import local_workspace_ensure
        from kviz.runs import services

        data = as_uploaded(list(WORKLOADS[workload].make(n_nodes, n_pods)))
        run = services.run_create(
            workspace=local_workspace_ensure(),
            snapshot=upload("workload.json", data),
            release=RELEASE,
        )
        services.run_pause(run=run)
        with (
            serving(folder) as (url, pid),
            ProcessPoolExecutor(2, mp_context=get_context("spawn")) as two,
        ):
            site = _Site(url, str(run.pk), name)
            following = two.submit(_followed, site, n_followers)
            reading = two.submit(_read, site, n_readers)
            _wait_for(site.connected, following)
            services.run_resume(run=run)
            began_s, cpu_s = time.time(), _cpu_s(pid)
            stored = _watched(run)
            site.over.touch()
            received, reads = following.result(), reading.result()
            cpu_s = _cpu_s(pid) - cpu_s
            return _result(run, stored, began_s, cpu_s, received, reads, n_readers)


@dataclass(frozen=True)
class _Site:
    """Where the server is, and how the processes hear of each other."""

    url: str
    run: str
    folder: str

    @property
    def connected(self) -> Path:
        """There when all viewers are connected."""
        return Path(self.folder) / "viewers-are-connected"

    @property
    def over(self) -> Path:
        """There when the run is over."""
        return Path(self.folder) / "run-is-over"

    @property
    def headers(self) -> dict[str, str]:
        token = (Path(self.folder) / "token").read_text().strip()
        return {"Authorization": f"Bearer {token}"}


def _wait_for(file: Path, others: Future[list[Received]]) -> None:
    while not file.exists():
        if others.done():
            others.result()
        time.sleep(POLL_S)


def _watched(run: Run) -> Received:
    """Note when the run was seen to have grown, until it is over."""
    found: Received = []
    while not run.is_over:
        run.refresh_from_db(fields=["last_seq", "status"])
        if not found or run.last_seq > found[-1][0]:
            found.append((run.last_seq, time.time()))
        time.sleep(POLL_S)
    run.refresh_from_db()
    return found


def _result(
    run: Run,
    stored: Received,
    began_s: float,
    server_cpu_s: float,
    received: list[Received],
    reads: list[float | None],
    n_readers: int,
) -> FollowersResult:
    chunks = list(run.chunks.order_by("last_seq").values_list("last_seq", flat=True))
    stored_at = {seq: next(at for last, at in stored if last >= seq) for seq in chunks}
    lags = [1000 * (at - stored_at[seq]) for each in received for seq, at in each]
    times = [1000 * each for each in reads if each is not None]
    return FollowersResult(
        followers=len(received),
        readers=n_readers,
        cycles=run.cycles,
        chunks=len(chunks),
        run_s=stored[-1][1] - began_s,
        server_cpu_s=server_cpu_s,
        complete=sum([seq for seq, _ in each] == chunks for each in received),
        lag_p50_ms=_share(lags, 0.5),
        lag_p95_ms=_share(lags, 0.95),
        lag_max_ms=max(lags, default=0.0),
        requests=len(reads),
        failed=len(reads) - len(times),
        read_p50_ms=_share(times, 0.5),
        read_p95_ms=_share(times, 0.95),
        calibration_s=loop_s(N_ITERATIONS),
    )


def _cpu_s(pid: int) -> float:
    """Return the CPU time that a process has taken so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _share(values: Sequence[float], share: float) -> float:
    """Return the value that this share of all does not exceed."""
    return sorted(values)[int(share * (len(values) - 1))] if values else 0.0


# ---------------------------------------------------------------- viewers, in their process


def _followed(site: _Site, n_followers: int) -> list[Received]:
    return asyncio.run(_follow_all(site, n_followers))


async def _follow_all(site: _Site, n_followers: int) -> list[Received]:
    address = f"{site.url.replace('http', 'ws', 1)}/ws/runs/{site.run}/?after=-1"
    connecting, headers = asyncio.Semaphore(CONNECTING), site.headers
    n_connected = 0

    @cache
    def last_seq(chunk: bytes) -> int:
        """Decode a chunk once: what all viewers do with it is not what is measured."""
        first_seq, events = read_headers(chunk)
        return first_seq + len(events) - 1

    async def one() -> Received:
        nonlocal n_connected
        found: Received = []
        async with connecting:
            socket = await connect(
                address, additional_headers=headers, compression=None, open_timeout=TIMEOUT_S
            )
        async with socket:
            async for message in socket:
                if isinstance(message, bytes):
                    at_s, seq = time.time(), last_seq(message)
                    found.append((seq, at_s))
                    await socket.send(msgspec.json.encode({"ack": seq}).decode())
                    continue
                status = msgspec.json.decode(message)["status"]
                if status == "paused":
                    n_connected += 1
                    if n_connected == n_followers:
                        site.connected.touch()
                elif status in ("finished", "failed"):
                    return found
        return found

    return await asyncio.gather(*(one() for _ in range(n_followers)))


# ---------------------------------------------------------------- readers, in theirs


def _read(site: _Site, n_readers: int) -> list[float | None]:
    return asyncio.run(_read_all(site, n_readers))


async def _read_all(site: _Site, n_readers: int) -> list[float | None]:
    """Ask for what people look at until the run is over; seconds per answer, None: no answer."""
    paths = [
        f"/api/v1/runs/{site.run}/",
        f"/api/v1/runs/{site.run}/cycles/?limit=50",
        f"/runs/{site.run}",
        "/api/v1/runs/",
    ]
    limits = httpx.Limits(max_connections=n_readers)
    async with httpx.AsyncClient(
        base_url=site.url, headers=site.headers, timeout=TIMEOUT_S, limits=limits
    ) as client:

        async def one(number: int) -> list[float | None]:
            found: list[float | None] = []
            await asyncio.sleep(THINKING_S * number / max(1, n_readers))
            while not site.over.exists():
                path, began_s = paths[len(found) % len(paths)], time.perf_counter()
                try:
                    is_answered = (await client.get(path)).is_success
                except httpx.HTTPError:
                    is_answered = False
                found.append(time.perf_counter() - began_s if is_answered else None)
                await asyncio.sleep(THINKING_S)
            return found

        answers = await asyncio.gather(*(one(number) for number in range(n_readers)))
    return [each for found in answers for each in found]
