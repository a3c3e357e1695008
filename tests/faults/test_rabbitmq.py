"""RabbitMQ as the broker: the same promises as with Redis, by another protocol.

Only with `KVIZ_EFFORT=long`, as it is the one server that nothing else needs (Debian:
rabbitmq-server).
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.faults.servers import Killable
from tests.faults.test_broker import (
    BEGINS,
    Site,
    is_as_if_nothing_happened,
    the_one_that_works,
)
from tests.faults.test_kills import IS_LONG
from tests.real_servers import folder_of_its_own, free_port, unprivileged
from tests.running_server import environment, start_server, stop_server
from tests.waiting import eventually
from tests.web.cast import crowd
from tests.web.test_experiment_crash import CLUSTER, LOSSES, begun, has_done
from tests.web.test_serve import call, has_begun, run_of, upload, wait_for

PROGRAM = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
pytestmark = [
    pytest.mark.xdist_group("rabbitmq"),
    pytest.mark.skipif(not (IS_LONG and PROGRAM.exists()), reason="ADR 0040: the long form"),
]


class _WithChildren(Killable):
    """A server whose program is a shell script that leads a group of processes."""

    def kill(self) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()


@contextmanager
def rabbitmq_at() -> Iterator[Killable]:
    """A RabbitMQ of its own, on free ports, by an ordinary user."""
    port, names = free_port(), free_port()
    with folder_of_its_own() as folder:
        own = {
            "HOME": folder,
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "ERL_EPMD_PORT": names,
            "RABBITMQ_NODENAME": f"kviz{port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": port,
            "RABBITMQ_DIST_PORT": free_port(),
            "RABBITMQ_MNESIA_BASE": folder / "data",
            "RABBITMQ_LOG_BASE": folder / "log",
            "RABBITMQ_LOGS": "-",
            "RABBITMQ_ENABLED_PLUGINS_FILE": folder / "plugins",
            "RABBITMQ_PID_FILE": folder / "pid",
        }
        settings = [f"{name}={value}" for name, value in own.items()]
        command = ["setsid", "env", *settings, str(PROGRAM)]
        server = _WithChildren(command, port, folder, unprivileged())
        server.start()
        try:
            yield server
        finally:
            server.kill()
            eventually(lambda: _does("env", *settings, "epmd", "-kill"))


def _does(*command: str) -> bool:
    """Whether a command succeeds; who has the names ends once it knows that no node is left."""
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode == 0


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("rabbitmq")
    with rabbitmq_at() as rabbitmq:
        more = {"KVIZ_CELERY_BROKER_URL": f"amqp://guest:guest@127.0.0.1:{rabbitmq.port}//"}
        server = start_server(folder, **more)
        try:
            yield Site(server, rabbitmq, environment(folder, **more))
        finally:
            assert stop_server(server) == 0


@pytest.fixture(scope="module")
def calm(site: Site) -> Any:
    return wait_for(site.server, run_of(site.server, crowd(400)))


def test_a_message_delivered_again_executes_nothing_twice(site: Site, calm: Any) -> None:
    assert calm["status"] == "finished"
    run = run_of(site.server, crowd(400))
    site.send("run", run, times=20)
    is_as_if_nothing_happened(site, run, calm)
    assert site.executions(run) == 1


def test_runs_go_before_experiments_and_what_is_cancelled_is_revoked(site: Site) -> None:
    snapshot, busy = upload(site.server, CLUSTER), run_of(site.server, crowd(3_000))
    eventually(lambda: has_begun(site.server, busy))
    first, second = (begun(site.server, snapshot, LOSSES) for _ in range(2))
    run = run_of(site.server, crowd(3))
    call(site.server, f"/experiments/{second}/cancel/", {"yes": True})
    eventually(lambda: f"experiment-{second}" in site.celery("inspect", "--json", "revoked"))
    wait_for(site.server, run)
    eventually(lambda: has_done(site.server, first, 1_000))
    log = site.log
    assert log.index(f"run {run} {BEGINS}") < log.index(f"experiment {first} {BEGINS}")
    assert f"experiment {second} {BEGINS}" not in log


@pytest.mark.parametrize("who", ["the receiver", "the process that works"])
def test_a_worker_killed_in_the_middle_of_a_run(site: Site, calm: Any, who: str) -> None:
    run = run_of(site.server, crowd(400))
    receiver, child = the_one_that_works(site.server)
    eventually(lambda: has_begun(site.server, run))
    os.kill(receiver if who == "the receiver" else child, signal.SIGKILL)
    is_as_if_nothing_happened(site, run, calm)
