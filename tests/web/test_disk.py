"""What is deleted makes room on the disk again."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.utils import ConnectionHandler

from kviz import environment
from kviz.common.disk import WORTH_BYTES, free_bytes, give_back, renew_older_file
from kviz.live.tasks import Worker

MIB = 1 << 20


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "kviz.sqlite3"


def connected(file: Path) -> BaseDatabaseWrapper:
    """A connection as the settings have it."""
    found: dict[str, Any] = {**environment.database(""), "NAME": str(file)}
    return ConnectionHandler({"default": found})["default"]


def fill_and_delete(database: BaseDatabaseWrapper | sqlite3.Connection) -> None:
    cursor = database.cursor()
    cursor.execute("CREATE TABLE chunk (data BLOB)")
    for _ in range(20):
        cursor.execute("INSERT INTO chunk VALUES (zeroblob(1048576))")
    cursor.execute("DELETE FROM chunk WHERE rowid > 1")
    if isinstance(database, sqlite3.Connection):
        database.commit()


def on_disk(file: Path) -> int:
    return sum(each.stat().st_size for each in file.parent.glob(f"{file.name}*"))


@pytest.mark.django_db
def test_free_pages_are_cut_off_some_at_a_time(file: Path) -> None:
    database = connected(file)
    fill_and_delete(database)
    assert free_bytes(database) > 18 * MIB

    n_steps = 0
    while give_back(database):
        n_steps += 1

    assert 2 <= n_steps <= 10
    assert on_disk(file) < 4 * MIB
    database.close()


@pytest.mark.django_db(transaction=True)
def test_an_idle_worker_does_it() -> None:
    worker, is_a_file = Worker("w"), connection.vendor == "sqlite"
    if is_a_file:  # another database sees to it itself
        fill_and_delete(connection)
    before = free_bytes(connection)
    for _ in range(10):
        worker.tidy()
    after = free_bytes(connection)
    if is_a_file:
        with connection.cursor() as cursor:
            cursor.execute("DROP TABLE chunk")
    assert (before > 18 * MIB) == is_a_file
    assert after < WORTH_BYTES


@pytest.mark.django_db
def test_a_file_of_an_older_kviz_is_written_anew_once(file: Path) -> None:
    older = sqlite3.connect(file)
    older.execute("PRAGMA journal_mode=WAL")
    fill_and_delete(older)
    older.close()
    database = connected(file)
    assert not give_back(database)

    assert renew_older_file(database)
    database.close()

    assert on_disk(file) < 4 * MIB
    again = connected(file)
    assert not renew_older_file(again)
    fill_and_delete_more(again)
    assert give_back(again)
    again.close()


def fill_and_delete_more(database: BaseDatabaseWrapper) -> None:
    cursor = database.cursor()
    cursor.execute("INSERT INTO chunk VALUES (zeroblob(4194304))")
    cursor.execute("DELETE FROM chunk")
