"""Servers that tests kill and start again: the same port, the same folder, what was stored."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.real_servers import (
    SUPERUSER,
    accepts,
    folder_of_its_own,
    free_port,
    new_database,
    postgresql_command,
    program,
    unprivileged,
)
from tests.waiting import eventually


def children_of(pid: int) -> list[int]:
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has just ended
        return [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


class Killable:
    """A server process on a port of its own."""

    def __init__(self, command: list[str], port: int, folder: Path, user: str | None) -> None:
        self.port = port
        self._command = command
        self._folder = folder
        self._user = user
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start, as often as it takes: what a killed one left may be in the way for a moment."""
        eventually(self._is_started)

    def _is_started(self) -> bool:
        if self._process is not None and self._process.poll() is None:
            return self._answers()
        with (self._folder / "server.log").open("a") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, cwd=self._folder, user=self._user
            )
        return False

    def kill(self) -> None:
        """As the operating system kills; nothing is written any more."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def signal_all(self, number: int) -> None:
        """Send a signal to the process and those it has started: SIGSTOP freezes them."""
        assert self._process is not None
        for pid in (self._process.pid, *children_of(self._process.pid)):
            os.kill(pid, number)

    def _answers(self) -> bool:
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True


@contextmanager
def redis_at(folder: Path) -> Iterator[Killable]:
    """A Redis that stores nothing: killed, it has forgotten all messages."""
    redis = program("redis-server")
    if redis is None:
        pytest.skip("ADR 0039: redis-server is not installed")
    port = free_port()
    options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--port", str(port)]
    folder.mkdir(exist_ok=True)
    server = Killable([redis, *options], port, folder, None)
    server.start()
    try:
        yield server
    finally:
        server.kill()


@contextmanager
def postgresql_at() -> Iterator[tuple[Killable, str]]:
    """A PostgreSQL, and the URL of its empty database: killed, it has all that was committed."""
    if program("postgres") is None:
        pytest.skip("ADR 0039: PostgreSQL is not installed")
    port = free_port()
    with folder_of_its_own() as folder:
        server = Killable(postgresql_command(folder, port), port, folder, unprivileged())
        server.start()
        url = f"postgresql://{SUPERUSER}@127.0.0.1:{port}/postgres"
        try:
            eventually(lambda: accepts(url))
            yield server, new_database(url, "kviz")
        finally:
            server.kill()


RABBITMQ = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
"""Debian keeps it out of PATH: what is there wants to be root."""


class RabbitMQ(Killable):
    """A RabbitMQ of its own; its program is a shell script that leads a group of processes."""

    def __init__(self, settings: list[str], port: int, folder: Path) -> None:
        self._settings = settings
        command = ["setsid", "env", *settings, str(RABBITMQ)]
        super().__init__(command, port, folder, unprivileged())

    def kill(self) -> None:
        assert self._process is not None
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def evaluate(self, erlang: str) -> None:
        """Have it do something that its own command does."""
        command = ["env", *self._settings, str(RABBITMQ.with_name("rabbitmqctl")), "eval", erlang]
        subprocess.run(command, cwd=self._folder, user=self._user, check=True, capture_output=True)


@contextmanager
def rabbitmq_at() -> Iterator[RabbitMQ]:
    """A RabbitMQ, on free ports, by an ordinary user: killed, it has what was stored."""
    if not RABBITMQ.exists():
        pytest.skip("ADR 0040: rabbitmq-server is not installed")
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
        server = RabbitMQ(settings, port, folder)
        server.start()
        try:
            yield server
        finally:
            server.kill()
            eventually(lambda: _does("env", *settings, "epmd", "-kill"))


def _does(*command: str) -> bool:
    """Whether a command succeeds; who has the names ends once it knows that no node is left."""
    return subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode == 0
