"""Runs and experiments over a real broker: Celery brings messages, the rows decide.

Workers are killed as the operating system kills; messages are lost, late, or delivered twice.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.faults.servers import Killable, redis_at
from tests.running_server import Server, command, environment, start_server, stop_server
from tests.waiting import PATIENCE_S, eventually
from tests.web.cast import crowd
from tests.web.test_experiment_crash import CLUSTER, LOSSES, begun, has_done
from tests.web.test_experiment_crash import is_as_if_nothing_happened as experiments_are_alike
from tests.web.test_serve import (
    call,
    events_followed,
    has_begun,
    run_of,
    upload,
    wait_for,
    workers_of,
)

pytestmark = pytest.mark.xdist_group("broker")  # they share what they kill

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
def site_at(folder: Path) -> Iterator[Site]:
    with redis_at(folder / "redis") as redis:
        url = f"redis://127.0.0.1:{redis.port}"
        more = {"KVIZ_CELERY_BROKER_URL": f"{url}/1", "KVIZ_REDIS_URL": f"{url}/0"}
        server = start_server(folder, **more)
        try:
            yield Site(server, redis, environment(folder, **more))
        finally:
            assert stop_server(server) == 0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with site_at(tmp_path_factory.mktemp("broker")) as found:
        yield found


@contextlib.contextmanager
def second_worker(site: Site) -> Iterator[subprocess.Popen[bytes]]:
    with (site.server.data_dir / "second.log").open("w") as log:
        worker = subprocess.Popen(command("worker"), env=site.env, stderr=log)
    try:
        yield worker
    finally:
        worker.terminate()
        assert worker.wait(PATIENCE_S) == 0


def children_of(pid: int) -> list[int]:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


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


@pytest.fixture(scope="module")
def calm(site: Site) -> Any:
    """What becomes of a run that nothing happens to."""
    return wait_for(site.server, run_of(site.server, crowd(400)))


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


def test_a_run_and_an_experiment(site: Site, calm: Any) -> None:
    assert calm["status"] == "finished"
    snapshot = upload(site.server, CLUSTER)
    experiment = begun(site.server, snapshot, LOSSES)
    done = eventually(lambda: has_done(site.server, experiment, 1_000))
    assert (done["status"], done["n_done"]) == ("finished", done["n_variants"])


def test_a_message_delivered_again_executes_nothing_twice(site: Site, calm: Any) -> None:
    run = run_of(site.server, crowd(400))
    site.send("run", run, times=20)
    is_as_if_nothing_happened(site, run, calm)
    site.send("run", run, times=20)
    last = run_of(site.server, crowd(3))
    wait_for(site.server, last)
    is_as_if_nothing_happened(site, run, calm)
    assert site.executions(run) == site.executions(last) == 1


def test_two_workers_with_one_run(site: Site, calm: Any) -> None:
    with second_worker(site):
        eventually(lambda: "is ready" in (site.server.data_dir / "second.log").read_text())
        runs = [run_of(site.server, crowd(400)) for _ in range(3)]
        for run in runs:
            site.send("run", run, times=10)
        for run in runs:
            is_as_if_nothing_happened(site, run, calm)
    assert [site.executions(run) for run in runs] == [1, 1, 1]


def test_a_run_that_is_cancelled_under_way_and_one_that_waits(site: Site) -> None:
    under_way, waiting = run_of(site.server, crowd(3_000)), run_of(site.server, crowd(3))
    eventually(lambda: has_begun(site.server, under_way))
    for run in (waiting, under_way):
        call(site.server, f"/runs/{run}/cancel/", {"yes": True})
    last = run_of(site.server, crowd(3))
    assert wait_for(site.server, last)["status"] == "finished"
    for run, executions in ((under_way, 1), (waiting, 0)):
        assert call(site.server, f"/runs/{run}/")["status"] == "cancelled"
        assert site.executions(run) == executions


def test_an_experiment_that_is_cancelled_under_way_and_one_that_waits(site: Site) -> None:
    snapshot = upload(site.server, CLUSTER)
    under_way, waiting = (begun(site.server, snapshot, LONG) for _ in range(2))
    eventually(lambda: has_done(site.server, under_way, 1))
    for experiment in (waiting, under_way):
        call(site.server, f"/experiments/{experiment}/cancel/", {"yes": True})
    n_done = call(site.server, f"/experiments/{under_way}/")["n_done"]
    last = begun(site.server, snapshot, LOSSES)
    eventually(lambda: has_done(site.server, last, 1_000))  # so its worker has left it
    for experiment, executions in ((under_way, 1), (waiting, 0)):
        found = call(site.server, f"/experiments/{experiment}/")
        assert (found["status"], site.log.count(f"experiment {experiment} {BEGINS}")) == (
            "cancelled",
            executions,
        )
    assert call(site.server, f"/experiments/{under_way}/")["n_done"] == n_done


def test_messages_of_what_is_cancelled_are_revoked(site: Site) -> None:
    run, experiment = _kept_waiting(site)
    call(site.server, f"/runs/{run}/cancel/", {"yes": True})
    call(site.server, f"/experiments/{experiment}/cancel/", {"yes": True})

    def revoked() -> bool:
        answers = site.celery("inspect", "--json", "revoked")
        return f"run-{run}" in answers and f"experiment-{experiment}" in answers

    eventually(revoked)


def test_a_run_begins_before_an_experiment_that_was_asked_for_earlier(site: Site) -> None:
    run, experiment = _kept_waiting(site)
    wait_for(site.server, run)
    eventually(lambda: has_done(site.server, experiment, 1_000))
    log = site.log
    assert log.index(f"run {run} {BEGINS}") < log.index(f"experiment {experiment} {BEGINS}")


def _kept_waiting(site: Site) -> tuple[str, str]:
    """A run, and an experiment that was asked for before it, while the worker has other work."""
    snapshot, busy = upload(site.server, CLUSTER), run_of(site.server, crowd(3_000))
    eventually(lambda: has_begun(site.server, busy))
    experiment = begun(site.server, snapshot, LOSSES)
    run = run_of(site.server, crowd(3))
    assert call(site.server, f"/runs/{busy}/")["status"] == "running"
    return run, experiment


def test_a_run_that_is_paused_goes_on_when_it_is_resumed(site: Site, calm: Any) -> None:
    run = run_of(site.server, crowd(400))
    eventually(lambda: has_begun(site.server, run))
    call(site.server, f"/runs/{run}/pause/", {"yes": True})
    assert call(site.server, f"/runs/{run}/")["status"] == "paused"
    call(site.server, f"/runs/{run}/resume/", {"yes": True})
    is_as_if_nothing_happened(site, run, calm)


@pytest.mark.parametrize("who", ["the receiver", "the process that works"])
def test_a_worker_killed_in_the_middle_of_a_run(site: Site, calm: Any, who: str) -> None:
    run = run_of(site.server, crowd(400))
    receiver, child = the_one_that_works(site.server)
    eventually(lambda: has_begun(site.server, run))
    os.kill(receiver if who == "the receiver" else child, signal.SIGKILL)
    is_as_if_nothing_happened(site, run, calm)
    assert the_one_that_works(site.server)[1] != child


def test_a_worker_killed_in_an_experiment(site: Site) -> None:
    snapshot = upload(site.server, CLUSTER)
    calm = begun(site.server, snapshot, LOSSES)
    eventually(lambda: has_done(site.server, calm, 1_000))
    shaken = begun(site.server, snapshot, LOSSES)
    eventually(lambda: has_done(site.server, shaken, 2))
    os.kill(the_one_that_works(site.server)[1], signal.SIGKILL)
    experiments_are_alike(site.server, shaken, calm)


def test_a_run_goes_before_an_experiment_that_is_under_way(site: Site) -> None:
    snapshot = upload(site.server, CLUSTER)
    experiment = begun(site.server, snapshot, LONG)
    eventually(lambda: has_done(site.server, experiment, 1))
    run = wait_for(site.server, run_of(site.server, crowd(3)))
    assert call(site.server, f"/experiments/{experiment}/")["finished_at"] is None
    end = eventually(lambda: has_done(site.server, experiment, 1_000))
    assert site.executions(run["id"]) == 1
    assert (run["status"], end["status"]) == ("finished", "finished")


def test_what_waits_is_found_when_the_broker_has_forgotten_it(site: Site, calm: Any) -> None:
    site.broker.kill()
    run = run_of(site.server, crowd(400))
    assert call(site.server, f"/runs/{run}/")["status"] == "queued"
    with connect(
        f"{site.server.ws_url}/ws/runs/{run}/",
        additional_headers={"Authorization": f"Bearer {site.server.token}"},
    ) as live:
        assert json.loads(live.recv(timeout=PATIENCE_S))["status"] == "queued"
    site.broker.start()
    is_as_if_nothing_happened(site, run, calm)
