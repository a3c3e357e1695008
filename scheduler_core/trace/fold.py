"""What a trace amounts to so far: state and apply(state, event).

Everything shown about a run is this fold. The browser's twin is `frontend/src/store/fold.ts`;
both fold `tests/trace/fold_fixture.json` to the same states, so change them together.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from functools import singledispatch

from scheduler_core.trace.events import (
    AnyEvent,
    Assumed,
    AssumeExpired,
    Bound,
    ClockAdvanced,
    CycleFinished,
    CycleStarted,
    DetailEvent,
    Event,
    Forgotten,
    HeaderEvent,
    NodeAdded,
    NodeDeleted,
    NodeOrderChanged,
    NodeUpdated,
    NominationChanged,
    PermitResolved,
    PermitWaiting,
    PodAdded,
    PodDeleted,
    PodEvicted,
    PodUpdated,
    PointFinished,
    QueueMoved,
    ResourcesDefined,
    RunFinished,
    RunStarted,
)
from scheduler_core.trace.records import (
    NONE,
    Queue,
    Result,
    TaintRecord,
)

TERMINAL_PHASES = ("Succeeded", "Failed")


class Cache(IntEnum):
    """What the scheduler's cache holds of a pod; the values are shared with the browser."""

    ABSENT = 0
    ASSUMED = 1
    ADDED = 2
    EXPIRED = 3


@dataclass(slots=True)
class NodeState:
    """`allocatable` aligns with `TraceState.resources` as far as it goes."""

    name: str
    zone: str
    labels: dict[str, str]
    taints: tuple[TaintRecord, ...]
    unschedulable: bool
    allocatable: tuple[int, ...]


@dataclass(slots=True)
class Usage:
    """What the pods assumed or bound on one node request; aligns with the resources."""

    n_pods: int
    requested: list[int]


@dataclass(slots=True)
class PodState:
    """One pod; `node` is -1 unless it is assumed or bound there, `cycle` its latest, 0 for none.

    `move`, `verdict`, `eviction` and `waiting` are the latest events of their kind that still
    hold: a new cycle clears nothing, a binding clears `waiting`.
    """

    namespace: str
    name: str
    scheduler_name: str
    owner: str
    priority: int
    requests: tuple[int, ...]
    phase: str
    terminating: bool
    node: int
    nominated_node: int
    cache: Cache
    queue: Queue = Queue.NOWHERE
    attempts: int = 0
    cycle: int = 0
    move: QueueMoved | None = None
    moved_at_ns: int = 0
    verdict: CycleFinished | None = None
    verdict_at_ns: int = 0
    eviction: PodEvicted | None = None
    waiting: PermitWaiting | None = None

    @property
    def occupies(self) -> bool:
        """Whether the pod takes up room on its node."""
        held = self.cache in (Cache.ASSUMED, Cache.ADDED)
        return held and self.node != NONE and self.phase not in TERMINAL_PHASES


@dataclass(slots=True)
class CycleState:
    """The latest scheduling cycle: its events so far, without the first and the last."""

    started: CycleStarted
    steps: list[HeaderEvent] = field(default_factory=list)
    finished: CycleFinished | None = None


@dataclass(slots=True)
class TraceState:
    """All of a run at one moment. Nodes and pods are keyed by their numbers.

    `usage` has the nodes with at least one pod, also nodes that do not exist.
    `results` counts finished cycles by `Result`; a binding that fails later changes its cycle's.
    """

    run: RunStarted | None = None
    finished: RunFinished | None = None
    now_ns: int = 0
    resources: list[str] = field(default_factory=list)
    nodes: dict[int, NodeState] = field(default_factory=dict)
    usage: dict[int, Usage] = field(default_factory=dict)
    node_order: tuple[int, ...] = ()
    pods: dict[int, PodState] = field(default_factory=dict)
    cycle: CycleState | None = None
    results: list[int] = field(default_factory=lambda: [0] * len(Result))
    n_bound: int = 0
    n_evicted: int = 0


def fold(events: Iterable[AnyEvent]) -> TraceState:
    """Return the state after all `events`."""
    state = TraceState()
    for event in events:
        apply(state, event)
    return state


def apply(state: TraceState, event: AnyEvent) -> None:
    """Bring `state` to just after `event`; events come in the trace's order."""
    if isinstance(event, DetailEvent):
        return
    cycle = state.cycle
    if cycle and not cycle.finished and not isinstance(event, CycleStarted | CycleFinished):
        cycle.steps.append(event)
    _apply(event, state)


@singledispatch
def _apply(event: Event, state: TraceState) -> None:
    """Events without a handler of their own only tell what happened."""


def _occupy(state: TraceState, pod: PodState, sign: int) -> None:
    """Add the pod to its node's usage (`sign` 1) or take it off (-1)."""
    if not pod.occupies:
        return
    usage = state.usage.setdefault(pod.node, Usage(0, [0] * len(state.resources)))
    usage.n_pods += sign
    for resource, amount in enumerate(pod.requests):
        usage.requested[resource] += sign * amount
    if not usage.n_pods:
        del state.usage[pod.node]


def _place(state: TraceState, pod: PodState, node: int, cache: Cache) -> None:
    _occupy(state, pod, -1)
    pod.node, pod.cache = node, cache
    _occupy(state, pod, 1)


# ---------------------------------------------------------------- run and world


@_apply.register
def _(event: RunStarted, state: TraceState) -> None:
    state.run = event
    state.now_ns = event.now_ns


@_apply.register
def _(event: RunFinished, state: TraceState) -> None:
    state.finished = event


@_apply.register
def _(event: ClockAdvanced, state: TraceState) -> None:
    state.now_ns = event.now_ns


