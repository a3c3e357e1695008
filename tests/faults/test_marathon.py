"""A whole site for minutes: PostgreSQL, Redis, Celery, two web processes, two workers.

One of the workers is killed again and again, as the operating system kills, while runs wait, an
experiment is carried out and a class is held. What comes out is what comes out undisturbed, nobody
is answered with 5xx, and no process grows.

`KVIZ_EFFORT=long` takes five minutes, 50 runs, 400 variants and 300 pupils; its figures are
written to standard output (`-s`).
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest

from tests.faults.pupils import Class
from tests.faults.servers import children_of, postgresql_at, redis_at
from tests.faults.site import BEGINS
from tests.running_server import Server, command, environment, serving
from tests.waiting import eventually
from tests.web.cast import crowd, pod
from tests.web.test_experiment_crash import LOSSES, NODE, begun, is_as_if_nothing_happened
from tests.web.test_serve import call, upload, wait_for

pytestmark = pytest.mark.long

IS_LONG: Final = os.environ.get("KVIZ_EFFORT", "short") == "long"
SECONDS: Final = 300 if IS_LONG else 40
KILL_EVERY_S: Final = 20.0 if IS_LONG else 10.0
N_RUNS: Final = 50 if IS_LONG else 10
N_VARIANTS: Final = 400 if IS_LONG else 40
N_PUPILS: Final = 300 if IS_LONG else 30
GROWS_KIB: Final = 96 * 1024
"""What a process may grow by in the second half: caches fill."""
PAUSE_S: Final = 0.5
STARTS_S: Final = 600.0
EXPERIMENT_S: Final = 600.0
SILENCE_S: Final = 30.0
"""The promise of the manual: a run whose worker died is claimed within that."""

LOSSY = "".join(NODE.format(i=i) for i in range(N_VARIANTS)) + "".join(
    pod(f"web-{i:03}", "1") for i in range(N_VARIANTS)
)
SMALL = "".join(NODE.format(i=i) for i in range(12)) + "".join(
    pod(f"p-{i:02}", "300m") for i in range(90)
)


@dataclass
class Workers:
    """`kviz worker` processes, each started again when it was killed, as an orchestrator does."""

    folder: Path
    env: dict[str, str]
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)
    n_killed: int = 0

    def start(self) -> None:
        with (self.folder / "workers.log").open("a") as log:
            self.processes.append(subprocess.Popen(command("worker"), env=self.env, stderr=log))

    def kill(self, worker: subprocess.Popen[bytes]) -> None:
        """Kill one with the process that works for it."""
        children = children_of(worker.pid)
        for pid in (worker.pid, *children):
            os.kill(pid, signal.SIGKILL)
        worker.wait()
        self.processes.remove(worker)
        self.n_killed += 1

    def end(self) -> None:
        for worker in list(self.processes):
            self.kill(worker)

    @property
    def log(self) -> str:
        return (self.folder / "workers.log").read_text()


@dataclass
class Site:
    webs: list[Server]
    workers: Workers
    database: str

    def processes(self) -> list[int]:
        """Of all web processes and workers."""
        receivers = [worker.pid for worker in self.workers.processes]
        below = [pid for receiver in receivers for pid in children_of(receiver)]
        return [*(web.process.pid for web in self.webs), *receivers, *below]

    def asked(self, sql: str, *values: object) -> Any:
        with psycopg.connect(self.database, autocommit=True) as connection:
            return connection.execute(sql, values).fetchone()


@contextmanager
def site_of(new_data_dir: Callable[[], Path], **more: str) -> Iterator[Site]:
    folder = new_data_dir()
    with ExitStack() as stack:
        _, database = stack.enter_context(postgresql_at())
        redis = stack.enter_context(redis_at(folder / "redis"))
        url = f"redis://127.0.0.1:{redis.port}"
        shared = {
            "KVIZ_MODE": "server",
            "KVIZ_TLS": "no",
            "KVIZ_SECRET_KEY": "of a marathon",
            "KVIZ_DATABASE_URL": database,
            "KVIZ_REDIS_URL": f"{url}/0",
            "KVIZ_CELERY_BROKER_URL": f"{url}/1",
            "KVIZ_GUEST_RATE": "100000/hour",
            "KVIZ_RUN_RATE": "100000/hour",
            "KVIZ_MAX_WAITING_RUNS": "1000",
            "KVIZ_CLASS_SEATS_PER_ADDRESS": "1000",
            "KVIZ_METRICS_TOKEN": "figures",
            **more,
        }
        webs = [
            stack.enter_context(serving(new_data_dir(), "--workers", "0", **shared))
            for _ in range(2)
        ]
        workers = Workers(folder, environment(folder, **shared))
        stack.callback(workers.end)
        for _ in range(2):
            workers.start()
        eventually(lambda: workers.log.count("is ready") == 2, STARTS_S)  # on a busy machine
        yield Site(webs, workers, database)


@dataclass
class Grown:
    """The most memory that processes had, in KiB, in each half of the time."""

    halves: tuple[dict[int, int], dict[int, int]] = field(default_factory=lambda: ({}, {}))

    def look(self, pids: list[int], *, half: int) -> None:
        for pid in pids:
            try:
                fields = Path(f"/proc/{pid}/statm").read_text().split()
            except OSError:  # it was killed
                continue
            resident = int(fields[1]) * os.sysconf("SC_PAGE_SIZE") // 1024
            self.halves[half][pid] = max(self.halves[half].get(pid, 0), resident)

    @property
    def most_kib(self) -> int:
        return max((*self.halves[0].values(), *self.halves[1].values()))

    def of(self, pid: int) -> int:
        """How much more a process had in the second half."""
        return self.halves[1][pid] - self.halves[0][pid]


@contextmanager
def held(class_: Class) -> Iterator[None]:
    """Hold a class in a thread of its own meanwhile. Raises what went wrong there."""
    began, over, problems = threading.Event(), [], []

    async def hold() -> None:
        event = asyncio.Event()
        over.append((asyncio.get_running_loop(), event))
        began.set()
        await class_.hold(event)

    def run() -> None:
        try:
            asyncio.run(hold())
        except BaseException as problem:
            problems.append(problem)
            began.set()

    thread = threading.Thread(target=run)
    thread.start()
    began.wait()
    try:
        yield
    finally:
        for loop, event in over:
            if thread.is_alive():
                loop.call_soon_threadsafe(event.set)
        thread.join()
    if problems:
        raise problems[0]


def statuses_of(web: Server) -> Counter[str]:
    """How many requests a web process has answered, by the first digit of the status."""
    request = urllib.request.Request(f"{web.base_url}/metrics")
    request.add_header("Authorization", "Bearer figures")
    with urllib.request.urlopen(request) as answer:
        lines = answer.read().decode().splitlines()
    counts: Counter[str] = Counter()
    for line in lines:
        if line.startswith("kviz_http_requests_total{"):
            labels, _, value = line.rpartition(" ")
            counts[labels.split('status="')[1][0]] += int(float(value))
    return counts


def test_a_site_whose_workers_are_killed_does_what_it_does_undisturbed(
    new_data_dir: Callable[[], Path],
) -> None:
    with site_of(new_data_dir) as site:
        web = site.webs[0]
        snapshot, lossy = upload(web, crowd(400)), upload(web, LOSSY)
        calm = wait_for(web, asked_for(web, snapshot))
        undisturbed = begun(web, lossy, LOSSES)
        see_the_end(web, undisturbed)
        class_ = Class([each.base_url for each in site.webs], N_PUPILS)
        runs: list[str] = []
        experiments: list[str] = []
        grown = Grown()
        with held(class_):
            shake(site, grown, lambda: ask_for_more(site, snapshot, lossy, runs, experiments))
        for run in runs:
            found = wait_for(web, run)
            assert (found["status"], found["error"]) == ("finished", "")
            assert found["trace_hash"] == calm["trace_hash"]
            assert found["last_seq"] == calm["last_seq"]
        for experiment in experiments:
            see_the_end(web, experiment)
            is_as_if_nothing_happened(web, experiment, undisturbed)
        webs = [each.process.pid for each in site.webs]
        answered = sum((statuses_of(each) for each in site.webs), Counter())
        figures = {
            "killed": site.workers.n_killed,
            "runs": len(runs),
            "experiments": len(experiments),
            "answers of the class": class_.n_answers,
            "sockets lost": class_.n_lost_sockets,
            "requests by status": dict(answered),
            "webs grew by MiB": [round(grown.of(pid) / 1024, 1) for pid in webs],
            "most memory of a process, MiB": round(grown.most_kib / 1024),
        }
        sys.stdout.write(json.dumps(figures) + "\n")
        assert answered["5"] == 0
        assert class_.n_lost_sockets == 0
        assert class_.n_answers >= N_PUPILS
        assert all(grown.of(pid) < GROWS_KIB for pid in webs)


def see_the_end(web: Server, experiment: str) -> None:
    """It is of hundreds of variants, behind all runs."""
    path = f"/experiments/{experiment}/"
    eventually(lambda: call(web, path)["status"] not in ("queued", "running"), EXPERIMENT_S)


def asked_for(web: Server, snapshot: str) -> str:
    return str(call(web, "/runs/", {"snapshot": snapshot})["id"])


def ask_for_more(
    site: Site, snapshot: str, lossy: str, runs: list[str], experiments: list[str]
) -> None:
    """Have so many runs wait and an experiment be carried out, at whichever web process."""
    first, second = site.webs
    waiting = site.asked("SELECT count(*) FROM runs_run WHERE status = 'queued'")[0]
    open_ones = site.asked(
        "SELECT count(*) FROM experiments_experiment WHERE status IN ('queued', 'running')"
    )[0]
    if not waiting and not open_ones:
        experiments.append(begun(first, lossy, LOSSES))
        runs.extend(asked_for(second, snapshot) for _ in range(N_RUNS))


def shake(site: Site, grown: Grown, ask_for_more: Callable[[], None]) -> None:
    """Kill one of the workers now and then, start another in its place."""
    began_s = time.monotonic()
    kill_s = began_s + KILL_EVERY_S
    while (now_s := time.monotonic()) < began_s + SECONDS:
        ask_for_more()
        grown.look(site.processes(), half=int(now_s > began_s + SECONDS / 2))
        if now_s >= kill_s:
            kill_s += KILL_EVERY_S
            site.workers.kill(site.workers.processes[0])
            site.workers.start()
        time.sleep(PAUSE_S)


def test_a_run_whose_worker_was_killed_is_claimed_while_other_work_waits(
    new_data_dir: Callable[[], Path],
) -> None:
    """The luck of many runs waits, which gives way to the run: nobody comes and goes for ever."""
    with site_of(new_data_dir, KVIZ_LUCK_OF_RUNS="yes") as site:
        web = site.webs[0]
        small = upload(web, SMALL)
        for run in [asked_for(web, small) for _ in range(14)]:
            wait_for(web, run)
        run = asked_for(web, upload(web, crowd(2_000)))
        eventually(lambda: call(web, f"/runs/{run}/")["cycles"] >= 200)
        holder = eventually(lambda: holder_of(site, run))
        site.workers.kill(holder)
        killed_s, log_before = time.monotonic(), len(site.workers.log)
        eventually(lambda: holder_of(site, run) not in (None, holder))
        claimed_s = time.monotonic() - killed_s
        grown = Grown()
        grown.look(site.processes(), half=0)
        found = wait_for(web, run)
        grown.look(site.processes(), half=1)
        assert (found["status"], found["error"]) == ("finished", "")
        begun_again = site.workers.log[log_before:].count(BEGINS)
        figures = {
            "claimed after s": round(claimed_s, 1),
            "begun since": begun_again,
            "most memory of a process, MiB": round(grown.most_kib / 1024),
        }
        sys.stdout.write(json.dumps(figures) + "\n")
        assert claimed_s < SILENCE_S
        assert begun_again <= 2 * 14 + 1


def holder_of(site: Site, run: str) -> subprocess.Popen[bytes] | None:
    """The worker that holds a run, which has its number in its name."""
    [name] = site.asked("SELECT claimed_by FROM runs_run WHERE id = %s", run)
    return next((each for each in site.workers.processes if name.endswith(f":{each.pid}")), None)
