"""From what was told of a cluster to the events of an observed run (ADR 0019, 0037).

A decision that a write says is a cycle: a binding, or a message of a pending pod, verbatim. What a
scheduler does not write (what its plugins answered, where a pod is queued, attempts that end as
before) is not in the trace. The clock is that of the API server, as far as objects have its times.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from kviz.following.changes import EVENTS, Change, Item, SchedulerEvent
from kviz.following.cluster import FollowedCluster
from kviz.following.decisions import SCHEDULER_ERROR, Decision
from scheduler_core import ENGINE_VERSION
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.cluster.cache import Cache
from scheduler_core.cluster.columns import ClusterColumns
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
