"""Where variants begin: copies of a worker's process that rest in the middle of a run.

While a worker executes a run it forks now and then. The copy shares its memory, copy on write, and
rests. Told of a variant that is the same up to there, it forks again, and that copy goes on as the
variant: the cluster, the queue, every cache and the trace's hash are as simulating the variant
from its beginning would have made them (docs/adr/0035). Told where a variant is expected to fork,
a copy goes on up to there, and rests again. Nothing depends on it: without a point, or if a copy
dies, the worker simulates from the beginning.

A point's socket leads to the worker. When the worker closes it, or is gone, the copy leaves.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import logging
import os
import signal
import socket
import sys
import time
from dataclasses import dataclass, field
from typing import Final, NoReturn
from uuid import UUID

from django.db import connections

from kviz.common.memory import memory_is_short
from kviz.forking import fork
from kviz.runs.execution.claim import run_take_back
from kviz.runs.models import Run

log = logging.getLogger(__name__)

EVERY_S: Final = 0.25
"""How long a worker simulates between two points at least, in CPU time: on a machine that is busy
copies would cost more than what is between them."""
IDLE_S: Final = 900.0
"""After so long without a variant all points are given up."""
MAX_MESSAGE_BYTES: Final = 4096
_SET_CHILD_SUBREAPER: Final = 36

_INPUTS: Final = (
    "kind",
    "snapshot_id",
    "scheduler_config",
    "scenario",
    "seed",
    "release",
    "feature_gates",
    "tie_break",
    "queue_order",
    "out_of_tree_plugins",
)


@dataclass(frozen=True, slots=True)
class Place:
    """Where a point is: in all runs of these `inputs` and early `changes`, after so many cycles."""

    inputs: str
    changes: str
    n_cycles: int

    @staticmethod
    def of(run: Run, n_cycles: int) -> Place:
        early = [each for each in run.changes if each["cycle"] <= n_cycles]
        made = [[each["cycle"], each["change"]] for each in early]
        return Place(_digest([getattr(run, name) for name in _INPUTS]), _digest(made), n_cycles)


@dataclass(frozen=True, slots=True)
class Errand:
    """What a copy of a point is for: to execute a variant, or to rest again where one may fork."""

    run_id: UUID
    rest_before: int = 0
    """It rests before this cycle of the run, which is another's; 0: it executes the run."""

    def encode(self) -> bytes:
        return json.dumps([str(self.run_id), self.rest_before]).encode()

    @staticmethod
    def decode(told: bytes) -> Errand:
        run_id, rest_before = json.loads(told)
        return Errand(UUID(run_id), rest_before)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Point:
    place: Place
    control: socket.socket
    pid: int
    before_fork: bool
    """Whether a variant forked right after it: the next one may do so, too."""


