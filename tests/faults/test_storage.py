"""Disks that are full or read-only, workers cut off, and two versions."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests import data_folder
from tests.faults.servers import postgresql_at
from tests.faults.site import followed
from tests.faults.test_kills import is_away, seen
from tests.running_server import Server, command, environment, start_server, stop_server
from tests.waiting import PATIENCE_S, eventually
from tests.web.cast import crowd
from tests.web.test_serve import call, has_begun, run_of, serve, upload, wait_for

pytestmark = pytest.mark.long

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


def refuses(server: Server) -> None:
    """Nothing can be stored, which is nobody's fault, and passes."""
    with pytest.raises(urllib.error.HTTPError) as refused:
        upload(server, crowd(10))
    is_away(refused.value)
    refused.value.close()


def upload_until_refused(server: Server) -> None:
    """Use up what room there is in files that are larger than what they hold."""
    while True:
        upload(server, crowd(2_000))


def test_a_disk_that_is_full_for_a_while_fails_no_run(tmp_path: Path, template: Path) -> None:
    with small_disk(tmp_path / "disk") as disk:
        server = start_server(data_folder.copy(template, disk))
        try:
            calm = wait_for(server, run_of(server, crowd(2_000)))
            run = run_of(server, crowd(2_000))
            eventually(lambda: has_begun(server, run))
            filler = fill(disk)
            with pytest.raises(urllib.error.HTTPError) as refused:
                upload_until_refused(server)
            is_away(refused.value)
            refused.value.close()
            seen(server, run)  # SQLite may find no room for what it reads with
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


class FragileDisk:
    """A disk with ext4 on it that is read-only from its first error on, as Linux has it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "disk"
        self._image = folder / "image"
        self.folder.mkdir()

    def make(self) -> None:
        with self._image.open("wb") as file:
            file.truncate(DISK_MIB << 20)
        if os.getuid() != 0 or not self._does("mkfs.ext4", "-q", self._image) or not self.mount():
            pytest.skip("ADR 0040: no file system can be mounted here")

    def mount(self) -> bool:
        return self._does("mount", "-o", "loop,errors=remount-ro", self._image, self.folder)

    def unmount(self) -> bool:
        return self._does("umount", self.folder)

    def fail(self) -> None:
        """Meet an error, behind all that was written so far."""
        subprocess.run(["sync", "--file-system", self.folder], check=True)
        found = ["findmnt", "--noheadings", "--output", "SOURCE", str(self.folder)]
        device = subprocess.run(found, check=True, capture_output=True, text=True).stdout
        Path(f"/sys/fs/ext4/{Path(device.strip()).name}/trigger_fs_error").write_text("1")

    def mend(self) -> None:
        """What somebody who operates it does: nobody may use it meanwhile."""
        assert self.unmount()
        self._does("e2fsck", "-p", self._image)  # 1: it mended something
        assert self.mount()

    def _does(self, *command: str | Path) -> bool:
        return subprocess.run(command, check=False, capture_output=True).returncode == 0


@pytest.fixture
def fragile(tmp_path: Path) -> Iterator[FragileDisk]:
    disk = FragileDisk(tmp_path)
    disk.make()
    yield disk
    assert disk.unmount()


def test_a_disk_that_turns_read_only_under_a_server_fails_no_run(fragile: FragileDisk) -> None:
    server = start_server(fragile.folder)
    try:
        calm = wait_for(server, run_of(server, crowd(2_000)))
        run = run_of(server, crowd(2_000))
        eventually(lambda: has_begun(server, run))
        fragile.fail()
        for _ in range(3):
            refuses(server)
        seen(server, run)
        assert json.load(urllib.request.urlopen(f"{server.base_url}/healthz"))["status"] == "ok"
    finally:
        assert stop_server(server) == 0
    fragile.mend()
    server = start_server(fragile.folder)
    try:
        end = wait_for(server, run)
        assert (end["status"], end["trace_hash"]) == ("finished", calm["trace_hash"])
        assert followed(server, run) == calm["last_seq"]
    finally:
        assert stop_server(server) == 0


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
        env = environment(self.server.data_dir, KVIZ_DATABASE_URL=url)
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

    def turn_read_only(self, setting: bool) -> None:
        """As a database is that another one has taken over from."""
        import psycopg

        with psycopg.connect(self.database, autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(
                f"ALTER SYSTEM SET default_transaction_read_only = {'on' if setting else 'off'}"
            )
            connection.execute("SELECT pg_reload_conf()")

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


def test_a_database_that_is_read_only_for_a_while_fails_no_run(workers: Workers, calm: Any) -> None:
    with workers.worker("patient"):
        run = run_of(workers.server, crowd(600))
        eventually(lambda: has_begun(workers.server, run))
        workers.turn_read_only(True)
        try:
            eventually(lambda: "the database failed" in workers.log("patient"))
            refuses(workers.server)
            assert call(workers.server, f"/runs/{run}/")["status"] == "running"
        finally:
            workers.turn_read_only(False)
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
