"""A cluster that is followed: lists and changes go in, in any order of kinds; events come out.

The state of a follower is stored as its `Journal`: the initial lists, and the changes that became
events, in that order. A follower that begins with a journal continues as if it had never stopped:
watches begin after `versions`, and changes that had arrived but were not in the journal arrive
again.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Final

from msgspec.structs import replace

from kviz.following.changes import EVENTS, Change, Item, Listed, SchedulerEvent
from kviz.following.cluster import FollowedCluster, relisted
from kviz.following.decisions import SCHEDULER_ERROR, Decision, decision_of
from scheduler_core import ENGINE_VERSION
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.releases.choosing import release_told
from scheduler_core.sim.world_trace import WorldTrace
from scheduler_core.trace.events import (
    AnyEvent,
    ClockAdvanced,
    CycleFinished,
    CycleStarted,
    EventRecorded,
    NominationChanged,
    PodAdded,
    PodEvicted,
    RunStarted,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import NONE, ProfileRecord, Queue, Result

# From what was told of a cluster to the events of an observed run (ADR 0019, 0037).
#
# A decision that a write says is a cycle: a binding, or a message of a pending pod, verbatim.
# What a scheduler does not write (what its plugins answered, where a pod is queued, attempts that
# end as before) is not in the trace. The clock is that of the API server, as far as objects have
# its times.

DISRUPTION_TARGET: Final = "DisruptionTarget"
PREEMPTED: Final = "Preempted"


class ObservedRun:
    """Turns changes into events; `drain` hands them over."""

    def __init__(self) -> None:
        self._events: list[AnyEvent] = []
        self._recorder = Recorder(self._emit)
        self._world = WorldTrace(self._recorder, Cache(ClusterColumns()))
        self._now_ns = 0
        self._n_cycles = 0
        self._attempts: dict[str, int] = {}
        self._preemptors: dict[str, str] = {}
        """By uid of a pod that was preempted: the preemptor's."""

    def _emit(self, event: AnyEvent) -> None:
        if isinstance(event, PodAdded):
            event = replace(event, uid=next(reversed(self._recorder.pods)))
        self._events.append(event)

    def drain(self) -> list[AnyEvent]:
        """Hand over the events so far."""
        events, self._events = self._events, []
        return events

    def begin(self, cluster: FollowedCluster, now_ns: int) -> None:
        """Emit the cluster as the lists have it."""
        self._now_ns = now_ns
        profiles = (ProfileRecord("", ()),)
        self._emit(RunStarted(ENGINE_VERSION, 0, now_ns, (), profiles, (), observed=True))
        for item in (*cluster.nodes(), *cluster.pods()):
            self._world.added(item)

    def take(
        self, change: Change, before: Item | None, decision: Decision | None, n_nodes: int
    ) -> None:
        """Emit what a change says; `before` is what it changed, `decision` what it says."""
        if change.at_ns > self._now_ns:
            self._now_ns = change.at_ns
            self._emit(ClockAdvanced(change.at_ns))
        if change.resource == EVENTS:
            self._event(change, before)
        elif isinstance(change.item, Pod):
            self._pod(change, before, decision, n_nodes)
        elif isinstance(change.item, Node):
            self._object(change, before)

    # ------------------------------------------------------------ objects

    def _object(self, change: Change, before: Item | None) -> None:
        """Emit that a node or pod came, changed or went."""
        item = change.item
        assert isinstance(item, KubeObject)
        known = before if isinstance(before, KubeObject) else None
        if change.what == "DELETED":
            if known is not None:
                self._world.deleted(known)
        elif known is None:
            self._world.added(item)
        else:
            self._world.updated(known, item)

    def _pod(
        self, change: Change, before: Item | None, decision: Decision | None, n_nodes: int
    ) -> None:
        pod = change.item
        assert isinstance(pod, Pod)
        was = before if isinstance(before, Pod) else None
        if was is not None and was.uid != pod.uid:  # another one of that name
            self._world.deleted(was)
            was = None
        if was is None and change.what != "DELETED":
            self._world.added(pod)
            was = pod
        if decision is not None:
            self._cycle(decision, n_nodes)
        elif was is not None and change.what != "DELETED":
            self._nomination(was, pod)
        if was is not None and was is not pod:
            self._evicted(was, pod)
            self._object(change, was)

    def _nomination(self, was: Pod, pod: Pod) -> None:
        nominated = pod.status.nominated_node_name
        if nominated != was.status.nominated_node_name:
            node = self._recorder.node(nominated)
            self._emit(NominationChanged(self._recorder.pod(pod.uid), node))

    def _evicted(self, was: Pod, pod: Pod) -> None:
        """Emit that a pod has to go because something disrupts it, in the words of its status."""
        gone_at_ns = pod.metadata.deletion_timestamp
        if gone_at_ns is None or was.metadata.deletion_timestamp is not None:
            return
        reason = _disruption(pod)
        if reason:
            by = self._recorder.pods.get(self._preemptors.get(pod.uid, ""), NONE)
            self._emit(PodEvicted(self._recorder.pod(pod.uid), by, reason, gone_at_ns))

    # ------------------------------------------------------------ decisions and Events

    def _cycle(self, decision: Decision, n_nodes: int) -> None:
        pod = decision.pod
        number = self._recorder.pod(pod.uid)
        self._attempts[pod.uid] = attempt = self._attempts.get(pod.uid, 0) + 1
        self._n_cycles += 1
        self._emit(CycleStarted(self._n_cycles, number, attempt, 0, Queue.NOWHERE, 0, n_nodes))
        if decision.what == "binding":
            result, node = Result.SCHEDULED, self._recorder.node(decision.node)
        else:
            self._nomination(decision.before, pod)
            failed = decision.reason == SCHEDULER_ERROR
            result, node = (Result.ERROR if failed else Result.UNSCHEDULABLE), NONE
        self._emit(CycleFinished(self._n_cycles, result, node, decision.message))

    def _event(self, change: Change, before: Item | None) -> None:
        """Emit what a scheduler said in an Event, once for each time that it said it."""
        event = change.item
        assert isinstance(event, SchedulerEvent)
        if change.what == "DELETED" or event == before:
            return
        if event.reason == PREEMPTED:
            self._preemptors[event.pod_uid] = _preemptor(event.message)
        pod = self._recorder.pods.get(event.pod_uid)
        if pod is not None:
            self._emit(EventRecorded(pod, event.type, event.reason, event.message))


