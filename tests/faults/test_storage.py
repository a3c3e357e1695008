"""Disks that are full or read-only, clocks that are moved, workers cut off, and two versions."""

from __future__ import annotations

import contextlib
import datetime as dt
import errno
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from kviz.runs.models import Run
from tests.faults.servers import postgresql_at
from tests.faults.test_broker import followed
from tests.faults.test_kills import is_away
from tests.running_server import Server, command, environment, start_server, stop_server
from tests.waiting import PATIENCE_S, eventually
from tests.web.cast import crowd, execute, person
from tests.web.test_serve import call, has_begun, run_of, serve, upload, wait_for
from tests.web.test_workers import Died, dying_after

pytestmark = pytest.mark.xdist_group("storage")  # they share what they kill

DISK_MIB = 48


@contextlib.contextmanager
def small_disk(folder: Path, *options: str) -> Iterator[Path]:
    """A file system of its own, as far as this machine lets us make one."""
    folder.mkdir()
    more = [each for option in options for each in ("-o", option)]
    made = ["mount", "-t", "tmpfs", "-o", f"size={DISK_MIB}m", *more, "tmpfs", str(folder)]
    if os.getuid() != 0 or subprocess.run(made, check=False, capture_output=True).returncode:
        pytest.skip("ADR 0040: no file system can be mounted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def fill(disk: Path) -> Path:
    """Leave no room at all."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError as full:
                assert full.errno == errno.ENOSPC  # noqa: PT017 (any other is no full disk)
    return filler


def upload_until_refused(server: Server) -> None:
    """Use up what room there is in files that are larger than what they hold."""
    while True:
        upload(server, crowd(2_000))


def test_a_disk_that_is_full_for_a_while_fails_no_run(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        server = start_server(disk)
        try:
            calm = wait_for(server, run_of(server, crowd(2_000)))
            run = run_of(server, crowd(2_000))
            eventually(lambda: has_begun(server, run))
            filler = fill(disk)
            with pytest.raises(urllib.error.HTTPError) as refused:
                upload_until_refused(server)
            is_away(refused.value)
            refused.value.close()
            assert call(server, f"/runs/{run}/")["status"] in ("queued", "running")
            filler.unlink()
            again = wait_for(server, run)
            assert (again["status"], again["trace_hash"]) == ("finished", calm["trace_hash"])
            assert followed(server, run) == calm["last_seq"]
        finally:
            assert stop_server(server) == 0


def test_a_read_only_folder_is_said_to_be_one(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "ro") as disk:
        ended = serve(disk, "--port", "0")
    assert ended.returncode == 1
    assert f"The data folder {disk} cannot be written to: Read-only file system" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("hours", [-1, 1], ids=["put back", "put forward"])
def test_a_clock_that_was_moved_strands_no_run(db: None, hours: int) -> None:
    ada = person()
    whole = ada.finished(crowd(150))
    run = ada.queued(crowd(150))
    with pytest.raises(Died):
        execute(worker="dies", engine=dying_after(130))
    moved = timezone.now() - dt.timedelta(hours=hours)
    Run.objects.filter(pk=run.pk).update(heartbeat_at=moved)

    assert execute(worker="heir").pk == run.pk

    run.refresh_from_db()
    assert (run.status, run.trace_hash) == ("finished", whole.trace_hash)


class Line:
    """The line between a worker and its database, which can be cut."""

    def __init__(self, port: int) -> None:
        self._to = port
        self._is_cut = False
        self._ends: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        self._is_cut = True
        for end in self._ends:
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        self._is_cut = False

    def close(self) -> None:
        self.cut()
        self._listener.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                here, _ = self._listener.accept()
                if self._is_cut:
                    here.close()
                    continue
                there = socket.create_connection(("127.0.0.1", self._to))
                self._ends += [here, there]
                for ends in ((here, there), (there, here)):
                    threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, one: socket.socket, other: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
        for end in (one, other):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
                end.close()


class Workers:
    """A web process without a worker, PostgreSQL, and workers of their own commands."""

    def __init__(self, server: Server, database: str) -> None:
        self.server, self.database = server, database

    @contextlib.contextmanager
    def worker(self, name: str, database: str = "", program: Sequence[str] = ()) -> Iterator[int]:
        log = self.server.data_dir / f"{name}.log"
        url = database or self.database
        env = environment(self.server.data_dir, KVIZ_DATABASE_URL=url, KVIZ_FORK_POINTS="0")
        with log.open("w") as file:
            process = subprocess.Popen(
                program or command("worker"), env=env, stderr=file, stdout=subprocess.DEVNULL
            )
        try:
            eventually(lambda: "is ready" in log.read_text())
            yield process.pid
        finally:
            process.terminate()
            process.wait(PATIENCE_S)

    def log(self, name: str) -> str:
        return (self.server.data_dir / f"{name}.log").read_text()

    def forget_signs_of_life(self) -> None:
        """As if half a minute had gone by."""
        import psycopg

        with psycopg.connect(self.database) as connection:
            connection.execute("UPDATE runs_run SET heartbeat_at = now() - interval '1 hour'")


@pytest.fixture(scope="module")
def workers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workers]:
    with postgresql_at() as (_, database):
        folder = tmp_path_factory.mktemp("workers")
        server = start_server(folder, "--workers", "0", KVIZ_DATABASE_URL=database)
        try:
            yield Workers(server, database)
        finally:
            assert stop_server(server) == 0


@pytest.fixture(scope="module")
def calm(workers: Workers) -> Any:
    with workers.worker("calm"):
        return wait_for(workers.server, run_of(workers.server, crowd(600)))


@pytest.fixture
def line(workers: Workers) -> Iterator[Line]:
    found = Line(int(workers.database.rpartition(":")[2].partition("/")[0]))
    yield found
    found.close()


def behind(line: Line, workers: Workers) -> str:
    there = workers.database.rpartition(":")[2].partition("/")[0]
    return workers.database.replace(f":{there}/", f":{line.port}/")


def test_a_worker_that_was_cut_off_goes_on(workers: Workers, calm: Any, line: Line) -> None:
    with workers.worker("cut", behind(line, workers)):
        run = run_of(workers.server, crowd(600))
        eventually(lambda: has_begun(workers.server, run))
        line.cut()
        eventually(lambda: "the database failed" in workers.log("cut"))
        assert call(workers.server, f"/runs/{run}/")["status"] == "running"
        line.mend()
        end = wait_for(workers.server, run)
    assert (end["status"], end["trace_hash"]) == ("finished", calm["trace_hash"])
    assert followed(workers.server, run) == calm["last_seq"]


def test_a_worker_comes_back_when_another_has_its_run(
    workers: Workers, calm: Any, line: Line
) -> None:
    with workers.worker("cut", behind(line, workers)):
        run = run_of(workers.server, crowd(600))
        eventually(lambda: has_begun(workers.server, run))
        line.cut()
        eventually(lambda: "the database failed" in workers.log("cut"))
        workers.forget_signs_of_life()
        with workers.worker("heir"):
            eventually(lambda: f"run {run} begins" in workers.log("heir"))
            line.mend()
            end = wait_for(workers.server, run)
    assert (end["status"], end["trace_hash"]) == ("finished", calm["trace_hash"])
    assert followed(workers.server, run) == calm["last_seq"]


OLDER = """\
import scheduler_core
scheduler_core.ENGINE_VERSION = "0.0-older"
from kviz.cli import main
raise SystemExit(main(["worker"]))
"""


OLDER_BUILD = """\
from kviz import engine_build
engine_build.sources_hash = lambda: "older"
from kviz.cli import main
raise SystemExit(main(["worker"]))
"""


@pytest.mark.parametrize("program", [OLDER, OLDER_BUILD], ids=["version", "build"])
def test_two_versions_share_the_work_while_one_is_replaced(
    workers: Workers, calm: Any, program: str
) -> None:
    older = [sys.executable, "-c", program]
    with workers.worker("older", program=older) as pid:
        first = wait_for(workers.server, run_of(workers.server, crowd(600)))
        begun = run_of(workers.server, crowd(600))
        eventually(lambda: has_begun(workers.server, begun))
        os.kill(pid, signal.SIGKILL)
    workers.forget_signs_of_life()
    with workers.worker("newer"):
        end = wait_for(workers.server, begun)

    assert first["status"] == "finished"
    assert "older" in first["engine_version"]
    assert end["engine_version"] == calm["engine_version"] != first["engine_version"]
    assert end["trace_hash"] == calm["trace_hash"]
    assert (first["trace_hash"] == calm["trace_hash"]) == (program is OLDER_BUILD)
    assert followed(workers.server, begun) == calm["last_seq"]
