"""A cluster's API server, watched: every kind over a separate connection, for as long as wanted.

A watch that ends continues after the last version received. After an error there is always a pause
before the next request about a kind, longer after each error; the caller gives the clock. Nothing
is lost: a watch that cannot continue (410 Gone) begins with a new list.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final, Protocol

import msgspec

from kviz.clusters.reading.connection import Page
from kviz.clusters.reading.problems import (
    ClusterProblem,
    ContextRefused,
    Expired,
    Forbidden,
    NotFound,
    Refusal,
)
from kviz.clusters.reading.resources import EVENTS, RESOURCES, Resource
from kviz.following.changes import Listed, UnreadableChange, listed
from kviz.following.follower import Follower, Journal, Told
from kviz.following.recording import Line, items_of, line_of_watch, take_line, version_in
from scheduler_core.wording import say, told

FIRST_PAUSE_S: Final = 1.0
LONGEST_PAUSE_S: Final = 30.0
SHORT_WATCH_S: Final = 1.0
"""A watch that ends sooner, and without a word, counts as one that went wrong."""
NEEDED: Final = ("nodes", "pods")
FOLLOWED: Final = (*RESOURCES.values(), EVENTS)
MAX_WAITING: Final = 10_000
TELL_S: Final = 0.2
"""How often changes that need not wait any longer become events."""

Wait = Callable[[float], bool]
"""Waits so many seconds; True if meanwhile it is all over."""


class Source(Protocol):
    """What is asked of a connection."""

    def page(self, resource: Resource, *, continue_token: str = "", limit: int = 500) -> Page: ...

    def watch(self, resource: Resource, resource_version: str) -> Iterator[bytes]: ...


class NotFollowed(ClusterProblem):
    """A cluster cannot be followed; the message says why."""


@dataclass(frozen=True, slots=True)
class Trouble:
    """A kind that cannot be watched at the moment: why, and when it is tried again."""

    resource: str
    sentence: str
    again_s: float


@dataclass(frozen=True, slots=True)
class Asked:
    """A kind in trouble was asked for again; it is not known yet to fail."""

    resource: str


Heard = Listed | Line | Trouble | Asked


@dataclass
class _Pauses:
    """How long to wait before the next request about a kind."""

    _failures: int = 0

    def well(self) -> None:
        self._failures = 0

    def after(self, problem: ClusterProblem | None) -> float:
        pause_s = min(FIRST_PAUSE_S * float(2**self._failures), LONGEST_PAUSE_S)
        self._failures = min(self._failures + 1, 10)
        if isinstance(problem, Refusal) and problem.retry_after_s is not None:
            return max(problem.retry_after_s, FIRST_PAUSE_S)
        return pause_s


def list_whole(source: Source, resource: Resource) -> Listed:
    """List a kind at one version: in pages, and in one piece if they expire meanwhile.

    Raises ClusterProblem and UnreadableChange.
    """
    try:
        pages = list(_pages(source, resource))
    except Expired:
        pages = [source.page(resource, limit=0)]
    raws = [raw for page in pages for raw in items_of(page.data)]
    return listed(resource.plural, pages[-1].resource_version, raws)


def _pages(source: Source, resource: Resource) -> Iterator[Page]:
    page = source.page(resource)
    yield page
    while page.continue_token:
        page = source.page(resource, continue_token=page.continue_token)
        yield page


def watch_kind(
    source: Source,
    resource: Resource,
    version: int,
    hear: Callable[[Heard], None],
    wait: Wait,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Watch a kind from a version on until `wait` says that it is over, or it may not be read."""
    watch = _KindWatch(source, resource, version, hear, clock)
    while True:
        try:
            pause_s = watch.once()
        except (Forbidden, NotFound, ContextRefused) as problem:
            hear(Trouble(resource.plural, told(problem), 0.0))
            return
        except (ClusterProblem, UnreadableChange) as problem:
            pause_s = watch.failed(problem)
        if wait(pause_s):
            return


