"""Why a pod is pending, found out by trying it: facts, without words (`explain_text` has those).

The pod is attempted once in the cluster as it is given: other pending pods are not placed first,
but what earlier preemptions hold for them is respected.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.selectors import tolerations_tolerate
from scheduler_core.cluster.columns import PODS
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.config import (
    ExtensionPoint,
    KubeSchedulerConfiguration,
    default_configuration,
)
from scheduler_core.framework.events import ActionType, ClusterEvent
from scheduler_core.framework.interface import PostFilterOutcome
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code, Verdict
from scheduler_core.plugins.node_resources import Fit
from scheduler_core.plugins.taint_toleration import TaintToleration
from scheduler_core.preemption.report import DryRun, PreemptionReport
from scheduler_core.queue.queued_pod import QueuedPodInfo
from scheduler_core.queue.scheduling_queue import Popped
from scheduler_core.registry import Registry, in_tree_registry
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.outcome import Scheduled, Unschedulable
from scheduler_core.sim.admission import admit
from scheduler_core.sim.run import in_sync_order, start_ns
from scheduler_core.sim.simulation import Simulation, Timing
from scheduler_core.trace.recorder import Recorder

MAX_NEAREST: Final = 10
HARD_EFFECTS: Final = ("NoSchedule", "NoExecute")

BOUND: Final = "bound"
FINISHED: Final = "finished"
TERMINATING: Final = "terminating"
OTHER_SCHEDULER: Final = "otherScheduler"
GATED: Final = "gated"
SCHEDULABLE: Final = "schedulable"
UNSCHEDULABLE: Final = "unschedulable"
ERROR: Final = "error"


class UnknownPodError(LookupError):
    """There is no pod of that name; `similar` are keys of pods that come near."""

    def __init__(self, key: str, similar: Sequence[str]) -> None:
        super().__init__(f"there is no pod {key}")
        self.similar = similar


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """The nodes that one plugin was the first to reject, and how many of all were left then.

    `n_by_reason` counts reasons, of which a node may have several; `n_unresolvable` of the nodes
    are beyond what evicting pods could mend.
    """

    plugin: str
    nodes: tuple[str, ...]
    n_left: int
    n_by_reason: Mapping[str, int]
    n_unresolvable: int = 0


@dataclass(frozen=True, slots=True)
class Shortage:
    """What a node lacks of a resource: cpu in milli, others in bytes or units."""

    resource: str
    requested: int
    free: int
    allocatable: int

    @property
    def short(self) -> int:
        return self.requested - self.free


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A node that was turned down, with every plugin that would do so on its own.

    None of them does if the node is only kept free for nominated pods. `taints` are those the
    pod does not tolerate, as `key=value:effect`.
    """

    node: str
    plugins: tuple[str, ...]
    reasons: tuple[str, ...]
    shortages: tuple[Shortage, ...] = ()
    taints: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Victim:
    pod: str
    priority: int
    violates_pdb: bool


@dataclass(frozen=True, slots=True)
class Candidate:
    """A node on which evicting the victims would make room."""

    node: str
    victims: tuple[Victim, ...]


