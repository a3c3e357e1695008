"""A recording played over real HTTP, with breaks and restarts at random moments while it is
followed: at its end kviz has what a dump has, byte for byte, and the changes that were told make
the run of a follower that nothing happened to."""

from __future__ import annotations

import json
from collections.abc import Sequence
from random import Random

import msgspec
import pytest

from kviz.clusters.importing import import_cluster
from kviz.following.changes import Change
from kviz.following.cluster import FollowedCluster
from kviz.following.follower import Follower, Journal, Told
from kviz.following.recording import Line
from scheduler_core.api import KubeObject
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.packing import pack
from tests.clusters.api_server import ApiServer, Json, recorded
from tests.clusters.cluster import target_at
from tests.clusters.test_watching import Following, following
from tests.following.recorded import lines
from tests.waiting import eventually

N_CHANGES = 240
"""Of the recording: a scale-up of several workloads, with their bindings and messages."""
WATCHED = ("pods", "nodes", "events", "replicasets", "persistentvolumeclaims")


def beginning() -> dict[str, list[Json]]:
    return {
        line.resource: json.loads(bytes(line.object))["items"] or []
        for line in lines()
        if line.type == "LIST"
    }


def coming() -> list[Line]:
    kinds = ("ADDED", "MODIFIED", "DELETED")
    return [line for line in lines() if line.type in kinds][:N_CHANGES]


def packed(objects: Sequence[KubeObject]) -> bytes:
    """A cluster as bytes, in an order of its own."""
    return pack(ClusterObjects(sorted(objects, key=lambda item: (item.kind, item.key))))


def told_of(journal: Journal) -> FollowedCluster:
    """The cluster as the lists and all that was told leave it."""
    cluster = journal.beginning()
    for change in journal.changes:
        cluster.apply(change)
    return cluster


def events_of(journal: Journal) -> bytes:
    """The observed run, told by a follower to whom all changes come in order and at once."""
    follower = Follower(journal.lists)
    found = list(follower.beginning)

    def take(told: Told) -> None:
        found.extend(told.events)

    for change in sorted(journal.changes, key=lambda each: each.version):
        follower.take(change, 0.0)
    take(follower.tell_all())
    return b"".join(map(msgspec.msgpack.Encoder().encode, found))


def happens(random: Random, server: ApiServer, state: Following) -> None:
    """Let something go wrong that was recorded going wrong, now and then."""
    chance, plural = random.random(), random.choice(WATCHED)
    if chance < 0.03:
        server.cut(plural, after_bytes=random.randint(1, 3000))
    elif chance < 0.05:
        server.inject(plural, recorded("too-many-requests-429-watch"))
    elif chance < 0.06:
        n_told = len(state.journal.changes)
        with server.gone():
            pass
        assert len(state.journal.changes) >= n_told


@pytest.mark.parametrize("seed", range(2))
def test_what_was_followed_is_the_dump_at_the_end_byte_for_byte(seed: int) -> None:
    random = Random(seed)
    with ApiServer(beginning()) as server:
        journal: Journal | None = None
        left = coming()
        last: dict[str, int] = {}
        while left:
            with following(server, journal) as state:
                journal = state.journal
                for _ in range(min(len(left), random.randint(20, 90))):
                    line = left.pop(0)
                    item = json.loads(bytes(line.object))
                    last[line.resource] = server.change(line.type, line.resource, item)
                    happens(random, server, state)
            if left and random.random() < 0.5:  # what happens while nobody follows
                line = left.pop(0)
                item = json.loads(bytes(line.object))
                last[line.resource] = server.change(line.type, line.resource, item)
        assert journal is not None
        seen = journal
        wanted = {kind: version for kind, version in last.items() if kind in seen.versions}
        with following(server, journal) as state:
            eventually(lambda: all(seen.versions[k] >= v for k, v in wanted.items()))
        dump = import_cluster(target_at(server)).ingested.objects
        assert packed(list(told_of(journal).objects())) == packed(list(dump))
        assert state.watched.n_gaps == 0
        alone = Journal(journal.lists, all_changes(server, journal))
        assert events_of(journal) == events_of(alone)


def all_changes(server: ApiServer, journal: Journal) -> list[Change]:
    """What a follower whom nothing happened to is told behind the same lists."""
    with following(server, Journal(journal.lists)) as state:
        eventually(lambda: state.journal.versions == journal.versions)
    return state.journal.changes