def _disruption(pod: Pod) -> str:
    """Return why the pod is disrupted, empty if it is not."""
    found: Iterable[str] = (
        f"{each.reason}: {each.message}"
        for each in pod.status.conditions
        if each.type == DISRUPTION_TARGET and each.status == "True"
    )
    return next(iter(found), "")


def _preemptor(message: str) -> str:
    """Return the uid in "Preempted by pod UID on node NODE", empty if it reads otherwise."""
    words = message.split()
    return words[3] if words[:3] == ["Preempted", "by", "pod"] and len(words) > 3 else ""


# The order in which changes of different kinds are taken to have happened (ADR 0037).
#
# Kinds are watched over connections of their own: within a kind the order of arrival is the order
# of the writes, between kinds it is not. Their resourceVersions come from one counter of the
# store (a fact of etcd, no promise of the API), so that changes are told in that order, and one
# waits until no earlier one can come: until every kind has been heard up to it, but for
# `SETTLE_S` at most.

SETTLE_S: Final = 1.0
"""So long a change waits for earlier ones of other kinds."""


@dataclass(frozen=True, slots=True)
class _Held:
    change: Change
    heard_s: float


def _place(held: _Held) -> tuple[int, str]:
    return held.change.version, held.change.resource


@dataclass
class Ordering:
    """Takes changes as they arrive, and hands them over in the order of their versions."""

    heard: dict[str, int] = field(default_factory=dict)
    """By kind: the version up to which its watch has been heard."""
    n_late: int = 0
    """Changes that came when a later one had been handed over: they follow it."""
    _held: list[_Held] = field(default_factory=list)
    _told: int = 0

    def begin(self, resource: str, version: int) -> None:
        """A kind was listed at a version; its changes come from there on."""
        self.heard[resource] = version

    def take(self, change: Change, now_s: float) -> None:
        insort(self._held, _Held(change, now_s), key=_place)
        self.reach(change.resource, change.version)

    def reach(self, resource: str, version: int) -> None:
        """All changes of a kind up to a version have come: a bookmark says so."""
        self.heard[resource] = max(self.heard.get(resource, 0), version)

    def ready(self, now_s: float) -> list[Change]:
        """Hand over, in order, what need not wait any longer."""
        certain = min(self.heard.values(), default=0)
        overdue = [h.change.version for h in self._held if now_s - h.heard_s >= SETTLE_S]
        until = max(certain, max(overdue, default=0))
        n_ready = sum(1 for held in self._held if held.change.version <= until)
        ready = [held.change for held in self._held[:n_ready]]
        del self._held[:n_ready]
        self.n_late += sum(1 for change in ready if change.version < self._told)
        self._told = max([self._told, *(change.version for change in ready)])
        return ready

    def flush(self) -> list[Change]:
        """Hand over everything: nothing more will come."""
        ready = [held.change for held in self._held]
        self._held.clear()
        return ready


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
        """By kind, the resourceVersion after which its watch continues."""
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
        """By kind, the version of its latest arrived change: a watch continues there."""
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
