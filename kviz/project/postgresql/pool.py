"""A process that serves has a bounded number of connections to PostgreSQL, which its threads share.

Each request is answered in a separate thread, so a connection per thread would be one per request
that is under way. A thread takes one with its first query and gives it back when its answer is made
(`kviz.common.middleware.GiveBack`), or waits for one.

A database that is busy and one that is away are told apart. If it is busy, waiting helps. If it is
away, waiting only holds threads: those that wait for a connection are told at once.

Only processes that serve have a pool: a worker has one connection, and its copies would inherit the
pool's.
"""

from __future__ import annotations

import select
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg_pool import ConnectionPool

BUSY_S: Final = 20.0
"""How long a thread waits for a connection or a lock; then the answer is 503, as that of a busy
SQLite."""
SILENCE_S: Final = 4.0
"""How long nothing is heard of a statement before the server is asked whether it is there."""
AGAIN_S: Final = 2.0
"""How long it is believed that the server is away."""
IDLE_S: Final = 60.0
"""How long connections stay open that nobody needs any more."""

T = TypeVar("T")


class Watched(psycopg.Connection[Any]):
    """A connection that does not wait for a server that is no longer there.

    A frozen server, or one behind a line that was cut, closes nothing. A slow one answers others.
    """

    taken_from: Pool | None = None
    """Where it is at home, while a thread holds it."""

    def wait(self, gen: PQGen[T], *given: Any, **named: Any) -> T:
        return super().wait(self._watched(gen), *given, **named)

    def _watched(self, gen: PQGen[T]) -> PQGen[T]:
        heard_s = time.monotonic()
        try:
            wanted = next(gen)
            while True:
                ready = yield wanted
                if ready:
                    heard_s = time.monotonic()
                elif time.monotonic() > heard_s + SILENCE_S:
                    self._ask_another_way()
                    heard_s = time.monotonic()
                wanted = gen.send(ready)
        except StopIteration as end:
            found: T = end.value
            return found

    def _ask_another_way(self) -> None:
        try:
            if self.taken_from is None:
                raise psycopg.OperationalError("the database falls silent while it is connected to")
            self.taken_from.try_to_connect()
        except psycopg.OperationalError:
            self.close()
            raise


class Pool(ConnectionPool[Watched]):
    """psycopg's pool, in which nobody waits for a server that is away.

    `parameters` are those of `psycopg.connect`; `configure` is called with each new connection.
    """

    def __init__(
        self, size: int, parameters: Mapping[str, Any], configure: Callable[[Watched], None]
    ) -> None:
        super().__init__(
            connection_class=Watched,
            kwargs=dict(parameters),
            configure=configure,
            min_size=0,
            max_size=size,
            timeout=BUSY_S,
            max_idle=IDLE_S,
            reconnect_timeout=AGAIN_S,
            open=False,
        )
        self._n_held = 0
        self._trying = threading.Lock()
        self._problem: psycopg.OperationalError | None = None
        self._believed_s = 0.0

    def getconn(self, timeout: float | None = None) -> Watched:
        """Take one, which has to be given back. Raises OperationalError: it is away, or busy."""
        with self._lock:
            if not self._pool and not self._n_held:
                self._refuse_while_away()
        found = super().getconn(timeout)
        while is_readable(found):  # the server has said good-bye
            found.close()
            super().putconn(found)
            found = super().getconn(timeout)
        with self._lock:
            self._n_held += 1
        found.taken_from = self
        return found

    def putconn(self, conn: Watched) -> None:
        """Give one back."""
        conn.taken_from = None
        with self._lock:
            self._n_held -= 1
        super().putconn(conn)

    def try_to_connect(self) -> None:
        """See whether the server is there. Raises OperationalError.

        If several threads ask at the same time, one connects for all.
        """
        with self._trying:
            self._refuse_while_away()
            try:
                self._close_connection(self._connect())
            except psycopg.OperationalError as problem:
                self._tell_waiting(problem)
                raise

    def _connect(self, timeout: float | None = None) -> Watched:
        """Make one. A server that takes no more of them is away only if no thread holds one."""
        try:
            found = super()._connect(timeout)
        except psycopg.OperationalError as problem:
            self._problem, self._believed_s = problem, time.monotonic() + AGAIN_S
            if not self._n_held:
                self._tell_waiting(problem)
            raise
        self._problem = None
        return found

    def _refuse_while_away(self) -> None:
        if self._problem and time.monotonic() < self._believed_s:
            raise away(self._problem)

    def _tell_waiting(self, problem: psycopg.OperationalError) -> None:
        with self._lock:
            while self._waiting:
                self._waiting.popleft().fail(away(problem))


def away(problem: psycopg.OperationalError) -> psycopg.OperationalError:
    """What a thread is told that needs a connection."""
    return psycopg.OperationalError(f"the database is away: {problem}")


def is_readable(connection: Watched) -> bool:
    """Whether the server has said something that nobody asked for, or closed a connection."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))
