"""A `kviz serve`, its worker and the broker between them: what tests of any broker stand on."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.faults.servers import Killable, children_of
from tests.running_server import Server, command, environment, start_server, stop_server
from tests.waiting import PATIENCE_S, eventually
from tests.web.cast import crowd
from tests.web.test_serve import events_followed, has_begun, run_of, wait_for, workers_of

BEGINS = "begins or goes on"
LONG = {"kind": "luck", "asked": {"runs": 80, "coins": ["arrival"]}}


@dataclass(frozen=True)
class Site:
    """A `kviz serve` with its worker, and the broker between them."""

    server: Server
    broker: Killable
    env: dict[str, str]

    @property
    def log(self) -> str:
        logs = sorted(self.server.data_dir.glob("*.log"))
        return "".join(each.read_text() for each in logs)

    def executions(self, run: str) -> int:
        return self.log.count(f"run {run} {BEGINS}")

    def celery(self, *arguments: str) -> str:
        """What Celery's own command says, as somebody who operates it asks."""
        address = ["--broker", self.env["KVIZ_CELERY_BROKER_URL"]]
        command = [sys.executable, "-m", "celery", *address, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False).stdout

    def send(self, kind: str, key: str, times: int) -> None:
        """Send messages about a row, as a broker that delivers again does."""
        program = (
            "import django; django.setup()\n"
            "from kviz.common import announcing\n"
            f"for _ in range({times}): announcing.send({kind!r}, {key!r})"
        )
        env = self.env | {"DJANGO_SETTINGS_MODULE": "kviz.project.settings"}
        subprocess.run([sys.executable, "-c", program], env=env, check=True)


@contextlib.contextmanager
def site_at(folder: Path, broker: Killable, **settings: str) -> Iterator[Site]:
    """Serve with a broker, whose address is among the settings, until the block is over."""
    server = start_server(folder, **settings)
    try:
        yield Site(server, broker, environment(folder, **settings))
    finally:
        assert stop_server(server) == 0


@contextlib.contextmanager
def second_worker(site: Site) -> Iterator[subprocess.Popen[bytes]]:
    with (site.server.data_dir / "second.log").open("w") as log:
        worker = subprocess.Popen(command("worker"), env=site.env, stderr=log)
    try:
        eventually(lambda: "is ready" in (site.server.data_dir / "second.log").read_text())
        yield worker
    finally:
        worker.terminate()
        assert worker.wait(PATIENCE_S) == 0


def the_one_that_works(server: Server) -> tuple[int, int]:
    """The process that Celery receives messages with, and the one of its pool.

    A receiver that was killed a moment ago may still be seen: who has no child is looked for again.
    """

    def pair() -> tuple[int, int] | None:
        for receiver in workers_of(server):
            for child in children_of(receiver):
                return receiver, child
        return None

    return eventually(pair)


def is_as_if_nothing_happened(site: Site, run: str, calm: Any) -> None:
    found = wait_for(site.server, run)
    assert (found["status"], found["error"]) == ("finished", "")
    assert found["trace_hash"] == calm["trace_hash"]
    assert found["last_seq"] == calm["last_seq"]
    assert followed(site.server, run) == found["last_seq"]


def followed(server: Server, run: str) -> int:
    """The last of a run's events that a follower gets."""
    seen, _ = events_followed(server, run)
    return len(seen) - 1


def killed_in_the_middle_of_a_run(site: Site, calm: Any, who: str) -> None:
    """Kill the receiver, or the process that works, and see that the run goes on elsewhere."""
    run = run_of(site.server, crowd(400))
    receiver, child = the_one_that_works(site.server)
    eventually(lambda: has_begun(site.server, run))
    os.kill(receiver if who == "the receiver" else child, signal.SIGKILL)
    is_as_if_nothing_happened(site, run, calm)
    assert the_one_that_works(site.server)[1] != child


def delivered_again(site: Site, run: str, calm: Any) -> None:
    """Send messages about a run while it waits, and once it is over: it is executed once."""
    site.send("run", run, times=20)
    is_as_if_nothing_happened(site, run, calm)
    site.send("run", run, times=20)
    last = run_of(site.server, crowd(3))
    wait_for(site.server, last)
    is_as_if_nothing_happened(site, run, calm)
    assert site.executions(run) == site.executions(last) == 1
