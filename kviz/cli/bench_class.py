"""How long a teacher's step takes to reach a class: a real server, real websockets.

Also while everybody places pods by hand, and how long they wait for their boards then.

The server has a separate data folder and process, both gone afterwards. The followers are in
this process, so what they take to read is in the lag. One of them does not read at all.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Final

import httpx
from websockets.asyncio.client import ClientConnection, connect

from kviz.bench.calibration import N_ITERATIONS, loop_s

READY: Final = re.compile(r"kviz is ready: (http://\S+)")
VERSION: Final = re.compile(r'"version":(\d+)')
LESSON: Final = "requests"
PLAYED: Final = "fit-and-balance"
"""The sample that is played with: 9 nodes, 8 waiting pods."""
STEPS: Final = 30
AT_ONCE: Final = 20
"""Followers that come in at the same time."""
TOKEN: Final = "b" * 32
PATIENCE_S: Final = 60.0
PAUSE_S: Final = 0.25
"""Between two steps."""
BETWEEN_STEPS_S: Final = 1.0
"""While all play, beside that."""
LEAST_THINKING_S: Final = 1.0
MOST_THINKING_S: Final = 4.0
"""Before each request of somebody who plays."""


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
    lags = _in_ms(lag for lag, _ in times)
    return ClassResult(
        followers=n_followers,
        p50_ms=statistics.median(lags),
        p95_ms=_p95(lags),
        most_ms=lags[-1],
        request_p50_ms=1000 * statistics.median(answered for _, answered in times),
        calibration_s=calibration_s,
        load=os.getloadavg()[0],
    )


@dataclass(frozen=True, slots=True)
class BoardsResult:
    """Wall times in milliseconds, while each of so many has a board and asks every few seconds."""

    boards: int
    requests_per_s: float
    look_p50_ms: float
    look_p95_ms: float
    move_p50_ms: float
    move_p95_ms: float
    step_p50_ms: float
    """Of the teacher's, until the last one has it."""
    step_p95_ms: float
    calibration_s: float
    load: float

    def as_json(self) -> dict[str, object]:
        return asdict(self)


def measure_boards(n_boards: int) -> BoardsResult:
    """Let so many place pods by hand at once, each at a person's pace."""
    calibration_s = loop_s(N_ITERATIONS)
    with _served() as address:
        looks, moves, steps, took_s = asyncio.run(_Class(address, n_boards).play())
    return BoardsResult(
        boards=n_boards,
        requests_per_s=(len(looks) + len(moves)) / took_s,
        look_p50_ms=statistics.median(looks),
        look_p95_ms=_p95(looks),
        move_p50_ms=statistics.median(moves),
        move_p95_ms=_p95(moves),
        step_p50_ms=statistics.median(steps),
        step_p95_ms=_p95(steps),
        calibration_s=calibration_s,
        load=os.getloadavg()[0],
    )


def _in_ms(seconds: Iterable[float]) -> list[float]:
    return sorted(1000 * each for each in seconds)


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=20)[-1]


