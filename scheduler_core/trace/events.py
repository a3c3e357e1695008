"""Every event a run can emit: the wire contract between engine, storage and browser.

A trace is a sequence of these events; `fold.py` and `cycle_record.py` read them. Events are
positional on the wire (MessagePack arrays whose first element is the type name), so fields are only
ever appended, with a default.

Small integers stand for the things that repeat: a *node* or *pod* number is introduced by
`NodeAdded` / `PodAdded`, a *plugin* number indexes `RunStarted.plugins`, a *resource* number
counts through the names of `ResourcesDefined` in order of appearance. -1 means none.
Time is virtual, in integer nanoseconds since the Unix epoch, set by `ClockAdvanced`.

A sentence of kviz's own is there in English; `said` beside it is what it is made of
(`wording.made_of`; of `not_modelled` a list), from which it is said in the reader's language.

All events but `DetailEvent`s are the *headers* that stream to every viewer.
"""

from __future__ import annotations

import msgspec

from scheduler_core.trace.records import (
    NONE,
    CandidateRecord,
    Column,
    CriterionRecord,
    DeviceRecord,
    EventType,
    ExtenderVerb,
    GateRecord,
    HintRecord,
    NominatedOnNode,
    Nominating,
    PermitDecision,
    PickRule,
    PluginScores,
    PointAfterPick,
    ProfileRecord,
    Queue,
    QueueOrder,
    RejectedBy,
    RequeueStrategy,
    Result,
    StatusRecord,
    TaintRecord,
)


class Event(msgspec.Struct, frozen=True, array_like=True, tag=True, tag_field="kind"):
    """One thing that happened, at the clock's current time."""


class DetailEvent(msgspec.Struct, frozen=True, array_like=True, tag=True, tag_field="kind"):
    """Per-node columns of one cycle: stored apart, fetched on demand."""


# ---------------------------------------------------------------- run and world


class RunStarted(Event, frozen=True):
    """`not_modelled` names what the input asks for and this engine does not do.

    `release` is the Kubernetes release that is followed (`1.36`), empty if unknown; `gates` are
    those not at its default; `tie_break` picks among the best nodes unless an extender has scored.

    With `observed` a real scheduler decides, and the trace has only what it reported to kviz.
    """

    engine_version: str
    seed: int
    now_ns: int
    plugins: tuple[str, ...]
    profiles: tuple[ProfileRecord, ...]
    not_modelled: tuple[str, ...] = ()
    observed: bool = False
    release: str = ""
    gates: tuple[GateRecord, ...] = ()
    tie_break: PickRule = "heap"
    queue_order: QueueOrder = "listed"
    said: object = None


class ClockAdvanced(Event, frozen=True):
    now_ns: int


class ResourcesDefined(Event, frozen=True):
    """More resource names, numbered on; cpu counts in milli, all others in units or bytes."""

    names: tuple[str, ...]


class NodeAdded(Event, frozen=True):
    """`allocatable` aligns with the resource numbers known so far."""

    node: int
    name: str
    zone: str
    labels: dict[str, str]
    taints: tuple[TaintRecord, ...]
    unschedulable: bool
    allocatable: tuple[int, ...]


class NodeUpdated(Event, frozen=True):
    node: int
    zone: str
    labels: dict[str, str]
    taints: tuple[TaintRecord, ...]
    unschedulable: bool
    allocatable: tuple[int, ...]


class NodeDeleted(Event, frozen=True):
    node: int


class NodeOrderChanged(Event, frozen=True):
    """All nodes in the order in which Filter examines them (zones in turn)."""

    nodes: tuple[int, ...]


class PodAdded(Event, frozen=True):
    """`node` is set for a pod that was bound before; `requests` aligns with the resources.

    Observed pods have a `uid`: by it later questions name them. `priority_class` may be empty.
    """

    pod: int
    namespace: str
    name: str
    scheduler_name: str
    priority: int
    requests: tuple[int, ...]
    owner: str = ""
    node: int = NONE
    nominated_node: int = NONE
    phase: str = "Pending"
    terminating: bool = False
    gone_at_ns: int = 0
    uid: str = ""
    priority_class: str = ""


class PodUpdated(Event, frozen=True):
    """`gone_at_ns` is when the grace period of a terminating pod ends."""

    pod: int
    priority: int
    requests: tuple[int, ...]
    phase: str
    terminating: bool = False
    gone_at_ns: int = 0


