"""What a trace amounts to so far: state and apply(state, event).

This is how Python reads the header events of a run: `index.py` and the why of a pod build on it.
The browser's twin is `frontend/src/store/fold.ts`. Both read the tables of `tables.py` and fold
`tests/trace/fold_fixture.json` to the same states, so change them together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, TypeVar, cast, get_args

from scheduler_core.trace.events import (
    AnyEvent,
    Assumed,
    Bound,
    ClockAdvanced,
    CycleFinished,
    CycleStarted,
    Detail,
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
from scheduler_core.trace.names import Names
from scheduler_core.trace.records import (
    NONE,
    Queue,
    Result,
    TaintRecord,
)
from scheduler_core.trace.tables import (
    CACHE_AFTER,
    OCCUPYING,
    QUEUE_AFTER,
    TERMINAL_PHASES,
    Cache,
)


@dataclass(slots=True)
class NodeState:
    """`allocatable` aligns with the beginning of `TraceState.resources`."""

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
    priority_class: str = ""

    @property
    def occupies(self) -> bool:
        """Whether the pod is on a node and takes up room there."""
        return self.cache in OCCUPYING and self.node != NONE


@dataclass(slots=True)
class RunningCycle:
    """The latest scheduling cycle: its events so far, without the first and the last."""

    started: CycleStarted
    steps: list[HeaderEvent] = field(default_factory=list)
    finished: CycleFinished | None = None


@dataclass(slots=True)
class TraceState:
    """All of a run at one moment. Nodes and pods are keyed by their numbers.

    `usage` has the nodes with at least one pod, also nodes that do not exist. `binding` has the
    pods, by cycle, of cycles that found a node and may still fail until their pods are bound.
    `results` counts finished cycles by `Result`; a binding that fails later changes its cycle's.
    """

    run: RunStarted | None = None
    finished: RunFinished | None = None
    now_ns: int = 0
    nodes: dict[int, NodeState] = field(default_factory=dict)
    usage: dict[int, Usage] = field(default_factory=dict)
    pods: dict[int, PodState] = field(default_factory=dict)
    cycle: RunningCycle | None = None
    results: list[int] = field(default_factory=lambda: [0] * len(Result))
    n_bound: int = 0
    n_evicted: int = 0
    names: Names = field(default_factory=Names)
    binding: dict[int, int] = field(default_factory=dict)

    @property
    def resources(self) -> tuple[str, ...]:
        """The names that amounts align with."""
        return self.names.resources

    @property
    def node_order(self) -> tuple[int, ...]:
        """All nodes in the order in which Filter examines them."""
        return self.names.order


def fold(events: Iterable[AnyEvent]) -> TraceState:
    """Return the state after all `events`."""
    state = TraceState()
    for event in events:
        apply(state, event)
    return state


def apply(state: TraceState, event: AnyEvent) -> None:
    """Bring `state` to just after `event`; events come in the trace's order."""
    kind = type(event)
    cycle = state.cycle
    if cycle and not cycle.finished and kind not in NO_STEPS:
        cycle.steps.append(cast("HeaderEvent", event))
    handler = HANDLERS.get(kind)
    if handler is not None:
        handler(state, event)


NO_STEPS: Final = frozenset((CycleStarted, CycleFinished, *get_args(Detail)))
"""Events that are no steps of the running cycle: its first and last, and columns."""

Handler = Callable[[TraceState, AnyEvent], None]
E = TypeVar("E", bound=Event)

HANDLERS: Final[dict[type[AnyEvent], Handler]] = {}
"""What each event does to the state; those without a handler change nothing (`tables.CHANGES`)."""


def _on(kind: type[E]) -> Callable[[Callable[[TraceState, E], None]], None]:
    def register(handler: Callable[[TraceState, E], None]) -> None:
        HANDLERS[cast("type[AnyEvent]", kind)] = cast("Handler", handler)

    return register


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


def _cache_of(node: int, phase: str) -> Cache:
    """What the cache has of a pod as the API server has it: a finished one is on no node."""
    is_there = node != NONE and phase not in TERMINAL_PHASES
    return Cache.ADDED if is_there else Cache.ABSENT


def _place(state: TraceState, pod: PodState, node: int, cache: Cache) -> None:
    if pod.node == node and pod.cache in OCCUPYING and cache in OCCUPYING:
        pod.cache = cache
        return
    _occupy(state, pod, -1)
    pod.node, pod.cache = node, cache
    _occupy(state, pod, 1)


# ---------------------------------------------------------------- run and world


@_on(RunStarted)
def _(state: TraceState, event: RunStarted) -> None:
    state.run = event
    state.now_ns = event.now_ns
    state.names.learn(event)


@_on(RunFinished)
def _(state: TraceState, event: RunFinished) -> None:
    state.finished = event


@_on(ClockAdvanced)
def _(state: TraceState, event: ClockAdvanced) -> None:
    state.now_ns = event.now_ns


@_on(ResourcesDefined)
def _(state: TraceState, event: ResourcesDefined) -> None:
    state.names.learn(event)
    for usage in state.usage.values():
        usage.requested.extend([0] * len(event.names))


@_on(NodeAdded)
def _(state: TraceState, event: NodeAdded) -> None:
    state.names.learn(event)
    state.nodes[event.node] = NodeState(
        event.name, event.zone, event.labels, event.taints, event.unschedulable, event.allocatable
    )


