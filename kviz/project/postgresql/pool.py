"""A process that serves has a bounded number of connections to PostgreSQL, which its threads share.

Each request is answered in a separate thread, so a connection per thread would be one per request
that is under way. A thread takes one with its first query and gives it back when its answer is made
(`kviz.common.middleware.GiveBack`), or waits for one.

A database that is busy and one that is away are told apart. If it is busy, waiting helps. If it is
away, waiting only holds threads: who would need a new connection is told at once.

Only processes that serve have a pool: a worker has one connection, and its copies would inherit the
pool's.
"""

from __future__ import annotations

import select
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final, TypeVar

import psycopg
from psycopg.abc import PQGen
from psycopg.pq import TransactionStatus

BUSY_S: Final = 20.0
"""How long a thread waits for a connection or a lock; then the answer is 503, as that of a busy
SQLite."""
SILENCE_S: Final = 4.0
"""How long nothing is heard of a statement before the server is asked whether it is there."""
AGAIN_S: Final = 2.0
"""How long nobody tries to connect after that has failed."""
IDLE_S: Final = 60.0
"""How long connections stay open that nobody needs any more."""

T = TypeVar("T")


class Watched(psycopg.Connection[Any]):
    """A connection that does not wait for a server that is no longer there.

    A frozen server, or one behind a line that was cut, closes nothing. A slow one answers others.
    """

    _pool: Pool | None  # type: ignore[assignment]  # None: it is being made

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
            if self._pool is None:
                raise psycopg.OperationalError("the database falls silent while it is connected to")
            self._pool.try_to_connect()
        except psycopg.OperationalError:
            self.close()
            raise


class Pool:
    """At most `size` connections, each of them held by a thread, or idle, or being made.

    The methods without an underscore are those that Django calls, and `try_to_connect`.
    """

    def __init__(self, connect: Callable[[], Watched], size: int) -> None:
        self._connect = connect
        self._size = size
        self._lock = threading.Lock()
        self._waiting: deque[threading.Condition] = deque()
        self._held = 0
        self._connecting = 0
        self._idle: list[tuple[float, Watched]] = []  # since when; the newest is the last
        self._cleaner: threading.Timer | None = None
        self._problem: psycopg.OperationalError | None = None
        self._again_s = 0.0
        self._trying = threading.Lock()

    def open(self) -> None:
        """Do nothing: connections are made when they are needed."""

    def close(self) -> None:
        """Close those that are idle."""
        with self._lock:
            while self._idle:
                self._idle.pop()[1].close()

    def getconn(self) -> Watched:
        """Take one, which has to be given back. Raises OperationalError: it is away, or busy."""
        until_s = time.monotonic() + BUSY_S
        while True:
            if found := self._idle_or_place(until_s):
                return found
            try:
                found = self._connect()
            except psycopg.OperationalError as problem:
                self._connected(problem)
            except BaseException:
                self._connected(None)
                raise
            else:
                found._pool = self
                self._connected(None, held=1)
                return found

    def _idle_or_place(self, until_s: float) -> Watched | None:
        """An idle connection; or None: one may be made, for which there is place.

        Who came first goes first, else one of a crowd would wait for ever.
        """
        turn = threading.Condition(self._lock)
        with turn:
            self._waiting.append(turn)
            try:
                while self._waiting[0] is not turn or not self._is_one_free():
                    now_s = time.monotonic()
                    if now_s >= until_s:
                        raise psycopg.OperationalError(f"{self._size} connections are all in use")
                    is_away = now_s < self._again_s
                    turn.wait((min(until_s, self._again_s) if is_away else until_s) - now_s)
                return self._take()
            finally:
                self._waiting.remove(turn)
                self._wake()

    def _is_one_free(self) -> bool:
        """Whether one is idle, or may be made. Raises OperationalError: it is away."""
        while self._idle and is_readable(self._idle[-1][1]):  # the server has said good-bye
            self._idle.pop()[1].close()
        if self._idle:
            return True
        if time.monotonic() >= self._again_s:
            return self._held + self._connecting < self._size
        if self._held:
            return False
        raise psycopg.OperationalError(f"the database is away: {self._problem}")

    def _take(self) -> Watched | None:
        if not self._idle:
            self._connecting += 1
            return None
        self._held += 1
        return self._idle.pop()[1]

    def _wake(self) -> None:
        if self._waiting:
            self._waiting[0].notify()

    def _connected(self, problem: psycopg.OperationalError | None, *, held: int = 0) -> None:
        with self._lock:
            self._connecting -= 1
            self._held += held
            if problem:
                self._is_away(problem)
            self._wake()

    def _is_away(self, problem: psycopg.OperationalError) -> None:
        self._problem = problem
        self._again_s = time.monotonic() + AGAIN_S

    def putconn(self, given: Watched) -> None:
        """Give one back."""
        is_fine = given.info.transaction_status == TransactionStatus.IDLE
        if not is_fine:
            given.close()
        with self._lock:
            self._held -= 1
            if is_fine:
                self._idle.append((time.monotonic(), given))
                self._clean_later()
            self._wake()

    def try_to_connect(self) -> None:
        """See whether the server is there. Raises OperationalError.

        One thread does so for all that ask at the same time.
        """
        with self._trying:
            if self._problem and time.monotonic() < self._again_s:
                raise self._problem
            try:
                self._connect().close()
            except psycopg.OperationalError as problem:
                with self._lock:
                    self._is_away(problem)
                raise

    def _clean_later(self) -> None:
        if self._cleaner is None:
            self._cleaner = threading.Timer(IDLE_S, self._clean)
            self._cleaner.daemon = True
            self._cleaner.start()

    def _clean(self) -> None:
        """Close connections that have been idle for long."""
        with self._lock:
            before_s = time.monotonic() - IDLE_S
            while self._idle and self._idle[0][0] <= before_s:
                self._idle.pop(0)[1].close()
            self._cleaner = None
            if self._idle:
                self._clean_later()


def is_readable(connection: Watched) -> bool:
    """Whether the server has said something that nobody asked for, or closed a connection."""
    waiting = select.poll()
    waiting.register(connection.fileno(), select.POLLIN)
    return bool(waiting.poll(0))
