"""`kviz backup` and `kviz restore`: nothing lost, into either database, and no harm by mistake."""

from __future__ import annotations

import contextlib
import re
import sqlite3
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import zstandard

from kviz.project.backup import BackupProblem, check_backup
from tests.real_servers import new_database
from tests.running_server import Server, command, environment, serving
from tests.waiting import eventually
from tests.web.cast import CLUSTER, crowd
from tests.web.test_serve import call, has_begun, run_of, wait_for


@pytest.fixture(scope="module")
def backed_up(server: Server, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str, Any]:
    """A backup made while kviz is served; the run in it, and all that REST says of that."""
    file = tmp_path_factory.mktemp("backups") / "kviz.backup"
    run = run_of(server, CLUSTER)
    wait_for(server, run)
    assert kviz(server.data_dir, "backup", str(file)).returncode == 0
    return file, run, known(server, run)


def kviz(data_dir: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command(*arguments), env=environment(data_dir, **more), capture_output=True, text=True
    )


def known(server: Server, run: str) -> Any:
    """What a script can learn of a run, of its pending pod, and of its first cycle."""
    document = call(server, f"/runs/{run}/")
    same = {key: document[key] for key in ("id", "trace_hash", "cycles", "status")}
    parts = ("cycles/", "cycles/1/", "pods/shop/giant/why/")
    return same, [call(server, f"/runs/{run}/{part}") for part in parts]


def served(data_dir: Path, run: str, **more: str) -> Any:
    """What a server that has been given a backup says of the run; and that it makes new ones."""
    with serving(data_dir, **more) as server:
        found = known(server, run)
        assert wait_for(server, run_of(server, CLUSTER))["trace_hash"] == found[0]["trace_hash"]
        return found


@pytest.mark.slow("starts a server on what was restored")
def test_a_backup_restores_everything_elsewhere(
    backed_up: tuple[Path, str, Any], tmp_path: Path
) -> None:
    file, run, told = backed_up

    restored = kviz(tmp_path, "restore", str(file))

    assert restored.returncode == 0, restored.stderr
    assert re.search(r"\b\d+ runs", restored.stdout)
    assert served(tmp_path, run) == told


@pytest.mark.long
def test_a_server_moves_from_sqlite_to_postgresql_and_back(
    backed_up: tuple[Path, str, Any], postgresql: str, tmp_path: Path
) -> None:
    file, run, told = backed_up
    url = new_database(postgresql)
    there, again = tmp_path / "there", tmp_path / "again.backup"
    there.mkdir()

    assert kviz(there, "restore", str(file), KVIZ_DATABASE_URL=url).returncode == 0
    assert served(there, run, KVIZ_DATABASE_URL=url) == told

    assert kviz(there, "backup", str(again), KVIZ_DATABASE_URL=url).returncode == 0
    assert kviz(tmp_path, "restore", str(again)).returncode == 0
    assert served(tmp_path, run) == told


@pytest.mark.long
def test_a_run_goes_on_where_its_backup_was_restored(
    postgresql: str, data_dir: Path, tmp_path: Path
) -> None:
    first, url = data_dir, new_database(postgresql)
    one, two = tmp_path / "one.backup", tmp_path / "two.backup"
    with serving(first) as server:
        calm = wait_for(server, run_of(server, crowd(400)))
        run = run_of(server, crowd(400))
        eventually(lambda: has_begun(server, run))
        call(server, f"/runs/{run}/pause/", {"yes": True})
        stored = call(server, f"/runs/{run}/")["last_seq"]
        assert 0 <= stored < calm["last_seq"]

    assert kviz(first, "backup", str(one)).returncode == 0
    assert kviz(first, "restore", str(one), KVIZ_DATABASE_URL=url).returncode == 0
    assert kviz(first, "backup", str(two), KVIZ_DATABASE_URL=url).returncode == 0
    assert kviz(tmp_path, "restore", str(two)).returncode == 0
    for folder, more in ((first, {"KVIZ_DATABASE_URL": url}), (tmp_path, {})):
        with serving(folder, **more) as server:
            assert call(server, f"/runs/{run}/")["last_seq"] == stored
            call(server, f"/runs/{run}/resume/", {"yes": True})
            end = wait_for(server, run)
            assert (end["status"], end["trace_hash"]) == ("finished", calm["trace_hash"])


