"""Why a pod is pending, found out by attempting it; `explain.text` makes sentences of it.

The pod is attempted once in the cluster as it is given: other pending pods are not placed first,
but what earlier preemptions hold for them is respected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from scheduler_core import ENGINE_VERSION
from scheduler_core.analysis.advice.bugs import FoundBug, bugs_about
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.absent_kinds import AbsentKind, absent_budgets, absent_kinds
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.reach import stuck_pods
from scheduler_core.api.selectors import tolerations_tolerate
from scheduler_core.config import (
    FeatureGates,
    KubeSchedulerConfiguration,
    default_configuration,
)
from scheduler_core.devices.survey import DeviceSurvey
from scheduler_core.evidence import cluster_says
from scheduler_core.evidence.cluster_says import ClusterSays, Comparison, Verdict
from scheduler_core.evidence.cycle import NodeEvidence, pre_enqueue_evidence
from scheduler_core.evidence.free_room import FreeRoom
from scheduler_core.evidence.lead import Lead, lead_of_pod, lead_of_scheduler, lead_of_why
from scheduler_core.evidence.requests import RequestParts
from scheduler_core.framework.events import ClusterEvent, single_events
from scheduler_core.framework.individual import evaluate_individually
from scheduler_core.plugins.taint_toleration import TaintToleration
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.queue.scheduling_queue import Popped
from scheduler_core.registry import Registry, in_tree_registry
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.scheduler.cycle_evidence import evidence_of
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.profile_records import profile_records
from scheduler_core.sim.not_modelled import inputs_not_modelled
from scheduler_core.sim.run import admitted, in_sync_order, start_ns
from scheduler_core.sim.simulation import Simulation, Timing
from scheduler_core.trace.cycle_record import CycleRecord, cycle_record, devices_by_claim
from scheduler_core.trace.events import (
    AnyEvent,
    CycleStarted,
    Detail,
    DetailEvent,
    HeaderEvent,
    RunStarted,
)
from scheduler_core.trace.fold import TraceState, apply
from scheduler_core.trace.names import Names, Rejection
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import CandidateRecord, Result
from scheduler_core.trace.tables import REJECTING, TERMINAL_PHASES
from scheduler_core.trace.why import Individually, NearMiss, Why, lacks_room, why

HARD_EFFECTS: Final = ("NoSchedule", "NoExecute")

BOUND: Final = "bound"
FINISHED: Final = "finished"
TERMINATING: Final = "terminating"
OTHER_SCHEDULER: Final = "otherScheduler"
GATED: Final = "gated"
SCHEDULABLE: Final = "schedulable"
UNSCHEDULABLE: Final = "unschedulable"
ERROR: Final = "error"

_WORD_OF: Final = {SCHEDULABLE: cluster_says.BOUND}
"""What a cluster calls it, where that is another word."""

SUCCESS: Final = "Success"
"""The code of a dry run that makes room."""


class UnknownPodError(LookupError):
    """There is no pod of that name; `similar` are keys of pods that come near."""

    def __init__(self, key: str, similar: Sequence[str]) -> None:
        super().__init__(f"there is no pod {key}")
        self.similar = similar


@dataclass(frozen=True, slots=True)
class Victim:
    pod: str
    priority: int
    violates_pdb: bool
    budgets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node on which evicting the victims would make room."""

    node: str
    victims: tuple[Victim, ...]


@dataclass(frozen=True, slots=True)
class Preemption:
    """What preemption would do. `why_not` says why there is no winner, empty if there is one.

    `n_potential` nodes were tried; `n_by_reason` counts why the others and those where it failed
    cannot be helped by evicting pods.
    """

    why_not: str = ""
    n_potential: int = 0
    winner: Candidate | None = None
    others: tuple[Candidate, ...] = ()
    n_by_reason: Mapping[str, int] | None = None


