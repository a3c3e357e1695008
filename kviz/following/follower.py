"""A cluster that is followed: lists and changes go in, in any order of kinds; events come out.

Whoever follows has the state of a follower stored as its `Journal`: the lists it began with, and
the changes it has told, in that order. A follower that begins with a journal goes on as if it had
never stopped: watches begin behind `versions`, and what had come but was not told comes again.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain

from kviz.following.changes import Change, Listed
from kviz.following.cluster import FollowedCluster, relisted
from kviz.following.decisions import Decision, decision_of
from kviz.following.observed import ObservedRun
from kviz.following.order import Ordering
from scheduler_core.api import KubeObject
from scheduler_core.releases.choosing import release_told
from scheduler_core.trace.events import AnyEvent


@dataclass
class Journal:
    """What was told of a cluster, in the order it was told."""

    lists: list[Listed] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    server_version: str = ""
    """The `gitVersion` of the API server; empty where it did not say."""

    @property
    def release_told(self) -> str:
        """What is known of the cluster's release (`scheduler_core.releases.choosing`)."""
        listed = (item for found in self.lists for item in found.items)
        items = chain(listed, (change.item for change in self.changes))
        objects = (item for item in items if isinstance(item, KubeObject))
        return release_told(objects, self.server_version)

    @property
    def versions(self) -> dict[str, int]:
        """By kind, the resourceVersion behind which its watch goes on."""
        versions = {found.resource: found.version for found in self.lists}
        for change in self.changes:
            versions[change.resource] = max(versions[change.resource], change.version)
        return versions

    def beginning(self) -> FollowedCluster:
        """Return the cluster as it was listed."""
        cluster = FollowedCluster()
        for found in self.lists:
            cluster.fill(found)
        return cluster

    @property
    def began_ns(self) -> int:
        return max((found.at_ns for found in self.lists), default=0)


@dataclass(frozen=True, slots=True)
class Told:
    """What a follower has to tell: the changes, the decisions in them, the events of all that."""

    changes: Sequence[Change]
    decisions: Sequence[Decision]
    events: Sequence[AnyEvent]


class Follower:
    """Follows one cluster from a set of lists on.

    Times are seconds of whatever clock the caller has; only how much they differ counts.
    """

    def __init__(self, lists: Sequence[Listed]) -> None:
        self.cluster = Journal(list(lists)).beginning()
        self.ordering = Ordering({found.resource: found.version for found in lists})
        self._run = ObservedRun()
        self._run.begin(self.cluster, Journal(list(lists)).began_ns)
        self._n_decisions = 0
        self._waiting: list[Change] = []
        self._arrived: dict[str, int] = dict(self.ordering.heard)
        self.beginning: Sequence[AnyEvent] = self._run.drain()
        """The events of the lists."""

    @staticmethod
    def resume(journal: Journal) -> Follower:
        """Return the follower that has told a journal, and whose events are stored."""
        follower = Follower(journal.lists)
        follower._tell(journal.changes)
        follower._arrived = journal.versions
        follower.ordering = Ordering(dict(journal.versions))
        return follower

    @property
    def versions(self) -> dict[str, int]:
        """By kind, up to where its changes have arrived, told or not: a watch goes on there."""
        return dict(self._arrived)

    def take(self, change: Change, now_s: float) -> None:
        """A change has arrived; one that arrived before is passed over."""
        if change.version <= self._arrived.get(change.resource, 0):
            return
        self._arrived[change.resource] = change.version
        self.ordering.take(change, now_s)

    def passed(self, resource: str, version: int) -> None:
        """The server says that Events up to a version have arrived, of which none is read."""
        self._arrived[resource] = max(self._arrived.get(resource, 0), version)
        self.ordering.reach(resource, version)

    def take_list(self, found: Listed, now_s: float) -> None:
        """A kind was listed again, because its watch could not go on where it had stopped."""
        for change in self.ordering.flush():
            self._waiting.append(change)
        self._waiting.extend(relisted(self._after(self._waiting), found))
        self._arrived[found.resource] = found.version
        self.ordering.reach(found.resource, found.version)

    def tell(self, now_s: float) -> Told:
        """Tell what need not wait for earlier changes any longer."""
        waiting, self._waiting = self._waiting, []
        return self._tell([*waiting, *self.ordering.ready(now_s)])

    def tell_all(self) -> Told:
        """Tell everything that has arrived: nothing more will come."""
        waiting, self._waiting = self._waiting, []
        return self._tell([*waiting, *self.ordering.flush()])

    def _after(self, changes: Iterable[Change]) -> FollowedCluster:
        cluster = self.cluster.copy()
        for change in changes:
            cluster.apply(change)
        return cluster

    def _tell(self, changes: Sequence[Change]) -> Told:
        decisions = []
        for change in changes:
            before = self.cluster.apply(change)
            decision = decision_of(self._n_decisions + 1, change, before)
            if decision is not None:
                self._n_decisions += 1
                decisions.append(decision)
            self._run.take(change, before, decision, len(self.cluster.of("nodes")))
        return Told(changes, decisions, self._run.drain())
