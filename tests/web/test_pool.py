"""The connections that the threads of a process share: while others have them all, one waits; while
the database is away, one does not. `tests/faults/test_database_away.py` has a real one.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from psycopg.pq import TransactionStatus

from kviz.project.postgresql.pool import Pool, Watched
from tests.waiting import eventually


class Connection:
    """What the pool needs of one."""

    def __init__(self) -> None:
        self._here, self.server = socket.socketpair()
        self.pgconn = SimpleNamespace(transaction_status=TransactionStatus.IDLE)
        self.is_closed = False

    def fileno(self) -> int:
        return self._here.fileno()

    def close(self) -> None:
        self.is_closed = True
        self.pgconn.transaction_status = TransactionStatus.UNKNOWN
        self._here.close()
        self.server.close()


@dataclass
class Database:
    is_there: bool = True
    made: list[Any] = field(default_factory=list)

    def connect(self, *_where: object, **_how: object) -> Watched:
        if not self.is_there:
            raise psycopg.OperationalError("Connection refused")
        self.made.append(Connection())
        found: Watched = self.made[-1]
        return found

    def goes_away(self) -> None:
        """All that are open break."""
        self.is_there = False
        for each in self.made:
            each.pgconn.transaction_status = TransactionStatus.UNKNOWN
            if not each.is_closed:
                each.server.close()


@pytest.fixture
def database() -> Iterator[Database]:
    found = Database()
    yield found
    for each in found.made:
        each.close()


@pytest.fixture
def pool(database: Database, monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    monkeypatch.setattr(Watched, "connect", database.connect)
    with Pool(2, {}, lambda new: None) as found:
        yield found


@pytest.fixture
def elsewhere() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor() as found:
        yield found


def waiting(pool: Pool, elsewhere: ThreadPoolExecutor) -> Future[Watched]:
    """Another thread that has to wait for a connection."""
    before = len(pool._waiting)
    asked = elsewhere.submit(pool.getconn)
    eventually(lambda: len(pool._waiting) > before)
    return asked


def test_what_is_given_back_goes_to_the_next(pool: Pool, database: Database) -> None:
    pool.putconn(first := pool.getconn())
    assert pool.getconn() is first
    assert len(database.made) == 1


def test_one_waits_while_others_have_them_all(
    pool: Pool, database: Database, elsewhere: ThreadPoolExecutor
) -> None:
    first, second = pool.getconn(), pool.getconn()
    others = [waiting(pool, elsewhere) for _ in range(2)]
    for given, other in zip((first, second), others, strict=True):  # who came first goes first
        pool.putconn(given)
        assert other.result(1) is given
    assert len(database.made) == 2


def test_one_does_not_wait_for_ever(pool: Pool) -> None:
    pool.getconn(), pool.getconn()
    with pytest.raises(psycopg.OperationalError, match="couldn't get a connection"):
        pool.getconn(0.01)


def test_what_broke_while_it_was_idle_is_not_given_out(pool: Pool, database: Database) -> None:
    pool.putconn(pool.getconn())
    database.made[0].server.close()
    assert pool.getconn() is not database.made[0]
    assert database.made[0].is_closed


def test_without_a_database_nobody_waits(
    pool: Pool, database: Database, elsewhere: ThreadPoolExecutor, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = pool.getconn(), pool.getconn()
    others = waiting(pool, elsewhere)
    database.goes_away()
    for each in held:
        pool.putconn(each)
    with pytest.raises(psycopg.OperationalError, match="Connection refused"):
        others.result()
    with pytest.raises(psycopg.OperationalError, match="away"):
        pool.getconn()
    eventually(lambda: not pool._nconns)  # nobody tries any more to replace what broke

    database.is_there = True
    monkeypatch.setattr(pool, "_believed_s", 0.0)  # as if that time had gone by
    assert pool.getconn() in set(database.made) - set(held)


def test_a_database_that_takes_no_more_connections_is_busy(
    pool: Pool, database: Database, elsewhere: ThreadPoolExecutor
) -> None:
    first = pool.getconn()
    database.is_there = False
    second = waiting(pool, elsewhere)
    pool.putconn(first)
    assert second.result() is first
