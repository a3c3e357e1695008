"""One scheduling cycle under way: what it begins with, and what each step finds out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.diagnosis import Diagnosis, Verdicts
from scheduler_core.framework.extenders import ExtenderCall
from scheduler_core.framework.interface import PostFilterOutcome
from scheduler_core.framework.runtime import CycleState, Framework, PreFilterResult
from scheduler_core.framework.scoring import PluginScore
from scheduler_core.framework.status import Status
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.scheduler.batching import BatchTurn
from scheduler_core.scheduler.outcome import Outcome
from scheduler_core.trace.records import PickRule, Queue


@dataclass(frozen=True, slots=True)
class Filtering:
    """Filter's verdicts about the `examined` nodes, and the feasible ones in order.

    `by_nomination` says that one node was tried before all others and fits: the pod's nominated
    node, or the one that batching offered. `error` is that of a plugin or an extender, empty if
    there was none; it ends the cycle.
    """

    examined: Nodes
    verdicts: Verdicts
    feasible: Nodes
    n_to_find: int
    by_nomination: bool = False
    error: str = ""


@dataclass(frozen=True, slots=True)
class Scoring:
    """Scores of the feasible nodes; `totals` is int64 (n_feasible,), `picked` a position.

    `rule` is how it was picked among equal totals.
    `pre_score` is None where a profile has nothing that scores. `error`, if it is not empty, ends
    the cycle; then there are no totals.
    """

    pre_score: Status | None
    scores: Sequence[PluginScore]
    totals: IntArray
    picked: int
    rule: PickRule = "heap"
    extender_calls: Sequence[ExtenderCall] = ()
    error: str = ""


@dataclass(slots=True)
class Cycle:
    """One attempt at one pod. The steps fill it in; a step that was not reached leaves None.

    `number` counts the cycles of all profiles from 1. `nodes` are all nodes, in the order in
    which they are examined, from position `start_index` on.
    """

    number: int
    framework: Framework
    queued: QueuedPodInfo
    nodes: Nodes
    start_index: int
    batch: BatchTurn | None
    diagnosis: Diagnosis
    popped_from: Queue
    state: CycleState = field(default_factory=CycleState)
    pre_filter: PreFilterResult | None = None
    filtering: Filtering | None = None
    filter_calls: list[ExtenderCall] = field(default_factory=list)
    """Calls to extenders' filter, those about a node tried before all others included."""
    scoring: Scoring | None = None
    post_filter: PostFilterOutcome | None = None
    suggested_host: str = ""
    outcome: Outcome | None = None

    @property
    def pod(self) -> PodInfo:
        return self.queued.pod

    @property
    def hint(self) -> str:
        """Return the node that batching offers, empty if it offers none."""
        return self.batch.hint if self.batch is not None else ""
