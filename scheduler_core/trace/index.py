"""What lists and findings need of a trace: lines of cycles and pods, read off the fold.

`TraceIndex.take` folds every header event; `drain` hands over the lines of cycles that ended, and
of the pods that changed, since the last time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, cast, get_args

from scheduler_core.trace.cycle_record import CycleRecord, cycle_record, devices_by_claim
from scheduler_core.trace.events import (
    AnyEvent,
    Assumed,
    Bound,
    CycleFinished,
    CycleStarted,
    Forgotten,
    NominationChanged,
    PermitResolved,
    PermitWaiting,
    PodAdded,
    PodDeleted,
    PodEvicted,
    PodUpdated,
    PointFinished,
    QueueMoved,
    RunFinished,
)
from scheduler_core.trace.fold import PodState, TraceState, apply
from scheduler_core.trace.names import DEFINING
from scheduler_core.trace.records import (
    NONE,
    Queue,
    Result,
)
from scheduler_core.trace.tables import TERMINAL_PHASES, Cache
from scheduler_core.trace.why import leading_plugin

UNKNOWN: Final = "unknown"


@dataclass(slots=True)
class CycleRow:
    """One line of the list of cycles.

    `seq` is the cycle's first header event, `n_tied` how many nodes shared the top total (0
    without scoring), `first_cause` the plugin that was first to reject most nodes of a pod that
    found none (`why.leading_plugin`), `devices` what Reserve keeps for the pod, by claim.
    `n_held` nodes would have been feasible, were no nominated pods counted on them.
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
    devices: dict[str, tuple[str, ...]] = field(default_factory=dict)
    n_held: int = 0


@dataclass(slots=True)
class PodRow:
    """Where a pod stands that was queued or evicted; `queue` is empty when it is in none.

    It is `unknown` where a scheduler that is observed has not reported what became of the pod.

    `owner` is its controller (`ReplicaSet/web`), empty if it has none. `moved_by` is the cluster
    event behind its last queue move, `last_cycle` 0 if it had none.
    """

    pod: str
    priority: int
    scheduler_name: str
    owner: str = ""
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


PodMoved = (
    PodAdded
    | PodDeleted
    | PodEvicted
    | QueueMoved
    | NominationChanged
    | CycleStarted
    | Assumed
    | Forgotten
    | PermitWaiting
    | PermitResolved
    | Bound
)
"""Events about a pod after which its line is another. That it merely runs is none of them."""
MOVING: Final = frozenset(get_args(PodMoved))