@dataclass(frozen=True, slots=True)
class Explanation:
    """The answer. `status` is one of the words above; `node` where the pod is or would go."""

    pod: str
    status: str
    priority: int = 0
    node: str = ""
    message: str = ""
    held_by: str = ""
    """The plugin that keeps the pod out of the queue, or the scheduler it belongs to."""
    gates: tuple[str, ...] = ()
    nominated_node: str = ""
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """What it would get of the node's devices, by claim."""
    survey: DeviceSurvey = field(default_factory=DeviceSurvey)
    """What became of each device."""
    n_ahead: int = 0
    """Pending pods of higher priority, which would be tried first."""
    why: Why = field(default_factory=Why)
    taints: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """By near miss, the taints the pod does not tolerate, as `key=value:effect`."""
    preemption: Preemption | None = None
    wakes: Mapping[str, tuple[ClusterEvent, ...]] | None = None
    """What each plugin that rejected the pod waits for."""
    not_modelled: tuple[str, ...] = ()
    """What the input asks for and the engine does not do."""
    absent: tuple[AbsentKind, ...] = ()
    """Kinds that the pod would have needed."""
    cluster_says: ClusterSays | None = None
    """What the cluster itself said of it, None if the file does not tell."""
    lead: Lead | None = None
    """The sentence that leads, None for a pod that is not pending or would find a node."""
    bugs: tuple[FoundBug, ...] = ()
    """The scheduler's own bugs that decide about it."""
    stuck: tuple[str, ...] = ()
    """Sentences on pods of the cluster that stay though they were deleted."""
    free_room: FreeRoom | None = None
    """What is free on the nodes that lack only room, None if there are none."""
    requests: tuple[RequestParts, ...] = ()
    """How its requests come about."""
    nodes: Mapping[str, NodeEvidence] = field(default_factory=dict)
    """All plugins about each near miss, and about the node asked for."""
    node_asked: str = ""
    """The node that was asked for, and looked at."""


class UnknownNodeError(LookupError):
    """There is no node of that name."""

    def __init__(self, node: str) -> None:
        super().__init__(f"there is no node {node}")


def explain(
    objects: Sequence[KubeObject],
    pod: str,
    configuration: KubeSchedulerConfiguration | None = None,
    registry: Registry | None = None,
    features: FeatureGates | None = None,
    ignored: Mapping[str, int] | None = None,
    node: str = "",
    left_out: Sequence[str] = (),
) -> Explanation:
    """Explain the state of a pod (`namespace/name`) of a cluster.

    `registry` has the plugins of the configuration; None: those in the tree. `features` are the
    gates that the configuration was loaded with; None: the defaults. `ignored` counts, by kind,
    the objects of the cluster that were not read, `left_out` says which could not be. `node` is
    looked at, too, if it is named.

    Raises UnknownPodError, UnknownNodeError, and ConfigError for a bad configuration.
    """
    found = next((item for item in objects if isinstance(item, Pod) and item.key == pod), None)
    if found is None:
        raise UnknownPodError(pod, _similar(objects, pod))
    if found.status.phase in TERMINAL_PHASES:
        return Explanation(pod, FINISHED, message=found.status.phase, node=found.spec.node_name)
    if found.metadata.deletion_timestamp is not None:
        nodes = [item for item in objects if isinstance(item, Node)]
        stuck = "".join(sentence for _, sentence in stuck_pods([found], nodes))
        return Explanation(pod, TERMINATING, node=found.spec.node_name, message=stuck)
    if found.spec.node_name:
        bound = Verdict(BOUND, node=found.spec.node_name)
        same = ClusterSays(pod, bound, bound)
        return Explanation(pod, BOUND, node=found.spec.node_name, cluster_says=same)
    options = SchedulerOptions(
        configuration=configuration or default_configuration(),
        registry=registry or in_tree_registry(),
        features=features or FeatureGates(),
    )
    if node and not any(isinstance(item, Node) and item.name == node for item in objects):
        raise UnknownNodeError(node)
    explanation = _Trial(objects, found, options, node).explain()
    asked = options.configuration
    missing = inputs_not_modelled(
        objects, ignored or {}, asked.extenders, left_out, asked, options.features
    )
    bugs = bugs_about(objects, pod, options, explanation.node, explanation.message)
    held = ClusterObjects(objects)
    absent = absent_kinds(held, found, ignored=ignored or {})
    not_modelled = tuple(map(str, missing))
    preemption = explanation.preemption
    nominated = preemption.winner.node if preemption and preemption.winner else ""
    verdict = Verdict(
        _WORD_OF.get(explanation.status, explanation.status),
        explanation.message,
        explanation.node or nominated,
    )
    said = Comparison(objects, options.features, absent, not_modelled).of(found, [verdict])
    return replace(
        explanation,
        not_modelled=not_modelled,
        absent=(*absent, *absent_budgets(held, [pod] if nominated else [])),
        bugs=bugs,
        stuck=tuple(text for _, text in stuck_pods(held.of(Pod), held.of(Node))),
        cluster_says=said,
    )


def _similar(objects: Sequence[KubeObject], pod: str) -> list[str]:
    """Return pods of the same name elsewhere, or whose name begins with the one asked for."""
    name = pod.rpartition("/")[2]
    keys = sorted(item.key for item in objects if isinstance(item, Pod))
    return [key for key in keys if name and key.rpartition("/")[2].startswith(name)][:5]


