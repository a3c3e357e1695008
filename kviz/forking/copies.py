"""Work done by copies of this process, on all cores: what is loaded is shared, copy on write.

Each piece of work has its own copy, forked when it begins. So it costs what it touches, not
what was loaded before (a cluster of 5,000 nodes, say), and it may change what it has, as no other
piece sees that. Work that changes nothing is cheaper in copies that last (`side_by_side`): what a
piece touches is copied once, not for each of them. What comes back is pickled. The work must not
touch a connection to a database or a socket that the copy inherits; the copy itself leaves without
closing any. Where processes cannot be forked, nothing of this can be called.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import selectors
import signal
import struct
import sys
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, Final, Generic, NoReturn, TypeVar

from kviz.forking import end_with_parent, fork
from scheduler_core.api.gc_freeze import freeze, unfreeze

Item = TypeVar("Item")
T = TypeVar("T")

MAX_TRIES: Final = 2
"""So often a piece of work is begun whose process dies, before it is given up."""
READ_BYTES: Final = 1 << 20
NUMBER: Final = struct.Struct("=q")
"""How numbers of pieces, and lengths of answers, go through pipes."""
ONE: Final = 1
MANY: Final = sys.maxsize
"""So many pieces a copy does."""
TICK_S: Final = 0.5
TELL_S: Final = 0.25
"""The shortest time between two reports of a count."""


@dataclass(frozen=True)
class Done(Generic[T]):
    """A piece of work, by its number, and what it came to."""

    number: int
    value: T


@dataclass(frozen=True)
class Died:
    """A piece of work whose copies were killed before they had a result: out of memory, perhaps."""

    number: int
    reason: str


@dataclass(frozen=True)
class Doing:
    """A piece of work that is under way, and how far its `Count` is."""

    number: int
    count: int


class Count:
    """Counts what work does. `hear` is called with its progress now and then.

    In a copy it begins at 0, and the process that the copy was made of gets a `Doing`.
    """

    def __init__(self, hear: Callable[[int], None]) -> None:
        self._hear = hear
        self._n = 0
        self._due_at = 0.0

    def __call__(self) -> None:
        """One more. Raises what `hear` raises."""
        self._n += 1
        if (now := time.monotonic()) >= self._due_at:
            self._due_at = now + TELL_S
            self._hear(self._n)

    def restart(self) -> None:
        """Count something else, from 0."""
        self._n = 0

    def in_copy(self, pipe: BinaryIO) -> None:
        """Tell the process at the other end of a pipe from now on: a number below 0."""

        def hear(n: int) -> None:
            pipe.write(NUMBER.pack(-n))
            pipe.flush()

        self._hear, self._n, self._due_at = hear, 0, 0.0


class CopyDied(RuntimeError):
    """The copies of a piece of work were killed before they had a result."""


def n_cores() -> int:
    """How many copies may run at the same time on this machine."""
    with contextlib.suppress(AttributeError):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def mapped(work: Callable[[Item], T], items: Iterable[Item], jobs: int) -> list[T]:
    """Return `work(item)` for every item in their order, `jobs` at a time.

    What an item raises is raised here. Raises CopyDied.
    """
    listed = list(items)
    done = as_done(lambda number: work(listed[number]), range(len(listed)), jobs)
    results = dict(_values(done))
    return [results[number] for number in range(len(listed))]


def as_done(
    work: Callable[[int], T],
    numbers: Iterable[int],
    jobs: int,
    tick_s: float = TICK_S,
    count: Count | None = None,
    per_copy: int = ONE,
) -> Generator[list[Done[T] | Died | Doing], None, None]:
    """Do `work(number)` for all numbers, `jobs` at a time, and yield what is done as it comes.

    Numbers are taken from `numbers` one by one, when a copy may begin; it does `per_copy` pieces
    at most, one after the other. A list comes at least every `tick_s` seconds, empty if nothing
    was done: the caller can do other things. How far pieces are that count is in it, too. What a
    piece of work raises is raised here. Closing the iterator ends all copies.
    """
    yield from _done_by(_Copies(work, max(1, jobs), per_copy, count), numbers, tick_s)


def _done_by(
    copies: _Copies[T], numbers: Iterable[int], tick_s: float = TICK_S
) -> Generator[list[Done[T] | Died | Doing], None, None]:
    try:
        yield from copies.run(numbers, tick_s)
    finally:
        copies.end()


def _values(
    batches: Generator[list[Done[T] | Died | Doing], None, None],
) -> Generator[tuple[int, T], None, None]:
    """Yield what came of each piece, by its number. Raises CopyDied."""
    for found in batches:
        for each in found:
            if isinstance(each, Died):
                raise CopyDied(each.reason)
            if isinstance(each, Done):
                yield each.number, each.value


def side_by_side(
    jobs: int,
) -> Callable[[Callable[[int], T], Iterator[int]], Generator[tuple[int, T], None, None]]:
    """Return what does work for numbers, `jobs` at a time, and yields each with what it came to.

    A copy does one piece after the other, so the work must change nothing that another piece reads.
    Closing the iterator ends all copies. It raises CopyDied, and what a piece of work raises.
    """

    def run(
        work: Callable[[int], T], numbers: Iterator[int]
    ) -> Generator[tuple[int, T], None, None]:
        yield from _values(_done_by(_Copies(work, max(1, jobs), MANY), numbers))

    return run


@dataclass
class _Copy:
    """A copy at work on a piece. `orders` is the pipe by which it is given the next one."""

    pid: int
    orders: int
    number: int
    tries: int
    n_begun: int = 1
    answer: bytearray = field(default_factory=bytearray)

    def take_counts(self) -> list[Doing]:
        """Return the latest count that came, if one did."""
        found = []
        while len(self.answer) >= NUMBER.size:
            (n,) = NUMBER.unpack_from(self.answer)
            if n >= 0:
                break
            found = [Doing(self.number, -n)]
            del self.answer[: NUMBER.size]
        return found

    def take_answer(self) -> bytes | None:
        """Return the answer when all of it is there."""
        if len(self.answer) < NUMBER.size:
            return None
        (size,) = NUMBER.unpack_from(self.answer)
        if len(self.answer) < NUMBER.size + size:
            return None
        answer = bytes(self.answer[NUMBER.size :])
        self.answer.clear()
        return answer


class _Copies(Generic[T]):
    """Copies of this process; each does at most `n_pieces` pieces of the work, then leaves."""

    def __init__(
        self, work: Callable[[int], T], jobs: int, n_pieces: int, count: Count | None = None
    ) -> None:
        self._work = work
        self._count = count
        self._jobs = jobs
        self._n_pieces = n_pieces
        self._at_work: dict[int, _Copy] = {}
        """By the pipe on which they answer."""
        self._idle: dict[int, _Copy] = {}
        self._again: deque[tuple[int, int]] = deque()
        """Pieces whose copy died, and how often they have been begun."""
        self._selector = selectors.DefaultSelector()

    def run(self, numbers: Iterable[int], tick_s: float) -> Iterator[list[Done[T] | Died | Doing]]:
        waiting = iter(numbers)
        gc.collect()
        is_first = freeze()  # or the collector of a copy would touch every page, and so copy it
        try:
            self._fill(waiting)
            while self._at_work:
                yield self._wait(tick_s)
                self._fill(waiting)
        finally:
            if is_first:
                unfreeze()

    def _fill(self, waiting: Iterator[int]) -> None:
        while len(self._at_work) < self._jobs:
            if self._again:
                number, tries = self._again.popleft()
            elif (number := next(waiting, -1)) >= 0:
                tries = 0
            else:
                return
            self._begin(number, tries + 1)

    def _begin(self, number: int, tries: int) -> None:
        if not self._idle:
            self._fork(number, tries)
            return
        reader, copy = self._idle.popitem()
        copy.number, copy.tries = number, tries
        copy.n_begun += 1
        self._at_work[reader] = copy
        with contextlib.suppress(BrokenPipeError):  # it was killed while idle: it has no answer
            os.write(copy.orders, NUMBER.pack(number))

    def _fork(self, number: int, tries: int) -> None:
        reader, writer = os.pipe()
        taken, orders = os.pipe()
        first = os.getpid()
        pid = fork()
        if pid == 0:
            end_with_parent(first)
            others = [fd for pipe, each in self._copies() for fd in (pipe, each.orders)]
            _be_copy(self._work, taken, writer, [reader, orders, *others], self._count)
        os.close(writer)
        os.close(taken)
        os.write(orders, NUMBER.pack(number))
        self._at_work[reader] = _Copy(pid, orders, number, tries)
        self._selector.register(reader, selectors.EVENT_READ)

    def _copies(self) -> list[tuple[int, _Copy]]:
        return [*self._at_work.items(), *self._idle.items()]

    def _wait(self, tick_s: float) -> list[Done[T] | Died | Doing]:
        found: list[Done[T] | Died | Doing] = []
        for key, _ in self._selector.select(tick_s):
            if key.fd in self._idle:
                self._leave(key.fd, self._idle.pop(key.fd))  # killed, with nothing to do
                continue
            copy = self._at_work[key.fd]
            piece = os.read(key.fd, READ_BYTES)
            copy.answer += piece
            found += copy.take_counts()
            if (answer := copy.take_answer()) is not None:
                found.append(self._answered(key.fd, answer))
            elif not piece:
                found += self._died(key.fd)
        return found

    def _answered(self, reader: int, answer: bytes) -> Done[T]:
        copy = self._at_work.pop(reader)
        if copy.n_begun < self._n_pieces:
            self._idle[reader] = copy
        else:
            self._leave(reader, copy)
        has_failed, value = pickle.loads(answer)
        if has_failed:
            raise value
        return Done(copy.number, value)

    def _died(self, reader: int) -> list[Done[T] | Died]:
        copy = self._at_work.pop(reader)
        code = self._leave(reader, copy)
        if copy.tries < MAX_TRIES:
            self._again.append((copy.number, copy.tries))
            return []
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return [Died(copy.number, f"its process died {copy.tries} times ({how})")]

    def _leave(self, reader: int, copy: _Copy) -> int:
        """Let a copy go that has no more to do, and return with which code it went."""
        self._selector.unregister(reader)
        os.close(reader)
        os.close(copy.orders)
        return os.waitstatus_to_exitcode(os.waitpid(copy.pid, 0)[1])

    def end(self) -> None:
        """End all copies that are under way."""
        for reader, copy in self._copies():
            os.kill(copy.pid, signal.SIGKILL)
            self._leave(reader, copy)
        self._at_work.clear()
        self._idle.clear()
        self._selector.close()


def _be_copy(
    work: Callable[[int], T], orders: int, writer: int, others: list[int], count: Count | None
) -> NoReturn:
    """Do the work for each number that is sent, and leave without the endings of the first process.

    Each answer is sent with its length before it.
    """
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for other in others:
            os.close(other)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (
            0,
            1,
        ):  # or a reader of this process's output would wait for its copies
            os.dup2(nothing, standard)
        with open(writer, "wb") as pipe:
            if count is not None:
                count.in_copy(pipe)
            while number := os.read(orders, NUMBER.size):
                if count is not None:
                    count.restart()
                answer = _answer(work, *NUMBER.unpack(number))
                pipe.write(NUMBER.pack(len(answer)))
                pipe.write(answer)
                pipe.flush()
        code = 0
    finally:
        os._exit(code)


def _answer(work: Callable[[int], T], number: int) -> bytes:
    """Whether the work raised something, and what it came to, pickled."""
    try:
        return pickle.dumps((False, work(number)), pickle.HIGHEST_PROTOCOL)
    except Exception as error:
        told = "".join(traceback.format_exception(error))
        try:
            error.add_note(told)
            packed = pickle.dumps((True, error), pickle.HIGHEST_PROTOCOL)
            pickle.loads(packed)  # some exceptions can be written, but not made again
            return packed
        except Exception:
            return pickle.dumps((True, RuntimeError(told)), pickle.HIGHEST_PROTOCOL)