@pytest.mark.slow("runs the command to restore twice")
def test_what_is_there_goes_only_when_asked(
    backed_up: tuple[Path, str, Any], data_dir: Path
) -> None:
    file, run, _ = backed_up
    runs_before = runs_in(data_dir)

    refused = kviz(data_dir, "restore", str(file))
    assert refused.returncode == 1
    assert "--replace" in refused.stderr
    assert runs_in(data_dir) == runs_before

    assert kviz(data_dir, "restore", "--replace", str(file)).returncode == 0
    assert run in runs_in(data_dir)


def runs_in(data_dir: Path) -> set[str]:
    with database_of(data_dir) as database:
        return {str(UUID(str(key))) for (key,) in database.execute("SELECT id FROM runs_run")}


@contextlib.contextmanager
def database_of(data_dir: Path) -> Iterator[Any]:
    """A connection to a folder's own database, wherever the tests run; what it wrote stays."""
    import psycopg

    url = environment(data_dir).get("KVIZ_DATABASE_URL")
    connection = psycopg.connect(url) if url else sqlite3.connect(data_dir / "kviz.sqlite3")
    with contextlib.closing(connection), connection:
        yield connection


def test_a_folder_that_is_served_is_not_replaced(
    backed_up: tuple[Path, str, Any], server: Server
) -> None:
    refused = kviz(server.data_dir, "restore", "--replace", str(backed_up[0]))

    assert refused.returncode == 1
    assert "Stop it" in refused.stderr


@pytest.mark.long
def test_a_postgresql_that_others_use_is_not_replaced(
    backed_up: tuple[Path, str, Any], postgresql: str, tmp_path: Path
) -> None:
    import psycopg

    url = new_database(postgresql)
    with psycopg.connect(url):
        refused = kviz(tmp_path, "restore", str(backed_up[0]), KVIZ_DATABASE_URL=url)

    assert refused.returncode == 1
    assert "Stop servers and workers first" in refused.stderr


@pytest.mark.slow("starts commands")
def test_a_damaged_file_changes_nothing(backed_up: tuple[Path, str, Any], data_dir: Path) -> None:
    whole = backed_up[0].read_bytes()
    middle = len(whole) // 2
    flipped = whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]
    token = (data_dir / "token").read_text()
    damaged = data_dir / "damaged"
    rows = zstandard.decompress(whole, 1 << 30)
    no_text = zstandard.compress(rows.replace(b"workspace", b"workspac\xff"))
    for content in (whole[:middle], no_text, b"apiVersion: v1\nkind: List\n", flipped):
        damaged.write_bytes(content)
        with pytest.raises(BackupProblem):
            check_backup(damaged)
    refused = kviz(data_dir, "restore", "--replace", str(damaged))
    assert refused.returncode == 1
    assert refused.stderr == f"kviz: {damaged} is no backup of kviz, or it is damaged.\n"
    assert kviz(data_dir, "token").stdout == token


@pytest.mark.slow("starts commands")
def test_data_of_a_later_version_is_refused(data_dir: Path, tmp_path: Path) -> None:
    with database_of(data_dir) as database:
        database.execute(
            "INSERT INTO django_migrations (app, name, applied)"
            " VALUES ('runs', '9999_later', '2026-01-01')"
        )
    file = tmp_path / "later.backup"

    for asked in (("backup", str(file)), ("serve", "--port", "0"), ("worker",)):
        refused = kviz(data_dir, *asked)
        assert refused.returncode == 1
        assert refused.stderr.startswith("kviz: This kviz is older than the data")
        assert "runs.9999_later" in refused.stderr
    assert not file.exists()


def test_only_its_owner_reads_a_backup(backed_up: tuple[Path, str, Any]) -> None:
    assert backed_up[0].stat().st_mode & 0o077 == 0