@dataclass
class TraceIndex:
    """Follows a trace from its first event on."""

    state: TraceState = field(default_factory=TraceState)
    _seq: int = NONE
    _began: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By cycle that has not ended: its first event and the time then."""
    _binding: dict[int, CycleRow] = field(default_factory=dict)
    """Cycles that ended well, by number, until their binding is over: it may yet fail."""
    _waiting: set[int] = field(default_factory=set)
    """Pods that wait for a node, in whatever queue."""
    _bound: set[int] = field(default_factory=set)
    _evicted_in: dict[int, int] = field(default_factory=dict)
    """By evicted pod, the cycle; 0 before the first."""
    _cycles: dict[int, CycleRow] = field(default_factory=dict)
    _changed: dict[int, PodState] = field(default_factory=dict)
    _deleted: set[int] = field(default_factory=set)
    """Of the changed pods, those that are gone."""
    _defines: bool = False

    @property
    def n_cycles(self) -> int:
        return self.state.cycle.started.cycle if self.state.cycle else 0

    @property
    def finished(self) -> RunFinished | None:
        return self.state.finished

    @property
    def not_modelled(self) -> tuple[str, ...]:
        return self.state.run.not_modelled if self.state.run else ()

    @property
    def n_bound(self) -> int:
        """Pods on a node, also those that were there from the beginning; finished ones are not."""
        return len(self._bound)

    @property
    def n_pending(self) -> int:
        """Pods without a node; one that is being bound is neither on its node nor pending."""
        return sum(self.state.pods[pod].node == NONE for pod in self._waiting)

    def pods_pending(self) -> list[str]:
        """The pods without a node, in order of appearance."""
        return self.state.names.pods(sorted(self._waiting))

    def drain(self) -> Delta:
        """Hand over, and forget, what changed. Call it where a chunk is cut."""
        rows = (self._pod_row(pod, state) for pod, state in self._changed.items())
        latest = {row.pod: row for row in rows}
        delta = Delta(list(self._cycles.values()), list(latest.values()), self._defines)
        self._cycles, self._changed, self._defines = {}, {}, False
        self._deleted.clear()
        return delta

    def take(self, event: AnyEvent) -> None:
        """Fold the next header event; detail events are not for here."""
        kind = type(event)
        self._seq += 1
        if kind is PodDeleted:
            self._delete(cast("PodDeleted", event))
        apply(self.state, event)
        if kind in MOVING:
            self._move(cast("PodMoved", event).pod)
        follow = _FOLLOWING.get(kind)
        if follow is not None:
            follow(self, event)

    def _define(self, event: AnyEvent) -> None:
        self._defines = True

    # ------------------------------------------------------------ pods

    def _delete(self, event: PodDeleted) -> None:
        """Note what the fold is about to forget."""
        pod = event.pod
        self._changed[pod] = self.state.pods[pod]
        self._deleted.add(pod)
        self._waiting.discard(pod)
        self._bound.discard(pod)

    def _move(self, pod: int) -> None:
        state = self.state.pods.get(pod)
        if state is None:
            return
        self._count(pod, state)
        if pod in self._waiting or state.cycle or state.eviction or state.move:
            self._changed[pod] = state

    def _pass_point(self, event: PointFinished) -> None:
        """Let go of a cycle whose binding is over; that its pod is bound need not be its doing."""
        pod = self.state.pods.get(event.pod)
        if event.point == "PostBind" and pod is not None:
            self._binding.pop(pod.cycle, None)

    def _evict(self, event: PodEvicted) -> None:
        self._evicted_in[event.pod] = self.n_cycles

    def _update(self, event: PodUpdated) -> None:
        self._count(event.pod, self.state.pods[event.pod])

    def _count(self, pod: int, state: PodState) -> None:
        """Count the pod to those that are bound, to those that wait, or to none."""
        if state.cache is Cache.ADDED:
            self._bound.add(pod)
            self._waiting.discard(pod)
            return
        self._bound.discard(pod)
        if state.phase in TERMINAL_PHASES or _is_unknown(state):
            self._waiting.discard(pod)
        else:
            self._waiting.add(pod)

    def _pod_row(self, pod: int, state: PodState) -> PodRow:
        names, move, eviction = self.state.names, state.move, state.eviction
        queue = "" if state.queue is Queue.NOWHERE else state.queue.name.lower()
        deleted = pod in self._deleted
        if deleted:
            queue = ""
        elif not queue and _is_unknown(state):
            queue = UNKNOWN
        return PodRow(
            pod=names.pod(pod),
            priority=state.priority,
            scheduler_name=state.scheduler_name,
            owner=state.owner,
            queue=queue,
            node=names.node(state.node),
            nominated_node=names.node(state.nominated_node),
            attempts=state.attempts,
            last_cycle=state.cycle,
            gated_by=names.plugin(move.gated_by) if move else "",
            backoff_until_ns=move.backoff_until_ns if move else 0,
            moved_by=move.event if move else "",
            evicted_in_cycle=self._evicted_in.get(pod),
            evicted_by=names.pod(eviction.by_pod) if eviction else "",
            deleted=deleted,
        )

    # ------------------------------------------------------------ cycles

    def _begin(self, event: CycleStarted) -> None:
        self._began[event.cycle] = (self._seq, self.state.now_ns)

    def _end(self, event: CycleFinished) -> None:
        """End the running cycle, or again an earlier one: allowed by Permit, or failed to bind."""
        cycle = self.state.cycle
        if cycle is None or cycle.started.cycle != event.cycle:
            row = self._binding.pop(event.cycle)
        elif event.cycle in self._began:
            row = self._cycle_row(cycle_record([cycle.started, *cycle.steps]))
        else:
            row = self._binding.pop(event.cycle)
        names = self.state.names
        row.result = event.result.name.lower()
        row.node = names.node(event.node)
        row.message = event.message
        if not row.first_cause and event.unschedulable_plugins:
            row.first_cause = names.plugin(event.unschedulable_plugins[0])
        self._cycles[row.number] = row
        if event.result in (Result.SCHEDULED, Result.WAITING):
            self._binding[row.number] = row
        elif event.result is Result.UNKNOWN and cycle is not None:
            self._move(cycle.started.pod)

    def _cycle_row(self, record: CycleRecord) -> CycleRow:
        started, names = record.started, self.state.names
        seq, now_ns = self._began.pop(started.cycle)
        row = CycleRow(
            number=started.cycle,
            seq=seq,
            now_ns=now_ns,
            pod=names.pod(started.pod),
            attempt=started.attempt,
            n_nodes=started.n_nodes,
        )
        if record.filter is not None:
            row.n_examined = max(0, record.filter.n_examined)
            row.n_feasible = record.filter.n_feasible
            row.n_held = record.filter.n_held
            row.first_cause = names.plugin(leading_plugin(record.filter))
        if record.selected is not None:
            row.n_tied = record.selected.n_tied
        if record.preemption_decided is not None:
            row.victims = tuple(names.pods(record.preemption_decided.victims))
            row.nominated_node = names.node(record.preemption_decided.winner)
        row.devices = devices_by_claim(record)
        return row


_FOLLOWING: Final = cast(
    "dict[type[AnyEvent], Callable[[TraceIndex, AnyEvent], None]]",
    dict.fromkeys(DEFINING, TraceIndex._define)
    | {
        CycleStarted: TraceIndex._begin,
        CycleFinished: TraceIndex._end,
        PodEvicted: TraceIndex._evict,
        PodUpdated: TraceIndex._update,
        PointFinished: TraceIndex._pass_point,
    },
)
"""What else an event changes, once it is folded."""


def _is_unknown(state: PodState) -> bool:
    """Return whether a scheduler that is observed has not reported what became of the pod."""
    verdict = state.verdict
    return verdict is not None and verdict.result is Result.UNKNOWN
