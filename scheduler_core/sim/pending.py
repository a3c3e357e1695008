"""Which pods a run leaves pending, and the sentence that leads for each.

The trace says which node came nearest, the cluster as it was has the values behind it. So a pod's
first cycle without a node is looked at when it decides. Where another was the last of a pod that
stays pending, the run is simulated again to look at that one.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, TypeGuard

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.absent_kinds import AbsentKind, absent_budgets, absent_kinds
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.reach import stuck_pods
from scheduler_core.changes.owners import daemons_in_vain, kind_told
from scheduler_core.evidence import cluster_says
from scheduler_core.evidence.cluster_says import ClusterSays, Comparison, Verdict
from scheduler_core.evidence.cycle import pre_enqueue_evidence
from scheduler_core.evidence.free_room import FreeRoom
from scheduler_core.evidence.lead import Lead, lead_of_pod, lead_of_scheduler, lead_of_why
from scheduler_core.scheduler.cycle_evidence import evidence_of
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.trace.cycle_record import cycle_record
from scheduler_core.trace.events import (
    AnyEvent,
    CycleFinished,
    CycleStarted,
    DetailEvent,
    HeaderEvent,
    PodEvicted,
)
from scheduler_core.trace.fold import PodState, TraceState, apply
from scheduler_core.trace.records import NONE, Queue, Result
from scheduler_core.trace.tables import TERMINAL_PHASES
from scheduler_core.trace.why import lacks_room, why

_WORD_OF: Final[Mapping[Result, str]] = {
    Result.SCHEDULED: cluster_says.BOUND,
    Result.WAITING: cluster_says.BOUND,
    Result.UNSCHEDULABLE: cluster_says.UNSCHEDULABLE,
}


@dataclass(frozen=True, slots=True)
class PendingPod:
    """A pod without a node at the end of a run.

    `owner` is its controller (`ReplicaSet/web`), empty if it has none. `cycle` is its last one, 0
    if it was never tried; `lead` is None where nothing is known to keep it from a node.
    """

    pod: str
    owner: str
    priority: int
    cycle: int
    message: str
    gated: bool
    lead: Lead | None
    free_room: FreeRoom | None = None
    """What is free on the nodes that lack only room, as of its last cycle."""


@dataclass(frozen=True, slots=True)
class BoundPod:
    """A pod that waited when the run began, its node at the end, and the pods evicted for it."""

    pod: str
    node: str
    evicted: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pending:
    """The pods that a run leaves pending, those that it binds, and what the engine does not do."""

    pods: tuple[PendingPod, ...]
    not_modelled: tuple[str, ...] = ()
    bound: tuple[BoundPod, ...] = ()
    absent: tuple[AbsentKind, ...] = ()
    """Kinds that pods would have needed, and that the cluster has none of."""
    pod_kinds: Mapping[str, str] = field(default_factory=dict)
    """What bare, static and DaemonSet pods among the pending and evicted are called."""
    recreates_evicted: bool = False
    """Owners made evicted pods again."""
    afterwards: tuple[str, ...] = ()
    """Sentences on evicted pods whose DaemonSet would make them again, and they do not fit."""
    cluster_says: Mapping[str, ClusterSays] = field(default_factory=dict)
    """By pod, what the cluster itself said of it, where the file tells."""
    has_pods: bool = True
    """The cluster has some pod at all."""
    has_nodes: bool = True
    stuck: tuple[str, ...] = ()
    """Sentences on pods that stay though they were deleted."""


@dataclass(frozen=True, slots=True)
class Leads:
    """What leads in some cycles of a run, by number and pod; and for gated pods, by name."""

    cycles: Mapping[tuple[int, str], Lead] = field(default_factory=dict)
    gated: Mapping[str, Lead] = field(default_factory=dict)
    profiles: Collection[str] = ()
    rooms: Mapping[tuple[int, str], FreeRoom] = field(default_factory=dict)
    """What was free in these cycles on the nodes that lacked only room."""

    def joined(self, other: Leads) -> Leads:
        """Return these together with what was found in other cycles of the same run."""
        cycles, rooms = {**self.cycles, **other.cycles}, {**self.rooms, **other.rooms}
        return replace(self, cycles=cycles, rooms=rooms)

    def of(self, pod: str, cycle: int, scheduler_name: str) -> Lead | None:
        """Return what leads for a pod whose last cycle that was, 0 for none."""
        if cycle == 0 and scheduler_name not in self.profiles:
            return lead_of_scheduler(scheduler_name)
        return self.gated.get(pod) or self.cycles.get((cycle, pod))


def pending_pods(objects: Sequence[KubeObject], options: RunOptions) -> Pending:
    """Simulate a run, and return its pending pods in the order in which they came.

    Raises ConfigError and PluginFailure as the run does.
    """
    state, messages = TraceState(), {0: ""}
    evicted_for: dict[int, list[str]] = {}
    victims: dict[int, PodState] = {}
    attempts: dict[str, list[Verdict]] = {}
    current: dict[int, int] = {}
    look = _Look(objects, options)
    for event in look.events():
        _take(state, event)
        if isinstance(event, CycleFinished):
            messages[event.cycle] = event.message
            number = current[event.cycle]
            node = event.node if event.node != NONE else state.pods[number].nominated_node
            verdict = Verdict(
                _WORD_OF.get(event.result, cluster_says.ERROR),
                event.message,
                state.names.node(node) if node != NONE else "",
            )
            attempts.setdefault(state.names.pod(number), []).append(verdict)
        elif isinstance(event, CycleStarted):
            current[event.cycle] = event.pod
        elif isinstance(event, PodEvicted) and event.by_pod != NONE:
            evicted_for.setdefault(event.by_pod, []).append(state.names.pod(event.pod))
            victims[event.pod] = state.pods[event.pod]
    pending = dict(_pending(state))
    leads = look.leads()
    if missed := {pod.cycle for pod in pending.values() if pod.cycle} - look.cycles:
        leads = leads.joined(leads_of(objects, options, missed))
    pods = tuple(
        PendingPod(
            pod=key,
            owner=pod.owner,
            priority=pod.priority,
            cycle=pod.cycle,
            message=messages.get(pod.cycle, ""),
            gated=pod.queue is Queue.GATED,
            lead=leads.of(key, pod.cycle, pod.scheduler_name),
            free_room=leads.rooms.get((pod.cycle, key)),
        )
        for key, pod in pending.items()
    )
    for gated in (each.pod for each in pods if each.gated):
        attempts.setdefault(gated, []).append(Verdict(cluster_says.GATED))
    not_modelled = state.run.not_modelled if state.run else ()
    bound = tuple(_bound(state, {each.key for each in objects if _waits(each)}, evicted_for))
    named = {each.pod for each in pods} | {key for each in bound for key in each.evicted}
    held = ClusterObjects(objects)
    absent = absent_kinds(held, ignored=options.ignored)
    recreates = options.scenario.options.recreate_evicted
    preemptors = [state.names.pod(each) for each in evicted_for]
    return Pending(
        pods,
        not_modelled,
        bound,
        (*absent, *absent_budgets(held, preemptors)),
        dict(_kinds(objects, named)),
        recreates,
        () if recreates else tuple(daemons_in_vain(_displaced(state, victims))),
        dict(_said(Comparison(objects, options.features, absent, not_modelled), objects, attempts)),
        bool(state.pods or held.of(Pod)),
        bool(held.of(Node)),
        tuple(text for _, text in stuck_pods(held.of(Pod), held.of(Node))),
    )


def _kinds(objects: Sequence[KubeObject], keys: Collection[str]) -> Iterator[tuple[str, str]]:
    for each in objects:
        if isinstance(each, Pod) and each.key in keys and (kind := kind_told(each)):
            yield each.key, kind


def _said(
    compared: Comparison,
    objects: Sequence[KubeObject],
    attempts: Mapping[str, Sequence[Verdict]],
) -> Iterator[tuple[str, ClusterSays]]:
    for pod in filter(_waits, objects):
        found = compared.of(pod, attempts.get(pod.key, ()))
        if found is not None:
            yield pod.key, found


def leads_of(objects: Sequence[KubeObject], options: RunOptions, cycles: Collection[int]) -> Leads:
    """Simulate a run to its end, and look at some of its cycles and at the pods gated then.

    Cycles that found a node have no lead. Raises ConfigError and PluginFailure as the run does.
    """
    look = _Look(objects, options, cycles)
    deque(look.events(), maxlen=0)
    return look.leads()


def _take(state: TraceState, event: AnyEvent) -> None:
    if not isinstance(event, DetailEvent):
        apply(state, event)


def _pending(state: TraceState) -> Iterator[tuple[str, PodState]]:
    """Yield the pods that have no node by now, by `namespace/name`."""
    for number, pod in state.pods.items():
        if pod.node == NONE and not pod.terminating and pod.phase not in TERMINAL_PHASES:
            yield state.names.pod(number), pod


def _waits(item: KubeObject) -> TypeGuard[Pod]:
    return isinstance(item, Pod) and not item.spec.node_name


def _bound(
    state: TraceState, waited: Collection[str], evicted_for: Mapping[int, Sequence[str]]
) -> Iterator[BoundPod]:
    for number, pod in state.pods.items():
        key = state.names.pod(number)
        if pod.node != NONE and key in waited:
            node = state.names.node(pod.node)
            yield BoundPod(key, node, tuple(evicted_for.get(number, ())))


def _displaced(state: TraceState, victims: Mapping[int, PodState]) -> Iterator[tuple[str, str]]:
    """Yield victims with their owners, of those whose node the pod has that they went for."""
    for number, pod in victims.items():
        by = state.pods.get(pod.eviction.by_pod) if pod.eviction is not None else None
        if by is not None and by.node == pod.node:
            yield state.names.pod(number), pod.owner


class _Look:
    """A run whose cycles are looked at when they decide, before anything follows from it.

    Without `wanted` ones they are each pod's first that neither finds a node nor nominates the pod
    to one. `cycles` are those looked at.
    """

    def __init__(
        self,
        objects: Sequence[KubeObject],
        options: RunOptions,
        wanted: Collection[int] | None = None,
    ) -> None:
        self.cycles: set[int] = set()
        self._wanted = wanted
        self._pods: set[str] = set()
        self._state = TraceState()
        self._n_ahead = 0
        """So many of the events still to be handed out are in the state already."""
        self._leads: dict[tuple[int, str], Lead] = {}
        self._rooms: dict[tuple[int, str], FreeRoom] = {}
        self._run = Run(objects, options, on_decision=self._look)

    def events(self) -> Iterator[AnyEvent]:
        """Yield the trace from beginning to end, looking meanwhile."""
        for event in self._run.events():
            if self._n_ahead:
                self._n_ahead -= 1
            else:
                _take(self._state, event)
            yield event

    def leads(self) -> Leads:
        """Return what was found, once the run is over."""
        profiles = self._run.simulation.scheduler.profiles
        return Leads(self._leads, dict(self._gated()), tuple(profiles), self._rooms)

    def _is_wanted(self, cycle: Cycle) -> bool:
        if cycle.suggested_host:
            return False
        if self._wanted is not None:
            return cycle.number in self._wanted
        nominated = cycle.post_filter is not None and cycle.post_filter.node_name
        return not nominated and cycle.pod.key not in self._pods

    def _look(self, cycle: Cycle) -> None:
        if not self._is_wanted(cycle):
            return
        self.cycles.add(cycle.number)
        self._pods.add(cycle.pod.key)
        events = self._run.undrained
        begin = next(i for i, each in enumerate(events) if _begins(each, cycle.number))
        for event in events[self._n_ahead : begin]:
            _take(self._state, event)
        self._n_ahead = begin
        headers: list[HeaderEvent] = []
        details = []
        for event in events[begin:]:
            if isinstance(event, DetailEvent):
                details.append(event)
            else:
                headers.append(event)
        found = why(cycle_record(headers, details=details), self._state)
        evidence = evidence_of(cycle, self._run.simulation.objects)
        lead = lead_of_why(evidence, found)
        if lead is not None:
            self._leads[cycle.number, cycle.pod.key] = lead
        room = evidence.free_room if lacks_room(found) else None
        if room is not None:
            self._rooms[cycle.number, cycle.pod.key] = room

    def _gated(self) -> Iterator[tuple[str, Lead]]:
        scheduler, objects = self._run.simulation.scheduler, self._run.simulation.objects
        for queued in scheduler.queue.gated_pods():
            framework = scheduler.profiles[queued.pod.pod.spec.scheduler_name]
            rejections = pre_enqueue_evidence(framework, queued.pod, objects)
            if rejections:
                yield queued.key, lead_of_pod(rejections)


def _begins(event: AnyEvent, cycle: int) -> bool:
    return isinstance(event, CycleStarted) and event.cycle == cycle
