"""A cluster followed over real HTTP, with everything going wrong that was recorded going wrong."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from kviz.clusters.reading.connection import Connection
from kviz.clusters.reading.problems import Expired, StreamCut, TooManyRequests, Unreachable
from kviz.clusters.reading.resources import RESOURCES
from kviz.clusters.watching import (
    FIRST_PAUSE_S,
    FOLLOWED,
    LONGEST_PAUSE_S,
    Heard,
    NotFollowed,
    Trouble,
    Watched,
    begin,
    follow,
    list_whole,
    watch_kind,
)
from kviz.following.changes import Change, Listed
from kviz.following.follower import Journal, Told
from tests.clusters.api_server import ApiServer, Json, recorded
from tests.clusters.cluster import target_at
from tests.waiting import eventually

PODS, NODES = RESOURCES["Pod"], RESOURCES["Node"]


def node(name: str) -> Json:
    return {
        "metadata": {"name": name, "uid": f"uid-{name}"},
        "status": {"allocatable": {"cpu": "4"}},
    }


def pod(name: str, on: str = "", **metadata: object) -> Json:
    spec: Json = {"containers": [{"name": "app", "image": "app:1"}]}
    if on:
        spec["nodeName"] = on
    head = {"name": name, "namespace": "shop", "uid": f"uid-{name}"} | metadata
    return {"metadata": head, "spec": spec, "status": {"phase": "Pending"}}


@pytest.fixture
def server() -> Iterator[ApiServer]:
    objects = {"nodes": [node("n1"), node("n2")], "pods": [pod("old", "n1"), pod("web")]}
    with ApiServer(objects) as server:
        yield server


@dataclass
class Following:
    """A follower in a thread of its own, with what it has told."""

    connection: Connection
    journal: Journal
    watched: Watched = field(default_factory=Watched)
    over: threading.Event = field(default_factory=threading.Event)

    def tell(self, told: Told) -> None:
        self.journal.changes += told.changes

    @property
    def told(self) -> list[tuple[str, str, str]]:
        return [(c.what, c.item.key, node_of(c)) for c in self.journal.changes]

    def wait_for(self, n_changes: int) -> None:
        eventually(lambda: len(self.journal.changes) >= n_changes)


def node_of(change: Change) -> str:
    spec = getattr(change.item, "spec", None)
    return getattr(spec, "node_name", "")


@contextmanager
def following(server: ApiServer, journal: Journal | None = None) -> Iterator[Following]:
    with Connection(target_at(server)) as connection:
        if journal is None:
            journal = Journal(begin(connection, lambda seconds: False).lists)
        state = Following(connection, journal)
        thread = threading.Thread(
            target=follow, args=(connection, journal, state.tell, state.over, state.watched)
        )
        thread.start()
        try:
            yield state
        finally:
            state.over.set()
            thread.join()


def test_what_changes_is_told_once_each_kind_in_its_order(server: ApiServer) -> None:
    with following(server) as state:
        server.change("MODIFIED", "pods", pod("web", "n2"))
        server.change("ADDED", "nodes", node("n3"))
        server.change("DELETED", "pods", pod("old", "n1"))
        state.wait_for(3)
        assert ("ADDED", "n3", "") in state.told
        pods = [each for each in state.told if each[1] != "n3"]
        assert pods == [("MODIFIED", "shop/web", "n2"), ("DELETED", "shop/old", "n1")]


def test_a_stream_that_breaks_in_a_line_goes_on_behind_the_last_whole(
    server: ApiServer,
) -> None:
    with following(server) as state:
        eventually(lambda: len(server.asked("pods")) >= 2)
    server.cut("pods", after_bytes=500)
    with following(server, state.journal) as state:
        for number in range(6):
            server.change("ADDED", "pods", pod(f"new-{number}"))
        state.wait_for(6)
        assert [key for _, key, _ in state.told] == [f"shop/new-{n}" for n in range(6)]


def test_a_server_that_goes_away_is_waited_for(server: ApiServer) -> None:
    with following(server) as state:
        server.change("ADDED", "pods", pod("before"))
        state.wait_for(1)
        with server.gone():
            eventually(lambda: "pods" in state.watched.troubles)
            n_asked = len(server.requests)
        server.change("ADDED", "pods", pod("after"))
        state.wait_for(2)
        assert [key for _, key, _ in state.told] == ["shop/before", "shop/after"]
        assert state.watched.n_gaps == 0
        eventually(lambda: not state.watched.troubles)
        assert len(server.requests) - n_asked <= 4 * len(FOLLOWED)


def test_what_is_forgotten_meanwhile_is_listed_again(server: ApiServer) -> None:
    with following(server) as state:
        pass
    server.change("MODIFIED", "pods", pod("web", "n2"))
    server.change("DELETED", "pods", pod("old", "n1"))
    server.compact()
    with following(server, state.journal) as state:
        state.wait_for(2)
        server.change("ADDED", "pods", pod("new"))
        state.wait_for(3)
        assert sorted(state.told[:2]) == [
            ("DELETED", "shop/old", "n1"),
            ("MODIFIED", "shop/web", "n2"),
        ]
        assert state.told[2:] == [("ADDED", "shop/new", "")]
        assert state.watched.n_gaps >= 1


def test_restarts_lose_and_double_nothing(server: ApiServer) -> None:
    journal = None
    for number in range(4):
        server.change("ADDED", "pods", pod(f"between-{number}"))
        with following(server, journal) as state:
            journal = state.journal
            server.change("ADDED", "pods", pod(f"during-{number}"))
    with following(server, journal) as state:
        listed = {item.key for found in state.journal.lists for item in found.items}
        eventually(lambda: len(state.told) == 7)
        names = [key for _, key, _ in state.told]
        assert len(names) == len(set(names))
        assert "shop/between-0" in listed


def test_a_busy_server_is_asked_again_when_it_says(server: ApiServer) -> None:
    server.inject("pods", recorded("too-many-requests-429"))
    waits: list[float] = []
    with Connection(target_at(server)) as connection:

        def wait(seconds: float) -> bool:
            waits.append(seconds)
            return False

        found = begin(connection, wait)
    assert waits == [1.0]
    assert {each.resource for each in found.lists} == {each.plural for each in FOLLOWED}


def test_pages_that_expire_are_listed_in_one_piece(server: ApiServer) -> None:
    for number in range(600):
        server.change("ADDED", "pods", pod(f"p{number}"))
    with Connection(target_at(server)) as connection:

        class Compacting:
            def page(self, resource: object, **options: object) -> object:
                found = connection.page(resource, **options)  # type: ignore[arg-type]
                if found.continue_token:
                    server.compact()
                return found

        found = list_whole(Compacting(), PODS)  # type: ignore[arg-type]
    assert len(found.items) == 602


def test_kinds_that_may_not_be_read_are_named(server: ApiServer) -> None:
    server.forbidden = {"csinodes", "persistentvolumes"}
    with Connection(target_at(server)) as connection:
        found = begin(connection, lambda seconds: False)
        assert set(found.refused) == {"csinodes", "persistentvolumes"}
        server.forbidden = {"nodes"}
        with pytest.raises(NotFollowed, match="nodes cannot be read"):
            begin(connection, lambda seconds: False)


# ---------------------------------------------------------------- pauses, with a clock of its own


class Failing:
    """A connection on which watches end as scripted; it counts what it is asked."""

    def __init__(self, *ends: Exception | None) -> None:
        self.ends = itertools.chain(ends, itertools.repeat(ends[-1]))
        self.n_asked = 0

    def watch(self, resource: object, version: str) -> Iterator[bytes]:
        self.n_asked += 1
        end = next(self.ends)
        if end is not None:
            raise end
        return iter(())

    def page(self, resource: object, **options: object) -> object:
        self.n_asked += 1
        raise Unreachable("Nothing listens.")


def pauses_of(source: object, n: int) -> tuple[list[float], list[Heard]]:
    waits: list[float] = []
    heard: list[Heard] = []

    def wait(seconds: float) -> bool:
        waits.append(seconds)
        return len(waits) == n

    watch_kind(source, PODS, 7, heard.append, wait, clock=lambda: 0.0)  # type: ignore[arg-type]
    return waits, heard


@pytest.mark.parametrize(
    "end",
    [StreamCut("It broke off."), Unreachable("Nothing listens."), None],
    ids=["cut", "away", "ends at once"],
)
def test_never_a_busy_loop(end: Exception | None) -> None:
    waits, _ = pauses_of(Failing(end), 9)
    assert waits[:6] == [1.0, 2.0, 4.0, 8.0, 16.0, 30.0]
    assert max(waits) == LONGEST_PAUSE_S
    assert min(waits) >= FIRST_PAUSE_S


def test_retry_after_is_kept() -> None:
    busy = TooManyRequests(429, "busy", retry_after_s=17.0)
    waits, heard = pauses_of(Failing(busy), 3)
    assert waits == [17.0, 17.0, 17.0]
    troubles = [each.again_s for each in heard if isinstance(each, Trouble)]
    assert troubles == [17.0, 17.0, 17.0]


def test_a_watch_that_stays_too_old_is_no_busy_loop() -> None:
    class Expiring(Failing):
        def page(self, resource: object, **options: object) -> object:
            self.n_asked += 1
            data = json.dumps({"metadata": {"resourceVersion": "9"}, "items": []}).encode()
            return type("Page", (), {"data": data, "resource_version": "9", "continue_token": ""})()

    waits, heard = pauses_of(Expiring(Expired(410, "too old")), 6)
    assert waits[0] == 0.0
    assert waits[1:] == [1.0, 2.0, 4.0, 8.0, 16.0]
    assert sum(isinstance(each, Listed) for each in heard) == 5