class _Trial:
    """One attempt at the pod in a simulated cluster; nothing that follows from it is done."""

    def __init__(
        self, objects: Sequence[KubeObject], pod: Pod, options: SchedulerOptions, node: str
    ) -> None:
        items, _ = admitted(objects)
        self._node = node
        self._individual: Individually = {}
        self._lead: Lead | None = None
        self._free_room: FreeRoom | None = None
        self._requests: tuple[RequestParts, ...] = ()
        self._evidence: dict[str, NodeEvidence] = {}
        self._features = options.features
        options = replace(options, on_decision=self._look)
        self._attempt = _Recording()
        recorder = Recorder(self._attempt.take)
        timing = Timing(kubelet_start_ns=None)
        now_ns = start_ns(items)
        self._simulation = Simulation(options, recorder, now_ns, timing)
        self._scheduler = self._simulation.scheduler
        registered = self._scheduler.queue.registered_events()
        profiles = profile_records(self._scheduler.profiles, recorder, registered)
        recorder.emit(RunStarted(ENGINE_VERSION, 0, now_ns, tuple(recorder.plugins), profiles))
        self._simulation.load(in_sync_order(items))
        self._simulation.record_node_order()
        self._pod = pod
        self._nodes = {item.name: item for item in items if isinstance(item, Node)}

    def explain(self) -> Explanation:
        key = self._pod.key
        scheduler_name = self._pod.spec.scheduler_name
        if scheduler_name and scheduler_name not in self._scheduler.profiles:
            lead = lead_of_scheduler(scheduler_name)
            return Explanation(key, OTHER_SCHEDULER, held_by=scheduler_name, lead=lead)
        queued = self._scheduler.queue.get(key)
        assert queued is not None
        if queued.gated:
            return self._gated(queued)
        ahead = [
            other
            for other in self._scheduler.queue.active_pods()
            if other.pod.priority > queued.pod.priority
        ]
        self._individual = self._individually(queued)
        survey = self._survey(queued)
        self._scheduler.schedule_one(lambda: self._pop(key))
        return self._explanation(queued, len(ahead), survey)

    def _gated(self, queued: QueuedPodInfo) -> Explanation:
        framework = self._scheduler.profiles[queued.pod.pod.spec.scheduler_name]
        rejections = pre_enqueue_evidence(framework, queued.pod, self._simulation.objects)
        return Explanation(
            queued.key,
            GATED,
            held_by=queued.gating_plugin,
            gates=tuple(gate.name for gate in self._pod.spec.scheduling_gates),
            lead=lead_of_pod(rejections) if rejections else None,
        )

    def _look(self, cycle: Cycle) -> None:
        """Read the values behind the decision, before anything follows from it."""
        evidence = evidence_of(cycle, self._simulation.objects)
        found = why(self._attempt.record(), self._attempt.before, self._individual)
        self._requests = evidence.requests
        self._lead = None if found.n_feasible else lead_of_why(evidence, found)
        self._free_room = evidence.free_room if lacks_room(found) else None
        names = dict.fromkeys(miss.node for miss in found.nearest)
        if self._node:
            names[self._node] = None
        self._evidence = {name: evidence.node(name) for name in names}

    def _pop(self, key: str) -> Popped | None:
        """Take a pod out of the queue, and all that are queued before it."""
        while (popped := self._scheduler.queue.pop()) is not None:
            if popped.queued.key == key:
                return popped
        return None

    def _individually(self, queued: QueuedPodInfo) -> Individually:
        """Evaluate every plugin on every node, before the attempt changes any."""
        framework = self._scheduler.profiles[queued.pod.pod.spec.scheduler_name]
        nodes = self._scheduler.cache.update_snapshot()
        found = evaluate_individually(framework, queued.pod, nodes)
        return {
            node: [Rejection(each.plugin, each.code.label, each.reasons) for each in rejections]
            for node, rejections in found.nodes.items()
        }

    def _survey(self, queued: QueuedPodInfo) -> DeviceSurvey:
        framework = self._scheduler.profiles[queued.pod.pod.spec.scheduler_name]
        return framework.survey_devices(queued.pod, self._scheduler.cache.update_snapshot())

    def _explanation(
        self,
        queued: QueuedPodInfo,
        n_ahead: int,
        survey: DeviceSurvey,
    ) -> Explanation:
        record, state = self._attempt.record(), self._attempt.before
        finished, names = record.finished, state.names
        assert finished is not None
        found = why(record, state, self._individual)
        status = _STATUS_OF.get(finished.result, ERROR)
        is_unschedulable = status == UNSCHEDULABLE
        return Explanation(
            pod=queued.key,
            status=status,
            priority=queued.pod.priority,
            node=names.node(finished.node),
            message=finished.message,
            nominated_node=self._pod.status.nominated_node_name,
            devices=devices_by_claim(record),
            survey=survey,
            n_ahead=n_ahead,
            why=found,
            taints=self._untolerated(found.nearest),
            preemption=_preemption(record, state) if is_unschedulable else None,
            wakes=self._wakes(queued) if status != SCHEDULABLE else None,
            lead=self._lead,
            free_room=self._free_room,
            requests=self._requests,
            nodes=self._evidence,
            node_asked=self._node if self._node in self._evidence else "",
        )

    def _untolerated(self, misses: Sequence[NearMiss]) -> dict[str, tuple[str, ...]]:
        gate = self._features.enabled("TaintTolerationComparisonOperators")
        return {
            miss.node: _untolerated(self._pod, self._nodes[miss.node], comparison_operators=gate)
            for miss in misses
            if TaintToleration.name in miss.plugins
        }

    def _wakes(self, queued: QueuedPodInfo) -> dict[str, tuple[ClusterEvent, ...]]:
        waking = self._scheduler.queue.waking_events(queued)
        return {plugin: single_events(tuple(events)) for plugin, events in waking.items()}