@dataclass
class ForkPoints:
    """The points of one worker, at most `most`; with 0 there are none.

    `every_s` is how long it simulates between two of them at least.
    """

    worker: str
    most: int
    every_s: float = EVERY_S
    _points: list[_Point] = field(default_factory=list)
    _ended: list[int] = field(default_factory=list)
    """Copies that have been told to leave, and are still to be waited for."""
    _report: socket.socket | None = None
    """In a copy that runs an errand: to the worker."""
    _began_s: float = 0.0
    _left_s: float = 0.0
    _used_s: float = 0.0

    def __post_init__(self) -> None:
        if sys.platform != "linux":
            self.most = 0
        if self.most:
            _adopt_orphans()

    # ------------------------------------------------------------ while a run is executed

    def begin(self) -> None:
        """A run is about to be executed."""
        self._began_s = self._left_s = time.process_time()
        self._used_s = time.monotonic()

    def is_due(self) -> bool:
        """Whether another point is worth its cost: the longer the run, the farther apart."""
        if not self.most:
            return False
        now_s = time.process_time()
        return now_s - self._left_s >= max(self.every_s, (now_s - self._began_s) / self.most)

    def leave(self, run: Run, n_cycles: int, *, before_fork: bool) -> Errand | None:
        """Leave a copy of this process behind that rests here; return None.

        In a copy of that copy return what it is for. `before_fork`: a variant forks right here,
        or is expected to.
        """
        self._left_s = time.process_time()
        if not self.most or memory_is_short():
            return None
        here, there = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        pid = _fork()
        if pid == 0:
            here.close()
            self._close_all()
            return _rest(there, self)
        there.close()
        self._add(_Point(Place.of(run, n_cycles), here, pid, before_fork))
        return None

    def _close_all(self) -> None:
        """Let go of the sockets of the process that this is a copy of."""
        for point in self._points:
            point.control.close()
        self._points, self._ended = [], []
        if self._report is not None:
            self._report.close()
            self._report = None

    def _add(self, point: _Point) -> None:
        """Take a point in, in place of another if there are too many; a copy hands it up."""
        if self._report is not None:
            place = point.place
            values = [place.inputs, place.changes, place.n_cycles, point.pid, point.before_fork]
            told = json.dumps(values).encode()
            with contextlib.suppress(OSError), point.control:
                socket.send_fds(self._report, [told], [point.control.fileno()])
            return
        self._points.append(point)
        while len(self._points) > self.most:
            self._end(_most_dispensable(self._points, self.most))

    # ------------------------------------------------------------ in a copy

    def become(self, report: socket.socket) -> None:
        """Run an errand from now on, in a copy."""
        self._report = report
        self.begin()

    @property
    def in_copy(self) -> bool:
        """Whether this process is a copy that runs an errand."""
        return self._report is not None

    def leave_copy(self, code: int = 0) -> None:
        """End the process if it is a copy: what follows is the worker's business."""
        if self.in_copy:
            logging.shutdown()
            os._exit(code)

    # ------------------------------------------------------------ in the worker

    def execute(self, run: Run) -> Run | None:
        """Have a copy execute a run that was claimed; return the run if it is still to be executed.

        That is so if there is no point on its way, or if the copy could not or did not finish it.
        """
        self._reap()
        point = self._nearest(run, run.forked_at) if run.last_seq < 0 else None
        if point is None or not self._send(point, Errand(run.pk)):
            return run
        return run_take_back(run_id=run.pk, worker=self.worker)

    def prepare(self, run: Run, cycle: int) -> bool:
        """Have a point right before a cycle of a run, for variants that are expected to fork there.

        False if no point is on the way to it.
        """
        self._reap()
        point = self._nearest(run, cycle)
        if point is None:
            return False
        return point.place.n_cycles == cycle - 1 or self._send(point, Errand(run.pk, cycle))

    @property
    def are_there(self) -> bool:
        """Whether anything rests."""
        return bool(self._points)

    def tidy(self) -> None:
        """Give the points up if nobody needs them any more, or if memory is short."""
        self._reap()
        if self._points and (time.monotonic() - self._used_s > IDLE_S or memory_is_short()):
            for point in self._points[:]:
                self._end(point)

    def _nearest(self, run: Run, cycle: int) -> _Point | None:
        """The last point on the way to a cycle of a run."""
        on_its_way = [
            point
            for point in self._points
            if point.place.n_cycles < cycle and point.place == Place.of(run, point.place.n_cycles)
        ]
        return max(on_its_way, key=lambda point: point.place.n_cycles, default=None)

    def _send(self, point: _Point, errand: Errand) -> bool:
        """Have a copy of a point run an errand, and take in what it leaves; False if it cannot."""
        self._used_s = time.monotonic()
        report, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with report, theirs:
            try:
                socket.send_fds(point.control, [errand.encode()], [theirs.fileno()])
            except OSError:  # it has been killed
                self._end(point)
                return False
            theirs.close()
            self._points.remove(point)
            self._points.append(point)
            self._follow(report)
        self._used_s = time.monotonic()
        return True

    def _follow(self, report: socket.socket) -> None:
        """Take in the points that a copy leaves, until it is gone."""
        while True:
            told, fds, _, _ = socket.recv_fds(report, MAX_MESSAGE_BYTES, 1)
            if not told:
                return
            inputs, changes, n_cycles, pid, before_fork = json.loads(told)
            control = socket.socket(fileno=fds[0])
            self._add(_Point(Place(inputs, changes, n_cycles), control, pid, before_fork))

    def _end(self, point: _Point) -> None:
        self._points.remove(point)
        point.control.close()
        self._ended.append(point.pid)
        self._reap()

    def _reap(self) -> None:
        self._ended = [pid for pid in self._ended if not _is_gone(pid)]


def _rest(control: socket.socket, points: ForkPoints) -> Errand:
    """Wait for errands, and leave with the worker; return only in a copy that is to run one."""
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody waits for the copies
        while True:
            told, fds, _, _ = socket.recv_fds(control, MAX_MESSAGE_BYTES, 1)
            if not told:
                _leave(0)
            if _fork() == 0:
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                control.close()
                points.become(socket.socket(fileno=fds[0]))
                return Errand.decode(told)
            os.close(fds[0])
    except BaseException:
        log.exception("a fork point failed")
        _leave(1)


def _leave(code: int) -> NoReturn:
    os._exit(code)


def _fork() -> int:
    """Fork; no connection to a database may be shared, nor anything be written twice."""
    connections.close_all()
    sys.stdout.flush()
    sys.stderr.flush()
    return fork()


def _most_dispensable(points: list[_Point], most: int) -> _Point:
    """One of too many points; those used last come last.

    One in other runs than the latest. Or else, in the longest line (runs are the same up to where
    they fork, then each has its own), the one between two others that are the nearest. A quarter
    of all may be right before forks, and stay.
    """
    latest = points[-1].place.inputs
    others = [point for point in points if point.place.inputs != latest]
    if others:
        return others[0]
    kept = [point for point in points if point.before_fork][-(most // 4 or 1) :]
    lines: dict[str, list[_Point]] = {}
    for point in sorted(points, key=lambda point: point.place.n_cycles):
        lines.setdefault(point.place.changes, []).append(point)
    for line in sorted(lines.values(), key=len, reverse=True):
        gaps = [
            (after.place.n_cycles - before.place.n_cycles, i)
            for i, (before, after) in enumerate(zip(line, line[2:], strict=False), 1)
            if line[i] not in kept
        ]
        if gaps:
            return line[min(gaps)[1]]
    return next((point for point in points if point not in kept), points[0])


def _is_gone(pid: int) -> bool:
    """Whether a copy has ended; it is waited for if it is this process's to wait for."""
    try:
        return os.waitpid(pid, os.WNOHANG)[0] != 0
    except ChildProcessError:
        return True


def _adopt_orphans() -> None:
    """Be the one who waits for copies of copies: in a container there may be no init to do it."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
