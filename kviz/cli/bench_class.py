"""How long a teacher's step takes to reach a class: a real server, real websockets.

The server has a data folder and a process of its own, both gone afterwards. The followers are in
this process, so what they take to read is in the lag. One of them does not read at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Final

import httpx
from websockets.asyncio.client import ClientConnection, connect

from kviz.bench.calibration import N_ITERATIONS, loop_s

READY: Final = re.compile(r"kviz is ready: (http://\S+)")
VERSION: Final = re.compile(r'"version":(\d+)')
LESSON: Final = "requests"
STEPS: Final = 30
AT_ONCE: Final = 20
"""Followers that come in at the same time."""
TOKEN: Final = "b" * 32
PATIENCE_S: Final = 60.0
PAUSE_S: Final = 0.25
"""Between two steps."""


@dataclass(frozen=True, slots=True)
class ClassResult:
    """Wall times in milliseconds, from the teacher's request to the last follower's frame."""

    followers: int
    p50_ms: float
    p95_ms: float
    most_ms: float
    request_p50_ms: float
    """Until the teacher's own request is answered."""
    calibration_s: float
    load: float
    """Processes that wanted a core meanwhile, on average over the last minute."""

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def measure_class(n_followers: int) -> ClassResult:
    """Lead so many followers through a lesson's steps."""
    calibration_s = loop_s(N_ITERATIONS)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 2 * n_followers + 500)), hard))
    with _served() as address:
        times = asyncio.run(_Class(address, n_followers).measure())
    lags = sorted(1000 * lag for lag, _ in times)
    return ClassResult(
        followers=n_followers,
        p50_ms=statistics.median(lags),
        p95_ms=statistics.quantiles(lags, n=20)[-1],
        most_ms=lags[-1],
        request_p50_ms=1000 * statistics.median(answered for _, answered in times),
        calibration_s=calibration_s,
        load=os.getloadavg()[0],
    )


@contextlib.contextmanager
def _served() -> Iterator[str]:
    """A server of its own, as `kviz serve` starts one."""
    with tempfile.TemporaryDirectory(prefix="kviz-bench-") as folder:
        kept = {name: text for name, text in os.environ.items() if not name.startswith("KVIZ_")}
        more = {"KVIZ_DATA_DIR": folder, "KVIZ_MODE": "server", "KVIZ_TLS": "no"}
        process = subprocess.Popen(
            [sys.executable, "-m", "kviz.cli", "serve", "--port", "0"],
            env={**kept, **more, "KVIZ_LOG_LEVEL": "ERROR"},
            stdout=subprocess.PIPE,
            text=True,
        )
        try:
            assert process.stdout is not None
            found = next((m for line in process.stdout if (m := READY.search(line))), None)
            if found is None:
                raise OSError("kviz serve did not start")
            yield found[1]
        finally:
            process.terminate()
            process.wait()


class _Class:
    """A room, its teacher, and those who follow."""

    def __init__(self, address: str, n_followers: int) -> None:
        self.address = address
        self.n_followers = n_followers
        self.lines: list[ClientConnection] = []
        self.version = 1  # that of a room which was just opened
        self.waits: set[int] = set()
        """Who has not got this version yet."""
        self.all_have = asyncio.Event()
        self.code = ""

    async def measure(self) -> list[tuple[float, float]]:
        """Per step: until the last follower had it, and until the request was answered."""
        times = []
        async with httpx.AsyncClient(base_url=self.address, timeout=PATIENCE_S) as teacher:
            await self._open(teacher)
            await self._come_in()
            readers = [asyncio.create_task(self._read(i)) for i in range(self.n_followers - 1)]
            for number in range(STEPS + 1):
                lag, answered = await self._step(teacher, 2 if number % 2 else 1)
                if number:  # the first one finds everybody still coming in
                    times.append((lag, answered))
            for reader in readers:
                reader.cancel()
        await asyncio.gather(*(line.close() for line in self.lines), return_exceptions=True)
        return times

    async def _post(self, client: httpx.AsyncClient, path: str, **body: object) -> httpx.Response:
        client.cookies.set("kviz_csrf", TOKEN)
        headers = {"X-CSRFToken": TOKEN, "Origin": self.address}
        response = await client.post(path, json=body, headers=headers)
        if response.status_code >= 400:
            raise OSError(f"{path} answered {response.status_code}: {response.text[:200]}")
        return response

    async def _open(self, teacher: httpx.AsyncClient) -> None:
        opened = await self._post(teacher, f"/class/open/lesson/{LESSON}")
        self.code = opened.headers["Location"].split("/")[2]

    async def _come_in(self) -> None:
        """Let everybody in, a few at a time; the last one will not read."""
        door = asyncio.Semaphore(AT_ONCE)

        async def enter(i: int) -> ClientConnection:
            async with door, httpx.AsyncClient(base_url=self.address, timeout=PATIENCE_S) as client:
                joined = await self._post(client, f"/class/{self.code}/join")
                return await connect(
                    f"{self.address.replace('http', 'ws', 1)}/ws/class/{self.code}/?as=class",
                    additional_headers={
                        "Cookie": f"kviz_session={joined.cookies['kviz_session']}",
                        "Origin": self.address,
                    },
                    compression=None,
                    max_queue=1 if i == self.n_followers - 1 else 16,
                    open_timeout=PATIENCE_S,
                    ping_interval=None,
                )

        self.lines = list(await asyncio.gather(*map(enter, range(self.n_followers))))

    async def _read(self, i: int) -> None:
        """Note when a follower has the version that is waited for."""
        async for frame in self.lines[i]:
            found = VERSION.search(str(frame)[:200])
            if found is not None and int(found[1]) >= self.version:
                self.waits.discard(i)
                if not self.waits:
                    self.all_have.set()

    async def _step(self, teacher: httpx.AsyncClient, step: int) -> tuple[float, float]:
        """One step of the teacher, until everybody has it who reads."""
        self.version += 1
        self.waits = set(range(self.n_followers - 1))
        self.all_have.clear()
        path, began = f"/api/v1/classes/{self.code}/control/", time.perf_counter()
        await self._post(teacher, path, do="go", step=step)
        answered = time.perf_counter() - began
        async with asyncio.timeout(PATIENCE_S):
            await self.all_have.wait()
        lag = time.perf_counter() - began
        await asyncio.sleep(PAUSE_S)
        return lag, answered