class _Recording:
    """The events of one attempt, and the state of the cluster when it began."""

    def __init__(self) -> None:
        self.before = TraceState()
        self._headers: list[HeaderEvent] = []
        self._details: list[Detail] = []

    def take(self, event: AnyEvent) -> None:
        if isinstance(event, DetailEvent):
            self._details.append(event)
        elif self._headers or isinstance(event, CycleStarted):
            self._headers.append(event)
        else:
            apply(self.before, event)

    def record(self) -> CycleRecord:
        return cycle_record(self._headers, details=self._details)


_STATUS_OF: Final[Mapping[Result, str]] = {
    Result.SCHEDULED: SCHEDULABLE,
    Result.WAITING: SCHEDULABLE,
    Result.UNSCHEDULABLE: UNSCHEDULABLE,
}


def _untolerated(pod: Pod, node: Node, *, comparison_operators: bool) -> tuple[str, ...]:
    return tuple(
        f"{taint.key}={taint.value}:{taint.effect}"
        if taint.value
        else f"{taint.key}:{taint.effect}"
        for taint in node.spec.taints
        if taint.effect in HARD_EFFECTS
        and not tolerations_tolerate(
            pod.spec.tolerations, taint, comparison_operators=comparison_operators
        )
    )


# ---------------------------------------------------------------- preemption


def _preemption(record: CycleRecord, state: TraceState) -> Preemption:
    names, started = state.names, record.preemption_started
    if record.preemption_ineligible is not None:
        return Preemption(record.preemption_ineligible.reason)
    if started is None:
        return Preemption(_before_preemption(record, names))
    dry_runs = record.preemption_dry_run.candidates if record.preemption_dry_run else ()
    candidates = {
        run.node: _candidate(run, state) for run in dry_runs if run.status.code == SUCCESS
    }
    decided = record.preemption_decided
    winner = candidates.pop(decided.winner, None) if decided else None
    n_by_reason = Counter(
        ", ".join(run.status.reasons) for run in dry_runs if run.status.code != SUCCESS
    )
    n_hopeless = record.started.n_nodes - started.n_potential
    if n_hopeless:
        n_by_reason["Preemption is not helpful for scheduling"] += n_hopeless
    return Preemption(
        why_not="" if winner else "evicting pods of lower priority makes room on no node",
        n_potential=started.n_potential,
        winner=winner,
        others=tuple(candidates.values()),
        n_by_reason=dict(n_by_reason.most_common()),
    )


def _before_preemption(record: CycleRecord, names: Names) -> str:
    """Return why preemption was not even considered."""
    if record.post_filter is None:
        return "no plugin of the configuration preempts"
    pre_filter = record.pre_filter
    if pre_filter is not None and pre_filter.status.code in REJECTING:
        plugin = names.plugin(pre_filter.status.plugin)
        return f"{plugin} rejected the pod before any node was looked at"
    return ", ".join(record.post_filter.status.reasons)


def _candidate(run: CandidateRecord, state: TraceState) -> Candidate:
    broken = {reprieve.pod: reprieve.budgets for reprieve in run.reprieves if reprieve.violates_pdb}
    victims = (
        Victim(state.names.pod(pod), state.pods[pod].priority, pod in broken, broken.get(pod, ()))
        for pod in run.victims
    )
    return Candidate(state.names.node(run.node), tuple(victims))