@_on(NodeUpdated)
def _(state: TraceState, event: NodeUpdated) -> None:
    node = state.nodes[event.node]
    node.zone, node.labels, node.taints = event.zone, event.labels, event.taints
    node.unschedulable, node.allocatable = event.unschedulable, event.allocatable


@_on(NodeDeleted)
def _(state: TraceState, event: NodeDeleted) -> None:
    del state.nodes[event.node]


@_on(NodeOrderChanged)
def _(state: TraceState, event: NodeOrderChanged) -> None:
    state.names.learn(event)


@_on(PodAdded)
def _(state: TraceState, event: PodAdded) -> None:
    state.names.learn(event)
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
        cache=_cache_of(event.node, event.phase),
        priority_class=event.priority_class,
    )
    _occupy(state, pod, 1)


@_on(PodUpdated)
def _(state: TraceState, event: PodUpdated) -> None:
    pod = state.pods[event.pod]
    over = event.phase in TERMINAL_PHASES
    ends_or_returns = over != (pod.phase in TERMINAL_PHASES)
    takes_the_same = event.requests == pod.requests and not ends_or_returns
    if not takes_the_same:
        _occupy(state, pod, -1)
    if ends_or_returns:
        pod.cache = _cache_of(pod.node, event.phase)
    pod.priority, pod.requests = event.priority, event.requests
    pod.phase, pod.terminating = event.phase, event.terminating
    if not takes_the_same:
        _occupy(state, pod, 1)


@_on(PodDeleted)
def _(state: TraceState, event: PodDeleted) -> None:
    _occupy(state, state.pods[event.pod], -1)
    del state.pods[event.pod]


@_on(PodEvicted)
def _(state: TraceState, event: PodEvicted) -> None:
    pod = state.pods[event.pod]
    pod.eviction = event
    pod.terminating = True
    state.n_evicted += 1


# ---------------------------------------------------------------- queue


@_on(QueueMoved)
def _(state: TraceState, event: QueueMoved) -> None:
    pod = state.pods.get(event.pod)
    if pod is None:  # the queue hears of a deletion after the fact
        return
    pod.queue, pod.move, pod.moved_at_ns = event.queue, event, state.now_ns


@_on(NominationChanged)
def _(state: TraceState, event: NominationChanged) -> None:
    pod = state.pods.get(event.pod)
    if pod is not None:
        pod.nominated_node = event.node


# ---------------------------------------------------------------- scheduling and binding


@_on(CycleStarted)
def _(state: TraceState, event: CycleStarted) -> None:
    state.cycle = RunningCycle(event)
    pod = state.pods[event.pod]
    pod.queue, pod.attempts, pod.cycle = Queue.IN_FLIGHT, event.attempt, event.cycle


@_on(CycleFinished)
def _(state: TraceState, event: CycleFinished) -> None:
    """A cycle that waited on Permit, or whose binding fails, ends again; another may be running."""
    cycle = state.cycle
    if cycle and cycle.started.cycle == event.cycle:
        cycle.finished = event
        number = cycle.started.pod
    else:
        number = state.binding.get(event.cycle, NONE)
        if number == NONE:  # another scheduler has bound it before this binding failed
            tried = (key for key, pod in state.pods.items() if pod.cycle == event.cycle)
            number = next(tried, NONE)
    if event.result in (Result.SCHEDULED, Result.WAITING):
        state.binding[event.cycle] = number
    else:
        state.binding.pop(event.cycle, None)
    state.results[event.result] += 1
    pod = state.pods.get(number)
    if pod is None:
        return
    if pod.verdict and pod.verdict.cycle == event.cycle:
        state.results[pod.verdict.result] -= 1
    pod.verdict, pod.verdict_at_ns = event, state.now_ns
    if pod.queue is Queue.IN_FLIGHT:
        pod.queue = QUEUE_AFTER[event.result]


@_on(Assumed)
def _(state: TraceState, event: Assumed) -> None:
    _place(state, state.pods[event.pod], event.node, CACHE_AFTER["Assumed"])


@_on(Forgotten)
def _(state: TraceState, event: Forgotten) -> None:
    if event.pod in state.pods:  # a pod may be deleted before its binding cycle ends
        _place(state, state.pods[event.pod], NONE, CACHE_AFTER["Forgotten"])


@_on(PointFinished)
def _(state: TraceState, event: PointFinished) -> None:
    if event.point == "Permit" and event.status.code == "Success":
        state.pods[event.pod].queue = Queue.BINDING


@_on(PermitWaiting)
def _(state: TraceState, event: PermitWaiting) -> None:
    pod = state.pods[event.pod]
    pod.queue, pod.waiting = Queue.WAITING_ON_PERMIT, event


@_on(PermitResolved)
def _(state: TraceState, event: PermitResolved) -> None:
    pod = state.pods.get(event.pod)
    if pod is None:  # it was rejected because it is deleted
        return
    pod.waiting = None
    if event.decision == "allow":
        pod.queue = Queue.BINDING


@_on(Bound)
def _(state: TraceState, event: Bound) -> None:
    pod = state.pods[event.pod]
    _place(state, pod, event.node, CACHE_AFTER["Bound"])
    pod.queue = Queue.NOWHERE
    pod.nominated_node = NONE
    state.binding.pop(pod.cycle, None)
    state.n_bound += 1