@_apply.register
def _(event: ResourcesDefined, state: TraceState) -> None:
    state.resources.extend(event.names)
    for usage in state.usage.values():
        usage.requested.extend([0] * len(event.names))


@_apply.register
def _(event: NodeAdded, state: TraceState) -> None:
    state.nodes[event.node] = NodeState(
        event.name, event.zone, event.labels, event.taints, event.unschedulable, event.allocatable
    )


@_apply.register
def _(event: NodeUpdated, state: TraceState) -> None:
    node = state.nodes[event.node]
    node.zone, node.labels, node.taints = event.zone, event.labels, event.taints
    node.unschedulable, node.allocatable = event.unschedulable, event.allocatable


@_apply.register
def _(event: NodeDeleted, state: TraceState) -> None:
    del state.nodes[event.node]


@_apply.register
def _(event: NodeOrderChanged, state: TraceState) -> None:
    state.node_order = event.nodes


@_apply.register
def _(event: PodAdded, state: TraceState) -> None:
    pod = state.pods[event.pod] = PodState(
        namespace=event.namespace,
        name=event.name,
        scheduler_name=event.scheduler_name,
        owner=event.owner,
        priority=event.priority,
        requests=event.requests,
        phase=event.phase,
        terminating=event.terminating,
        node=event.node,
        nominated_node=event.nominated_node,
        cache=Cache.ABSENT if event.node == NONE else Cache.ADDED,
    )
    _occupy(state, pod, 1)


@_apply.register
def _(event: PodUpdated, state: TraceState) -> None:
    pod = state.pods[event.pod]
    _occupy(state, pod, -1)
    pod.priority, pod.requests = event.priority, event.requests
    pod.phase, pod.terminating = event.phase, event.terminating
    _occupy(state, pod, 1)


@_apply.register
def _(event: PodDeleted, state: TraceState) -> None:
    _occupy(state, state.pods[event.pod], -1)
    del state.pods[event.pod]


@_apply.register
def _(event: PodEvicted, state: TraceState) -> None:
    pod = state.pods[event.pod]
    pod.eviction = event
    pod.terminating = True
    state.n_evicted += 1


# ---------------------------------------------------------------- queue


@_apply.register
def _(event: QueueMoved, state: TraceState) -> None:
    pod = state.pods.get(event.pod)
    if pod is None:  # the queue hears of a deletion after the fact
        return
    pod.queue, pod.move, pod.moved_at_ns = event.queue, event, state.now_ns


@_apply.register
def _(event: NominationChanged, state: TraceState) -> None:
    pod = state.pods.get(event.pod)
    if pod is not None:
        pod.nominated_node = event.node


# ---------------------------------------------------------------- scheduling and binding


@_apply.register
def _(event: CycleStarted, state: TraceState) -> None:
    state.cycle = CycleState(event)
    pod = state.pods[event.pod]
    pod.queue, pod.attempts, pod.cycle = Queue.IN_FLIGHT, event.attempt, event.cycle


@_apply.register
def _(event: CycleFinished, state: TraceState) -> None:
    """A cycle whose binding fails ends twice; the second time another one may be running."""
    if state.cycle and state.cycle.started.cycle == event.cycle:
        state.cycle.finished = event
    state.results[event.result] += 1
    pod = _pod_of_cycle(state, event.cycle)
    if pod is None:
        return
    if pod.verdict and pod.verdict.cycle == event.cycle:
        state.results[pod.verdict.result] -= 1
    pod.verdict, pod.verdict_at_ns = event, state.now_ns
    if pod.queue is Queue.IN_FLIGHT:
        pod.queue = _queue_after(event.result)


def _pod_of_cycle(state: TraceState, cycle: int) -> PodState | None:
    if state.cycle and state.cycle.started.cycle == cycle:
        return state.pods.get(state.cycle.started.pod)
    return next((pod for pod in state.pods.values() if pod.cycle == cycle), None)


def _queue_after(result: Result) -> Queue:
    """Where a pod is that its cycle left in flight."""
    if result is Result.SCHEDULED:
        return Queue.BINDING
    return Queue.WAITING_ON_PERMIT if result is Result.WAITING else Queue.NOWHERE


@_apply.register
def _(event: Assumed, state: TraceState) -> None:
    _place(state, state.pods[event.pod], event.node, Cache.ASSUMED)


@_apply.register
def _(event: Forgotten, state: TraceState) -> None:
    if event.pod in state.pods:  # a pod may be deleted before its binding cycle ends
        _place(state, state.pods[event.pod], NONE, Cache.ABSENT)


@_apply.register
def _(event: AssumeExpired, state: TraceState) -> None:
    _place(state, state.pods[event.pod], NONE, Cache.EXPIRED)


@_apply.register
def _(event: PointFinished, state: TraceState) -> None:
    if event.point == "Permit" and event.status.code == "Success":
        state.pods[event.pod].queue = Queue.BINDING


@_apply.register
def _(event: PermitWaiting, state: TraceState) -> None:
    pod = state.pods[event.pod]
    pod.queue, pod.waiting = Queue.WAITING_ON_PERMIT, event


@_apply.register
def _(event: PermitResolved, state: TraceState) -> None:
    pod = state.pods.get(event.pod)
    if pod is None:  # it was rejected because it is deleted
        return
    pod.waiting = None
    if event.decision == "allow":
        pod.queue = Queue.BINDING


@_apply.register
def _(event: Bound, state: TraceState) -> None:
    pod = state.pods[event.pod]
    _place(state, pod, event.node, Cache.ADDED)
    pod.queue = Queue.NOWHERE
    pod.nominated_node = NONE
    state.n_bound += 1
