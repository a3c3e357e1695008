"""What lists and findings need of a trace, gathered while its events pass by.

`TraceIndex.take` looks at every header event; `drain` hands over the lines of
cycles that ended, and the pods that changed, since the last time.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from scheduler_core.trace.events import (
    AnyEvent,
    Assumed,
    Bound,
    ClockAdvanced,
    CycleFinished,
    CycleStarted,
    FilterFinished,
    Forgotten,
    NodeAdded,
    NodeOrderChanged,
    NodeSelected,
    NominationChanged,
    PodAdded,
    PodDeleted,
    PodEvicted,
    PodUpdated,
    PreemptionDecided,
    QueueMoved,
    RunFinished,
    RunStarted,
)
from scheduler_core.trace.records import (
    NONE,
    Queue,
    Result,
)

DEFINING = (RunStarted, NodeAdded, NodeOrderChanged, PodAdded)
"""Events that give names to numbers, or order to nodes: needed to read any later cycle."""
TERMINAL_PHASES = ("Succeeded", "Failed")
UNKNOWN = "unknown"


@dataclass(slots=True)
class CycleRow:
    """One line of the list of cycles.

    `seq` is the cycle's first header event, `n_tied` how many nodes shared the top total (0
    without scoring), `first_cause` the plugin that was first to reject most nodes of a pod that
    found none.
    """

    number: int
    seq: int
    now_ns: int
    pod: str
    attempt: int
    n_nodes: int
    result: str = ""
    node: str = ""
    nominated_node: str = ""
    message: str = ""
    n_examined: int = 0
    n_feasible: int = 0
    n_tied: int = 0
    victims: tuple[str, ...] = ()
    first_cause: str = ""


@dataclass(slots=True)
class PodRow:
    """Where a pod stands that was queued or evicted; `queue` is empty when it is in none.

    It is `unknown` where a scheduler that is observed has not reported what became of the pod.

    `moved_by` is the cluster event behind its last queue move, `last_cycle` 0 if it had none.
    """

    pod: str
    priority: int
    scheduler_name: str
    queue: str = ""
    node: str = ""
    nominated_node: str = ""
    attempts: int = 0
    last_cycle: int = 0
    gated_by: str = ""
    backoff_until_ns: int = 0
    moved_by: str = ""
    evicted_in_cycle: int | None = None
    """0: before the first cycle; None: it was not evicted."""
    evicted_by: str = ""
    deleted: bool = False


@dataclass(slots=True)
class Delta:
    """What changed since the last `drain`."""

    cycles: list[CycleRow]
    pods: list[PodRow]
    defines: bool
    """Whether any of the events was a defining one."""


@dataclass
class TraceIndex:
    """Follows a trace from its first event on."""

    n_cycles: int = 0
    finished: RunFinished | None = None
    not_modelled: tuple[str, ...] = ()
    _now_ns: int = 0
    _seq: int = NONE
    _plugins: tuple[str, ...] = ()
    _nodes: dict[int, str] = field(default_factory=dict)
    _pods: dict[int, PodRow] = field(default_factory=dict)
    _waiting: set[int] = field(default_factory=set)
    """Pods that wait for a node, in whatever queue."""
    _bound: set[int] = field(default_factory=set)
    _cycle: CycleRow | None = None
    _pod_of_cycle: int = NONE
    """The pod of the latest cycle."""
    _binding: dict[int, CycleRow] = field(default_factory=dict)
    """Cycles that ended well, by number, until their pods are bound: they may yet fail."""
    _cycles: dict[int, CycleRow] = field(default_factory=dict)
    _changed: dict[int, PodRow] = field(default_factory=dict)
    _defines: bool = False

    @property
    def n_bound(self) -> int:
        """Pods on a node, also those that were there from the beginning."""
        return len(self._bound)

    @property
    def n_pending(self) -> int:
        return len(self._waiting)

    def pods_pending(self) -> list[str]:
        """The pods without a node, in order of appearance."""
        return [self._pods[pod].pod for pod in sorted(self._waiting)]

    def drain(self) -> Delta:
        """Hand over, and forget, what changed. Call it where a chunk is cut."""
        latest = {row.pod: row for row in self._changed.values()}
        delta = Delta(list(self._cycles.values()), list(latest.values()), self._defines)
        self._cycles, self._changed, self._defines = {}, {}, False
        return delta

    def take(self, event: AnyEvent) -> None:
        """Look at the next header event; detail events are not for here."""
        self._seq += 1
        self._defines = self._defines or isinstance(event, DEFINING)
        self._take_world(event)
        self._take_pod(event)
        self._take_cycle(event)

    def _take_world(self, event: AnyEvent) -> None:
        match event:
            case RunStarted():
                self._plugins = event.plugins
                self._now_ns = event.now_ns
                self.not_modelled = event.not_modelled
            case ClockAdvanced():
                self._now_ns = event.now_ns
            case NodeAdded():
                self._nodes[event.node] = event.name
            case RunFinished():
                self.finished = event
            case _:
                pass

    # ------------------------------------------------------------ pods

    def _take_pod(self, event: AnyEvent) -> None:
        match event:
            case PodAdded():
                self._add_pod(event)
            case PodUpdated():
                self._pods[event.pod].priority = event.priority
                if event.phase in TERMINAL_PHASES:
                    self._waiting.discard(event.pod)
            case PodDeleted():
                self._waiting.discard(event.pod)
                self._bound.discard(event.pod)
                self._change(event.pod).deleted = True
            case PodEvicted():
                row = self._change(event.pod)
                row.evicted_in_cycle = self.n_cycles
                row.evicted_by = self._pods[event.by_pod].pod if event.by_pod != NONE else ""
            case QueueMoved() if event.pod in self._pods:
                self._move(event)
            case NominationChanged() if event.pod in self._pods:
                self._change(event.pod).nominated_node = self._node(event.node)
            case Assumed():
                self._change(event.pod).node = self._node(event.node)
            case Forgotten():
                self._change(event.pod).node = ""
            case Bound():
                self._bound.add(event.pod)
                self._waiting.discard(event.pod)
                row = self._change(event.pod)
                row.node, row.queue = self._node(event.node), ""
                self._binding.pop(row.last_cycle, None)
            case _:
                pass

    def _add_pod(self, event: PodAdded) -> None:
        row = PodRow(
            pod=f"{event.namespace}/{event.name}",
            priority=event.priority,
            scheduler_name=event.scheduler_name,
            node=self._node(event.node),
            nominated_node=self._node(event.nominated_node),
        )
        self._pods[event.pod] = row
        if event.node != NONE:
            self._bound.add(event.pod)
        elif event.phase not in TERMINAL_PHASES:
            self._waiting.add(event.pod)
            self._changed[event.pod] = row

    def _move(self, event: QueueMoved) -> None:
        row = self._change(event.pod)
        row.queue = "" if event.queue == Queue.NOWHERE else event.queue.name.lower()
        row.moved_by = event.event
        row.gated_by = self._plugin(event.gated_by)
        row.backoff_until_ns = event.backoff_until_ns

    def _change(self, pod: int) -> PodRow:
        row = self._pods[pod]
        self._changed[pod] = row
        return row

    def _node(self, node: int) -> str:
        return self._nodes.get(node, "")

    def _plugin(self, plugin: int) -> str:
        return self._plugins[plugin] if plugin != NONE else ""

    # ------------------------------------------------------------ cycles

    def _take_cycle(self, event: AnyEvent) -> None:
        if isinstance(event, CycleStarted):
            self._begin(event)
        if isinstance(event, CycleFinished):
            self._end(event)
        elif self._cycle is not None:
            self._follow(self._cycle, event)

    def _follow(self, cycle: CycleRow, event: AnyEvent) -> None:
        match event:
            case FilterFinished():
                cycle.n_examined = max(0, event.n_examined)
                cycle.n_feasible = event.n_feasible
                if event.rejected and not event.n_feasible:
                    # Among equals the one that nodes got furthest to says more.
                    most = max(reversed(event.rejected), key=lambda r: r.n_nodes)
                    cycle.first_cause = self._plugin(most.plugin)
            case NodeSelected():
                cycle.n_tied = event.n_tied
            case PreemptionDecided():
                cycle.victims = tuple(self._pods[pod].pod for pod in event.victims)
                cycle.nominated_node = self._node(event.winner)
            case _:
                pass

    def _begin(self, event: CycleStarted) -> None:
        row = self._change(event.pod)
        row.attempts, row.last_cycle = event.attempt, event.cycle
        self._pod_of_cycle = event.pod
        self.n_cycles = event.cycle
        self._cycle = CycleRow(
            number=event.cycle,
            seq=self._seq,
            now_ns=self._now_ns,
            pod=row.pod,
            attempt=event.attempt,
            n_nodes=event.n_nodes,
        )

    def _end(self, event: CycleFinished) -> None:
        """End the running cycle, or once more an earlier one whose binding failed meanwhile."""
        cycle = self._cycle
        if cycle is None or cycle.number != event.cycle:
            cycle = self._binding.pop(event.cycle)
        else:
            self._cycle = None
        cycle.result = event.result.name.lower()
        cycle.node = self._node(event.node)
        cycle.message = event.message
        if not cycle.first_cause and event.unschedulable_plugins:
            cycle.first_cause = self._plugin(event.unschedulable_plugins[0])
        self._cycles[cycle.number] = cycle
        if event.result in (Result.SCHEDULED, Result.WAITING):
            self._binding[cycle.number] = cycle
        elif event.result is Result.UNKNOWN:
            self._waiting.discard(self._pod_of_cycle)
            self._change(self._pod_of_cycle).queue = UNKNOWN