@dataclass(frozen=True, slots=True)
class Preemption:
    """What preemption would do. `why_not` says why there is no winner, empty if there is one.

    `n_potential` nodes were tried; `n_by_reason` counts why the others and those tried in vain
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
    n_nodes: int = 0
    n_examined: int = 0
    n_feasible: int = 0
    n_ahead: int = 0
    """Pending pods of higher priority, which would be tried first."""
    funnel: tuple[FunnelStep, ...] = ()
    nearest: tuple[NearMiss, ...] = ()
    preemption: Preemption | None = None
    wakes: Mapping[str, tuple[ClusterEvent, ...]] | None = None
    """What each plugin that rejected the pod waits for."""


def explain(
    objects: Sequence[KubeObject],
    pod: str,
    configuration: KubeSchedulerConfiguration | None = None,
    registry: Registry | None = None,
) -> Explanation:
    """Explain the state of a pod (`namespace/name`) of a cluster.

    `registry` has the plugins of the configuration; None: those in the tree.

    Raises UnknownPodError, and ConfigError for a bad configuration.
    """
    found = next((item for item in objects if isinstance(item, Pod) and item.key == pod), None)
    if found is None:
        raise UnknownPodError(pod, _similar(objects, pod))
    if found.status.phase in ("Succeeded", "Failed"):
        return Explanation(pod, FINISHED, message=found.status.phase, node=found.spec.node_name)
    if found.metadata.deletion_timestamp is not None:
        return Explanation(pod, TERMINATING, node=found.spec.node_name)
    if found.spec.node_name:
        return Explanation(pod, BOUND, node=found.spec.node_name)
    options = SchedulerOptions(
        configuration=configuration or default_configuration(),
        registry=registry or in_tree_registry(),
    )
    return _Trial(objects, found, options).explain()


def _similar(objects: Sequence[KubeObject], pod: str) -> list[str]:
    """Return pods of the same name elsewhere, or whose name begins with the one asked for."""
    name = pod.rpartition("/")[2]
    keys = sorted(item.key for item in objects if isinstance(item, Pod))
    return [key for key in keys if name and key.rpartition("/")[2].startswith(name)][:5]


class _Trial:
    """One attempt at the pod in a simulated cluster; nothing that follows from it is done."""

    def __init__(self, objects: Sequence[KubeObject], pod: Pod, options: SchedulerOptions) -> None:
        items = [admit(item) if isinstance(item, Pod) else item for item in objects]
        recorder = Recorder(lambda event: None, details=False)
        timing = Timing(kubelet_start_ns=None)
        self._simulation = Simulation(options, recorder, start_ns(items), timing)
        self._simulation.load(in_sync_order(items))
        self._scheduler = self._simulation.scheduler
        self._pod = pod

    def explain(self) -> Explanation:
        key = self._pod.key
        scheduler_name = self._pod.spec.scheduler_name
        if scheduler_name and scheduler_name not in self._scheduler.profiles:
            return Explanation(key, OTHER_SCHEDULER, held_by=scheduler_name)
        queued = self._scheduler.queue.get(key)
        assert queued is not None
        if queued.gated:
            gates = tuple(gate.name for gate in self._pod.spec.scheduling_gates)
            return Explanation(key, GATED, held_by=queued.gating_plugin, gates=gates)
        ahead = [
            other
            for other in self._scheduler.queue.active_pods()
            if other.pod.priority > queued.pod.priority
        ]
        return self._told(self._attempt(key), queued, len(ahead))

    def _attempt(self, key: str) -> Cycle:
        self._scheduler.schedule_one(lambda: self._pop(key))
        cycle = self._scheduler.last_cycle
        assert cycle is not None
        return cycle

    def _pop(self, key: str) -> Popped | None:
        """Take a pod out of the queue, and all that are queued before it."""
        while (popped := self._scheduler.queue.pop()) is not None:
            if popped.queued.key == key:
                return popped
        return None

    def _told(self, cycle: Cycle, queued: QueuedPodInfo, n_ahead: int) -> Explanation:
        outcome, filtering = cycle.outcome, cycle.filtering
        failure = None if outcome is None or isinstance(outcome, Scheduled) else outcome
        framework = self._scheduler.profiles[queued.pod.pod.spec.scheduler_name]
        status = SCHEDULABLE
        if failure is not None:
            status = UNSCHEDULABLE if isinstance(failure, Unschedulable) else ERROR
        return Explanation(
            pod=queued.key,
            status=status,
            priority=queued.pod.priority,
            node=cycle.suggested_host if failure is None else "",
            message=failure.message if failure else "",
            nominated_node=self._pod.status.nominated_node_name,
            n_nodes=cycle.nodes.n,
            n_examined=filtering.examined.n if filtering else 0,
            n_feasible=filtering.feasible.n if filtering else 0,
            n_ahead=n_ahead,
            funnel=tuple(_funnel(framework, cycle)),
            nearest=tuple(_nearest(framework, cycle)) if status == UNSCHEDULABLE else (),
            preemption=_preemption(cycle) if status == UNSCHEDULABLE else None,
            wakes=self._wakes(queued) if failure is not None else None,
        )

    def _wakes(self, queued: QueuedPodInfo) -> dict[str, tuple[ClusterEvent, ...]]:
        waking = self._scheduler.queue.waking_events(queued)
        return {plugin: _single_events(events) for plugin, events in waking.items()}


def _single_events(events: Sequence[ClusterEvent]) -> tuple[ClusterEvent, ...]:
    """Split events that stand for several actions, but for the general update."""
    single: dict[ClusterEvent, None] = {}
    for event in events:
        action = event.action
        if action & ActionType.UPDATE == ActionType.UPDATE:
            single[ClusterEvent(event.resource, ActionType.UPDATE)] = None
            action &= ~ActionType.UPDATE
        for one in action:
            single[ClusterEvent(event.resource, one)] = None
    return tuple(sorted(single, key=lambda event: (event.resource, event.action.value)))


# ---------------------------------------------------------------- filtering


def _funnel(framework: Framework, cycle: Cycle) -> list[FunnelStep]:
    """Tell plugin by plugin which nodes fell out, in the order of the configuration."""
    pre_filter, filtering = cycle.pre_filter, cycle.filtering
    n_left, names = cycle.nodes.n, cycle.nodes.names
    if pre_filter is not None and pre_filter.status.is_rejected:
        status = pre_filter.status
        by_reason = {status.message: n_left}
        return [FunnelStep(status.plugin, tuple(names), 0, by_reason, n_left)]
    if pre_filter is None or filtering is None:
        return []
    steps = []
    if pre_filter.node_names is not None:
        out = tuple(name for name in names if name not in pre_filter.node_names)
        n_left -= len(out)
        plugins = ", ".join(sorted(pre_filter.narrowed_by))
        text = "not among the nodes the pod is restricted to"
        steps.append(FunnelStep(plugins, out, n_left, {text: len(out)}, len(out)))
    verdicts, examined = filtering.verdicts, filtering.examined.names
    for plugin, _ in framework.points.get(ExtensionPoint.FILTER, ()):
        ids = [i for i, status in enumerate(verdicts.statuses) if status.plugin == plugin.name]
        at = np.flatnonzero(np.isin(verdicts.ids, ids)) if ids else np.zeros(0, np.int64)
        if not at.size:
            continue
        statuses = [verdicts.status(int(i)) for i in at]
        n_left -= len(statuses)
        steps.append(
            FunnelStep(
                plugin.name,
                tuple(examined[i] for i in at),
                n_left,
                dict(Counter(r for status in statuses for r in status.reasons).most_common()),
                sum(s.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE for s in statuses),
            )
        )
    return steps


def _nearest(framework: Framework, cycle: Cycle) -> list[NearMiss]:
    """Return the nodes with the fewest plugins against them, the least short ones first."""
    if cycle.filtering is None or not cycle.filtering.examined.n:
        return []
    nodes = cycle.filtering.examined
    verdicts = framework.run_filter_individually(cycle.state, cycle.pod, nodes)
    n_against = np.zeros(nodes.n, np.int64)
    for verdict in verdicts.values():
        n_against += verdict.code != 0
    fewest = np.flatnonzero(n_against == n_against.min())
    misses = [_near_miss(cycle, nodes, verdicts, int(i)) for i in fewest]
    return sorted(misses, key=_distance)[:MAX_NEAREST]


def _near_miss(cycle: Cycle, nodes: Nodes, verdicts: Mapping[str, Verdict], i: int) -> NearMiss:
    against = {plugin: verdict for plugin, verdict in verdicts.items() if verdict.code[i]}
    reasons = [text for verdict in against.values() for text in verdict.texts_at(i)]
    if not against and cycle.filtering is not None:
        reasons = list(cycle.filtering.verdicts.status(i).reasons)
    shortages = _shortages(cycle, nodes, i) if Fit.name in against else ()
    taints = _untolerated(cycle.pod.pod, nodes.node(i)) if TaintToleration.name in against else ()
    return NearMiss(nodes.name(i), tuple(against), tuple(reasons), shortages, taints)


def _untolerated(pod: Pod, node: Node) -> tuple[str, ...]:
    return tuple(
        f"{taint.key}={taint.value}:{taint.effect}"
        if taint.value
        else f"{taint.key}:{taint.effect}"
        for taint in node.spec.taints
        if taint.effect in HARD_EFFECTS and not tolerations_tolerate(pod.spec.tolerations, taint)
    )


def _shortages(cycle: Cycle, nodes: Nodes, i: int) -> tuple[Shortage, ...]:
    """Return what node i is short of, in the order in which the pod requests it."""
    found = []
    allowed, n_pods = int(nodes.allowed_pods[i]), int(nodes.n_pods[i])
    if n_pods + 1 > allowed:
        found.append(Shortage(PODS, 1, allowed - n_pods, allowed))
    requests = cycle.state.pre_filter.get(Fit.name)
    assert isinstance(requests, Mapping)
    for resource, amount in requests.items():
        allocatable = int(nodes.allocatable(resource)[i])
        free = allocatable - int(nodes.requested(resource)[i])
        if amount > free:
            found.append(Shortage(resource, amount, free, allocatable))
    return tuple(found)


def _distance(miss: NearMiss) -> tuple[int, float]:
    """Sort by reasons, then by how large a part of the requests is missing."""
    return len(miss.reasons), sum(s.short / s.requested for s in miss.shortages)


# ---------------------------------------------------------------- preemption


def _preemption(cycle: Cycle) -> Preemption:
    outcome = cycle.post_filter
    if outcome is None:
        return Preemption("no plugin of the configuration preempts")
    report = outcome.report
    if not isinstance(report, PreemptionReport):
        return Preemption(_before_preemption(cycle, outcome))
    if report.ineligible:
        return Preemption(report.ineligible)
    candidates = [_candidate(run) for run in report.dry_runs if run.status.is_success]
    winner = next((c for c in candidates if c.node == report.winner), None)
    n_by_reason = Counter(r.status.message for r in report.dry_runs if not r.status.is_success)
    n_hopeless = cycle.nodes.n - report.n_potential
    if n_hopeless:
        n_by_reason["Preemption is not helpful for scheduling"] += n_hopeless
    return Preemption(
        why_not="" if winner else "evicting pods of lower priority makes room on no node",
        n_potential=report.n_potential,
        winner=winner,
        others=tuple(c for c in candidates if c is not winner),
        n_by_reason=dict(n_by_reason.most_common()),
    )


def _before_preemption(cycle: Cycle, outcome: PostFilterOutcome) -> str:
    """Return why preemption was not even considered."""
    pre_filter = cycle.pre_filter
    if pre_filter is not None and pre_filter.status.is_rejected:
        return f"{pre_filter.status.plugin} turned the pod down before any node was looked at"
    return outcome.status.message


def _candidate(run: DryRun) -> Candidate:
    violating = {reprieve.pod.uid for reprieve in run.reprieves if reprieve.violates_pdb}
    victims = (Victim(pod.key, pod.priority, pod.uid in violating) for pod in run.victims)
    return Candidate(run.node_name, tuple(victims))