@dataclass
class _KindWatch:
    source: Source
    resource: Resource
    version: int
    hear: Callable[[Heard], None]
    clock: Callable[[], float]
    pauses: _Pauses = field(default_factory=_Pauses)
    in_trouble: bool = False
    expired: bool = False

    def once(self) -> float:
        """List if that is needed, and watch; return how long to pause when the watch is over."""
        if self.in_trouble:
            self.in_trouble = False
            self.hear(Asked(self.resource.plural))
        just_listed = self.expired
        if self.expired:
            found = list_whole(self.source, self.resource)
            self.hear(found)
            self.version, self.expired = found.version, False
        began_s, n_lines = self.clock(), 0
        try:
            for raw in self.source.watch(self.resource, str(self.version)):
                self._take(raw)
                n_lines += 1
        except Expired:
            self.expired = True
            return self.failed(None) if just_listed and not n_lines else 0.0
        if n_lines or self.clock() - began_s >= SHORT_WATCH_S:
            self.pauses.well()
            return 0.0
        return self.pauses.after(None)

    def _take(self, raw: bytes) -> None:
        line = line_of_watch(self.resource.plural, raw)
        self.hear(line)
        self.version = max(self.version, version_in(line))
        self.pauses.well()

    def failed(self, problem: Exception | None) -> float:
        """Note that something went wrong; return how long to pause."""
        known = problem if isinstance(problem, ClusterProblem) else None
        pause_s = self.pauses.after(known)
        self.in_trouble = True
        text = (
            say("cluster.watch_too_old", "Its watch is too old, time and again.")
            if problem is None
            else told(problem)
        )
        self.hear(Trouble(self.resource.plural, text, pause_s))
        return pause_s


# ---------------------------------------------------------------- the whole cluster


@dataclass
class Beginning:
    """The lists that a follower begins with, and the kinds that may not be read."""

    lists: list[Listed] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)


def begin(source: Source, wait: Wait) -> Beginning:
    """List every kind. Raises NotFollowed; what passes by itself is waited for, a minute a kind."""
    found = Beginning()
    for resource in FOLLOWED:
        try:
            found.lists.append(_listed_patiently(source, resource, wait))
        except NotFound:
            continue
        except (Refusal, UnreadableChange) as problem:
            if resource.plural in NEEDED:
                raise NotFollowed(f"{resource.plural} cannot be read: {problem}") from None
            found.refused[resource.plural] = str(problem)
    return found


TRIES: Final = 6


def _listed_patiently(source: Source, resource: Resource, wait: Wait) -> Listed:
    pauses = _Pauses()
    for left in reversed(range(TRIES)):
        try:
            return list_whole(source, resource)
        except (Forbidden, NotFound, ContextRefused):
            raise
        except ClusterProblem as problem:
            if not left:
                raise
            if wait(pauses.after(problem)):
                raise NotFollowed("It was ended before the cluster was listed.") from None
    raise AssertionError


@dataclass
class Watched:
    """What is known of the watching itself, for who looks at it."""

    troubles: dict[str, Trouble] = field(default_factory=dict)
    n_gaps: int = 0
    """How often a kind had to be listed again: what happened meanwhile is not told."""
    n_unreadable: int = 0
    """Changes that kviz could not read, and so has not told."""


def follow(
    source: Source,
    journal: Journal,
    tell: Callable[[Told], None],
    over: threading.Event,
    watched: Watched | None = None,
) -> Watched:
    """Follow a cluster from a journal on, until `over` is set; `tell` stores what was told.

    What `tell` raises ends it. The threads that watch have ended when this returns, but for those
    that wait for a byte of the server: they end with their connection.
    """
    watched = watched or Watched()
    follower = Follower.resume(journal) if journal.changes else Follower(journal.lists)
    with _watching(source, follower, over) as heard:
        while not over.is_set():
            for message in _waiting(heard):
                _take(follower, watched, message)
            told = follower.tell(time.monotonic())
            if told.changes:
                tell(told)
    last = follower.tell_all()
    if last.changes:
        tell(last)
    return watched


def _take(follower: Follower, watched: Watched, message: Heard) -> None:
    now_s = time.monotonic()
    match message:
        case Listed():
            watched.n_gaps += 1
            follower.take_list(message, now_s)
        case Trouble():
            watched.troubles[message.resource] = message
        case Asked():
            watched.troubles.pop(message.resource, None)
        case _:
            try:
                take_line(follower, msgspec.structs.replace(message, t=now_s))
            except UnreadableChange as error:
                watched.n_unreadable += 1
                watched.troubles[message.resource] = Trouble(message.resource, told(error), 0.0)


def _waiting(heard: queue.Queue[Heard]) -> Sequence[Heard]:
    """Return what was heard, after a moment at most."""
    try:
        found = [heard.get(timeout=TELL_S)]
    except queue.Empty:
        return ()
    while len(found) < MAX_WAITING:
        try:
            found.append(heard.get_nowait())
        except queue.Empty:
            break
    return found


@contextmanager
def _watching(
    source: Source, follower: Follower, over: threading.Event
) -> Iterator[queue.Queue[Heard]]:
    """Watch every kind that was listed, each in a thread."""
    heard: queue.Queue[Heard] = queue.Queue()
    versions = follower.versions
    for resource in FOLLOWED:
        if resource.plural in versions:
            version = versions[resource.plural]
            threading.Thread(
                target=watch_kind,
                args=(source, resource, version, heard.put, over.wait),
                name=f"watch-{resource.plural}",
                daemon=True,
            ).start()
    try:
        yield heard
    finally:
        over.set()