@contextlib.contextmanager
def _served() -> Iterator[str]:
    """A separate server, as `kviz serve` starts one."""
    with tempfile.TemporaryDirectory(prefix="kviz-bench-") as folder:
        kept = {name: text for name, text in os.environ.items() if not name.startswith("KVIZ_")}
        more = {"KVIZ_DATA_DIR": folder, "KVIZ_MODE": "server", "KVIZ_TLS": "no"}
        more["KVIZ_CLASS_SEATS_PER_ADDRESS"] = "2000"  # all followers come from this machine
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
        """The followers without this version."""
        self.all_have = asyncio.Event()
        self.code = ""
        self.sessions: dict[int, str] = {}
        self.looks: list[float] = []
        self.moves: list[float] = []

    async def measure(self) -> list[tuple[float, float]]:
        """Per step: until the last follower had it, and until the request was answered."""
        times = []
        async with httpx.AsyncClient(base_url=self.address, timeout=PATIENCE_S) as teacher:
            await self._open(teacher, f"/class/open/lesson/{LESSON}")
            await self._come_in()
            readers = [asyncio.create_task(self._read(i)) for i in range(self.n_followers - 1)]
            for number in range(STEPS + 1):
                lag, answered = await self._step(teacher, do="go", step=2 if number % 2 else 1)
                if number:  # the first one finds everybody still coming in
                    times.append((lag, answered))
            for reader in readers:
                reader.cancel()
        await asyncio.gather(*(line.close() for line in self.lines), return_exceptions=True)
        return times

    async def play(self) -> tuple[list[float], list[float], list[float], float]:
        """In ms how long looks, moves and the teacher's steps take while all play; and in s all."""
        steps = []
        async with httpx.AsyncClient(base_url=self.address, timeout=PATIENCE_S) as teacher:
            await self._open(teacher, f"/class/open/by-hand/{await self._game(teacher)}")
            await self._come_in()
            readers = [asyncio.create_task(self._read(i)) for i in range(self.n_followers - 1)]
            players = [asyncio.create_task(self._play(i)) for i in range(self.n_followers)]
            await asyncio.sleep(MOST_THINKING_S)  # until everybody has begun
            self.looks.clear()
            self.moves.clear()
            began = time.perf_counter()
            for number in range(STEPS):
                lag, _ = await self._step(teacher, do="score", on=number % 2 == 0)
                steps.append(lag)
                await asyncio.sleep(BETWEEN_STEPS_S)
            took_s = time.perf_counter() - began
            for task in (*readers, *players):
                task.cancel()
            ended = await asyncio.gather(*readers, *players, return_exceptions=True)
        await asyncio.gather(*(line.close() for line in self.lines), return_exceptions=True)
        for each in ended:
            if isinstance(each, Exception):
                raise each
        return _in_ms(self.looks), _in_ms(self.moves), _in_ms(steps), took_s

    async def _play(self, i: int) -> None:
        """Look where a pod may go, put it there, and begin again when none is left."""
        chance = random.Random(i)
        path = f"/api/v1/classes/{self.code}/board/"
        async with httpx.AsyncClient(base_url=self.address, timeout=PATIENCE_S) as player:
            player.cookies.set("kviz_session", self.sessions[i])
            await asyncio.sleep(chance.uniform(0, MOST_THINKING_S))
            while True:
                board = (await player.get(path)).raise_for_status().json()
                for pod in (each["name"] for each in board["pods"] if not each["node"]):
                    await asyncio.sleep(chance.uniform(LEAST_THINKING_S, MOST_THINKING_S))
                    began = time.perf_counter()
                    found = (await player.get(path, params={"pod": pod})).raise_for_status()
                    self.looks.append(time.perf_counter() - began)
                    node = next(
                        (name for name, why in found.json()["nodes"].items() if not why), ""
                    )
                    if node:
                        await asyncio.sleep(chance.uniform(LEAST_THINKING_S, MOST_THINKING_S))
                        began = time.perf_counter()
                        await self._post(player, path, do="place", pod=pod, node=node)
                        self.moves.append(time.perf_counter() - began)
                await self._post(player, path, do="reset")

    async def _post(self, client: httpx.AsyncClient, path: str, **body: object) -> httpx.Response:
        client.cookies.set("kviz_csrf", TOKEN)
        headers = {"X-CSRFToken": TOKEN, "Origin": self.address}
        response = await client.post(path, json=body, headers=headers)
        if response.status_code >= 400:
            raise OSError(f"{path} answered {response.status_code}: {response.text[:200]}")
        return response

    async def _game(self, teacher: httpx.AsyncClient) -> str:
        """Begin to place a sample's pods by hand; what a class can be opened with."""
        found = (await teacher.get("/api/v1/snapshots/")).raise_for_status().json()
        sample = next(each["id"] for each in found if each["name"] == PLAYED)
        begun = await self._post(teacher, f"/by-hand/snapshot/{sample}")
        return begun.headers["Location"].rstrip("/").split("/")[-1]

    async def _open(self, teacher: httpx.AsyncClient, path: str) -> None:
        opened = await self._post(teacher, path)
        self.code = opened.headers["Location"].split("/")[2]

    async def _come_in(self) -> None:
        """Let everybody in, a few at a time; the last one will not read."""
        door = asyncio.Semaphore(AT_ONCE)

        async def enter(i: int) -> ClientConnection:
            async with door, httpx.AsyncClient(base_url=self.address, timeout=PATIENCE_S) as client:
                joined = await self._post(client, f"/class/{self.code}/join")
                self.sessions[i] = joined.cookies["kviz_session"]
                return await connect(
                    f"{self.address.replace('http', 'ws', 1)}/ws/class/{self.code}/?as=class",
                    additional_headers={
                        "Cookie": f"kviz_session={self.sessions[i]}",
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

    async def _step(self, teacher: httpx.AsyncClient, **said: object) -> tuple[float, float]:
        """One step of the teacher, until everybody has it who reads."""
        self.version += 1
        self.waits = set(range(self.n_followers - 1))
        self.all_have.clear()
        path, began = f"/api/v1/classes/{self.code}/control/", time.perf_counter()
        await self._post(teacher, path, **said)
        answered = time.perf_counter() - began
        async with asyncio.timeout(PATIENCE_S):
            await self.all_have.wait()
        lag = time.perf_counter() - began
        await asyncio.sleep(PAUSE_S)
        return lag, answered