class PodDeleted(Event, frozen=True):
    """The object is gone: its grace period, if any, is over."""

    pod: int


class PodEvicted(Event, frozen=True):
    """The pod leaves its node, for `by_pod` or a `reason`; it vanishes at `gone_at_ns`."""

    pod: int
    by_pod: int
    reason: str
    gone_at_ns: int
    said: object = None


class ScenarioStepped(Event, frozen=True):
    """Step `index` of the scenario did what `text` says; if `refused`, nothing: it says why."""

    index: int
    text: str
    refused: bool = False
    said: object = None


# ---------------------------------------------------------------- queue


class QueueMoved(Event, frozen=True):
    """A decision about a pod in the scheduling queue, also the decision to leave it there.

    `event` is the cluster event's label (or `ScheduleAttemptFailure` and the like), `cause`
    the object behind it, `hints` what each rejector plugin said. `gated_by` is the PreEnqueue
    plugin that holds the pod.
    """

    pod: int
    queue: Queue
    event: str
    cause: str = ""
    hints: tuple[HintRecord, ...] = ()
    strategy: RequeueStrategy = ""
    gated_by: int = NONE
    backoff_until_ns: int = 0


class NominationChanged(Event, frozen=True):
    """`node` is -1 when the nomination is cleared."""

    pod: int
    node: int


# ---------------------------------------------------------------- one scheduling cycle


class CycleStarted(Event, frozen=True):
    """Cycles count from 1 through a run; `attempt` from 1 per pod."""

    cycle: int
    pod: int
    attempt: int
    profile: int
    popped_from: Queue
    start_index: int
    n_nodes: int


class PreFilterFinished(Event, frozen=True):
    """`narrowed` is None unless PreFilter plugins left only some nodes to look at."""

    status: StatusRecord
    skipped: tuple[int, ...]
    narrowed: tuple[int, ...] | None = None


class FilterFinished(Event, frozen=True):
    """Counts of the Filter point; `n_to_find` is where the search stops (sampling).

    -1 stands for a count that a scheduler which is observed does not report.

    With `by_nomination` one node was tried first and taken: the pod's nominated one, or `hint`, the
    node that batching offered. `n_held` nodes would be feasible without their nominated pods.
    """

    n_examined: int
    n_feasible: int
    n_to_find: int
    rejected: tuple[RejectedBy, ...]
    by_nomination: bool = False
    hint: int = NONE
    n_held: int = 0


class FilterColumns(DetailEvent, frozen=True):
    """The verdict of every examined node.

    Examined are `nodes` in order if given, else the node order from the cycle's `start_index`
    on, wrapping round. `status` (n_examined,) indexes `statuses`; 0 there means passed.
    `feasible` (n_feasible,) are the node numbers that go on to scoring. `nominated` are the nodes
    where nominated pods make a difference.
    """

    statuses: tuple[StatusRecord, ...]
    status: Column
    feasible: Column
    nodes: Column | None = None
    nominated: tuple[NominatedOnNode, ...] = ()


class PreScoreFinished(Event, frozen=True):
    status: StatusRecord
    skipped: tuple[int, ...]


class ScoreColumns(DetailEvent, frozen=True):
    """Scores of the feasible nodes, aligned with `nodes` (n_feasible,); what is hidden is empty."""

    nodes: Column
    plugins: tuple[PluginScores, ...]
    totals: Column


class NodeSelected(Event, frozen=True):
    """The pick: `n_tied` nodes shared the top total.

    `deciders` are the plugins whose weighted score parts winner and runner-up.
    """

    node: int
    rule: PickRule
    n_scored: int
    total: int = 0
    n_tied: int = 1
    runner_up: int = NONE
    runner_up_total: int = 0
    deciders: tuple[int, ...] = ()


class PostFilterFinished(Event, frozen=True):
    """With `nominating` `override` node -1 clears the nomination."""

    status: StatusRecord
    nominating: Nominating = ""
    node: int = NONE


class PreemptionStarted(Event, frozen=True):
    """Dry runs start at `offset` into the potential nodes and stop at `n_wanted` candidates.

    All are -1 where a scheduler that is observed does not report.
    """

    n_potential: int
    offset: int
    n_wanted: int


class PreemptionDryRun(DetailEvent, frozen=True):
    candidates: tuple[CandidateRecord, ...]


