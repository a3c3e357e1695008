"""Work done by copies of this process, on all cores: what is loaded is shared, copy on write.

Each piece of work has a copy of its own, forked when it begins. So it costs what it touches, not
what was loaded before (a cluster of 5,000 nodes, say), and it may change what it has, as no other
piece sees that. What comes back is pickled. The work must not touch a connection to a database or
a socket that the copy inherits; the copy itself leaves without closing any. Where processes cannot
be forked, nothing of this can be called.
"""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import selectors
import signal
import traceback
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final, Generic, NoReturn, TypeVar

Item = TypeVar("Item")
T = TypeVar("T")

MAX_TRIES: Final = 2
"""So often a piece of work is begun whose process dies, before it is given up."""
READ_BYTES: Final = 1 << 20
TICK_S: Final = 0.5


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
    results = dict(
        side_by_side(jobs)(lambda number: work(listed[number]), iter(range(len(listed))))
    )
    return [results[number] for number in range(len(listed))]


def as_done(
    work: Callable[[int], T], numbers: Iterable[int], jobs: int, tick_s: float = TICK_S
) -> Generator[list[Done[T] | Died], None, None]:
    """Do `work(number)` for all numbers, `jobs` at a time, and yield what is done as it comes.

    Numbers are taken from `numbers` one by one, when a copy may begin. A list comes at least every
    `tick_s` seconds, empty if nothing was done: whoever iterates can look after other things. What
    a piece of work raises is raised here. Closing the iterator ends all copies.
    """
    copies = _Copies(work, max(1, jobs))
    try:
        yield from copies.run(numbers, tick_s)
    finally:
        copies.end()


def side_by_side(
    jobs: int,
) -> Callable[[Callable[[int], T], Iterator[int]], Iterator[tuple[int, T]]]:
    """Return what does work for numbers, `jobs` at a time, and yields each with what it came to.

    It raises CopyDied, and what a piece of work raises.
    """

    def run(work: Callable[[int], T], numbers: Iterator[int]) -> Iterator[tuple[int, T]]:
        for found in as_done(work, numbers, jobs):
            for each in found:
                if isinstance(each, Died):
                    raise CopyDied(each.reason)
                yield each.number, each.value

    return run


@dataclass
class _Copy:
    pid: int
    number: int
    tries: int
    answer: bytearray = field(default_factory=bytearray)


class _Copies(Generic[T]):
    def __init__(self, work: Callable[[int], T], jobs: int) -> None:
        self._work = work
        self._jobs = jobs
        self._by_pipe: dict[int, _Copy] = {}
        self._again: deque[_Copy] = deque()
        self._selector = selectors.DefaultSelector()

    def run(self, numbers: Iterable[int], tick_s: float) -> Iterator[list[Done[T] | Died]]:
        waiting = iter(numbers)
        gc.collect()
        gc.freeze()  # or the collector of a copy would touch every page, and so copy it
        try:
            self._fill(waiting)
            while self._by_pipe:
                yield self._wait(tick_s)
                self._fill(waiting)
        finally:
            gc.unfreeze()

    def _fill(self, waiting: Iterator[int]) -> None:
        while len(self._by_pipe) < self._jobs:
            if self._again:
                copy = self._again.popleft()
                self._fork(copy.number, copy.tries + 1)
            elif (number := next(waiting, None)) is not None:
                self._fork(number, 1)
            else:
                return

    def _fork(self, number: int, tries: int) -> None:
        reader, writer = os.pipe()
        with warnings.catch_warnings():
            # Python 3.12 warns where there are threads: the copy does the work and leaves.
            warnings.simplefilter("ignore", DeprecationWarning)
            pid = os.fork()
        if pid == 0:
            _be_copy(self._work, number, writer, [reader, *self._by_pipe])
        os.close(writer)
        self._by_pipe[reader] = _Copy(pid, number, tries)
        self._selector.register(reader, selectors.EVENT_READ)

    def _wait(self, tick_s: float) -> list[Done[T] | Died]:
        found: list[Done[T] | Died] = []
        for key, _ in self._selector.select(tick_s):
            piece = os.read(key.fd, READ_BYTES)
            self._by_pipe[key.fd].answer += piece
            if not piece:
                found += self._ended(key.fd)
        return found

    def _ended(self, reader: int) -> list[Done[T] | Died]:
        copy = self._by_pipe[reader]
        self._selector.unregister(reader)
        os.close(reader)
        del self._by_pipe[reader]
        code = os.waitstatus_to_exitcode(os.waitpid(copy.pid, 0)[1])
        if code == 0:
            has_failed, value = pickle.loads(copy.answer)
            if has_failed:
                raise value
            return [Done(copy.number, value)]
        if copy.tries < MAX_TRIES:
            self._again.append(copy)
            return []
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return [Died(copy.number, f"its process died {copy.tries} times ({how})")]

    def end(self) -> None:
        """End all copies that are under way."""
        for reader, copy in self._by_pipe.items():
            os.kill(copy.pid, signal.SIGKILL)
            os.waitpid(copy.pid, 0)
            os.close(reader)
        self._by_pipe.clear()
        self._selector.close()


def _be_copy(work: Callable[[int], T], number: int, writer: int, readers: list[int]) -> NoReturn:
    """Do the work, send what it came to, and leave without the endings of the first process."""
    code = 1
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        for reader in readers:
            os.close(reader)
        nothing = os.open(os.devnull, os.O_RDWR)
        for standard in (
            0,
            1,
        ):  # or whoever reads what this process prints would wait for its copies
            os.dup2(nothing, standard)
        answer = _answer(work, number)
        with open(writer, "wb") as pipe:
            pipe.write(answer)
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