class ExtenderColumns(DetailEvent, frozen=True):
    """What one call to an extender did to single nodes; `call` counts a cycle's calls from 0.

    All but bind have them, right behind the call. It took away `removed` (n_removed,), for
    `reasons` that `reason` (n_removed,) indexes; an empty reason means without a word. It gave
    `nodes` (n,) these `scores` (n,).
    """

    call: int
    removed: Column
    reasons: tuple[str, ...]
    reason: Column
    nodes: Column
    scores: Column


class PreemptionDecided(Event, frozen=True):
    """The funnel of pick-one-node over `nodes`, and the winner (-1: none)."""

    nodes: tuple[int, ...]
    criteria: tuple[CriterionRecord, ...]
    winner: int
    victims: tuple[int, ...]


class PreemptionIneligible(Event, frozen=True):
    reason: str


class Assumed(Event, frozen=True):
    pod: int
    node: int


class Forgotten(Event, frozen=True):
    pod: int
    node: int


class Unreserved(Event, frozen=True):
    """`plugins` undid their Reserve, in this order: the last to reserve first."""

    pod: int
    node: int
    plugins: tuple[int, ...]


class PointFinished(Event, frozen=True):
    """An extension point ran for the pod on its node."""

    pod: int
    point: PointAfterPick
    status: StatusRecord


class PermitWaiting(Event, frozen=True):
    """The pod waits for `plugin` until `until_ns` at the latest."""

    pod: int
    plugin: int
    until_ns: int


class PermitResolved(Event, frozen=True):
    pod: int
    plugin: int
    decision: PermitDecision


class DevicesAllocated(Event, frozen=True):
    """Reserve keeps devices for one of the pod's claims; `allocated_before`: it has them already.

    `claim` is `namespace/name`; a claim that the scheduler makes has no name yet.
    """

    pod: int
    node: int
    claim: str
    devices: tuple[DeviceRecord, ...]
    allocated_before: bool = False


class Bound(Event, frozen=True):
    pod: int
    node: int


class CycleFinished(Event, frozen=True):
    """The outcome so far, the last counts; `message` is the PodScheduled condition's."""

    cycle: int
    result: Result
    node: int
    message: str = ""
    unschedulable_plugins: tuple[int, ...] = ()
    pending_plugins: tuple[int, ...] = ()


class EventRecorded(Event, frozen=True):
    """A Kubernetes Event as a user would see it."""

    pod: int
    type: EventType
    reason: str
    message: str


class ExtenderCalled(Event, frozen=True):
    """One call to a scheduler extender about `pod`.

    `summary` says its effect, `error` why it failed; a failure that is `ignored` changed nothing.
    The counts are of nodes, for preempt of candidate nodes. `status` is HTTP's, 0 without an
    answer; `response` is the beginning of the answer. The duration is real time. A score
    counts `weight` times. `whole_nodes`: objects were sent (of preempt pods), not names.
    """

    extender: str
    verb: ExtenderVerb
    n_nodes_in: int
    n_nodes_out: int
    duration_ns: int
    summary: str = ""
    error: str = ""
    pod: int = NONE
    status: int = 0
    response: str = ""
    ignored: bool = False
    weight: int = 0
    whole_nodes: bool = False
    n_request_bytes: int = 0
    n_response_bytes: int = 0


class RunFinished(Event, frozen=True):
    """Nothing is left that could happen (or the limit named in `reason` was met)."""

    n_cycles: int
    n_bound: int
    n_pending: int
    reason: str = ""
    said: object = None


HeaderEvent = (
    RunStarted
    | ClockAdvanced
    | ResourcesDefined
    | NodeAdded
    | NodeUpdated
    | NodeDeleted
    | NodeOrderChanged
    | PodAdded
    | PodUpdated
    | PodDeleted
    | PodEvicted
    | ScenarioStepped
    | QueueMoved
    | NominationChanged
    | CycleStarted
    | PreFilterFinished
    | FilterFinished
    | PreScoreFinished
    | NodeSelected
    | PostFilterFinished
    | PreemptionStarted
    | PreemptionDecided
    | PreemptionIneligible
    | Assumed
    | Unreserved
    | Forgotten
    | PointFinished
    | PermitWaiting
    | PermitResolved
    | DevicesAllocated
    | Bound
    | CycleFinished
    | EventRecorded
    | ExtenderCalled
    | RunFinished
)
Detail = FilterColumns | ScoreColumns | PreemptionDryRun | ExtenderColumns
AnyEvent = HeaderEvent | Detail
