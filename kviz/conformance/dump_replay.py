"""A simulated cluster that makes the attempts of a recorded run, in order, with its choices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from kviz.conformance.dump import BOUND, RecordedAttempt
from scheduler_core.api import KubeObject, Pod, PodDisruptionBudget
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import FeatureGates, KubeSchedulerConfiguration, default_configuration
from scheduler_core.framework.diagnosis import Diagnosis
from scheduler_core.framework.interface import Queued
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.preemption.budgets import Budgets
from scheduler_core.preemption.dry_run import dry_run
from scheduler_core.registry import Registry, in_tree_registry
from scheduler_core.releases.table import Release
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.scheduler.cycle_record import Cycle
from scheduler_core.scheduler.selection import heap_root
from scheduler_core.sim.api_server import bound_to
from scheduler_core.sim.run import in_sync_order, start_ns
from scheduler_core.sim.simulation import Simulation, Timing
from scheduler_core.trace.recorder import Recorder

QUEUE_SORT = "PrioritySort"
MILLI_NS = 1_000_000
STILL_TERMINATING = "a terminating pod on the nominated node"


@dataclass
class RecordedOrder:
    """Stands in for PrioritySort: pods are tried in the order in which they were recorded.

    Among pods of equal priority that order is a matter of chance when a scheduler starts.
    """

    attempts: Mapping[str, Sequence[RecordedAttempt]]
    """By pod, those still to come."""
    name: str = QUEUE_SORT

    def sort_key(self, queued: Queued) -> tuple[int, ...]:
        """Return the place of the pod's next recorded attempt; after all others if none."""
        left = self.attempts.get(queued.pod.key)
        return (0, left[0].order) if left else (1, -queued.pod.priority)


class DumpReplay:
    """The cluster of a dump. All nodes are examined and scored, whatever was sampled.

    Time moves only from attempt to attempt, so that a deleted pod stays until it is taken away. A
    pod is bound before the next attempt, its volumes too: what was recorded is the end of it.
    """

    def __init__(
        self,
        objects: Sequence[KubeObject],
        attempts: Sequence[RecordedAttempt],
        release: Release,
    ) -> None:
        gates = FeatureGates((), release)
        self._attempts: dict[str, list[RecordedAttempt]] = {}
        for recorded in attempts:
            self._attempts.setdefault(recorded.pod, []).append(recorded)
        self._recorded: RecordedAttempt | None = None
        self._terminating: dict[str, str] = {}
        """Victims that are being deleted, each with the pod they have to make room for."""
        options = SchedulerOptions(
            configuration=_without_sampling(default_configuration(gates)),
            features=gates,
            registry=self._registry(),
            pick=self._pick,
            break_tie=self._break_tie,
        )
        timing = Timing(attempt_ns=MILLI_NS, pre_bind_ns=0, binding_ns=0)
        recorder = Recorder(lambda event: None, details=False)
        self.simulation = Simulation(options, recorder, start_ns(objects), timing)
        self.simulation.load(in_sync_order(objects))

    def _registry(self) -> Registry:
        registry = in_tree_registry()
        registry.unregister(QUEUE_SORT)
        sort = RecordedOrder(self._attempts)
        registry.register(QUEUE_SORT, RecordedOrder, lambda args, handle: sort)
        return registry

    def _pick(self, totals: IntArray) -> int:
        """Take the recorded node if it is feasible; whether it is among the best is compared."""
        cycle = self.simulation.scheduler.last_cycle
        filtering = cycle.filtering if cycle is not None else None
        names = filtering.feasible.names if filtering else []
        node = self._recorded.node if self._recorded else ""
        return names.index(node) if node in names else heap_root(totals)

    def _break_tie(self, node_names: Sequence[str]) -> str:
        node = self._recorded.nominated_node if self._recorded else ""
        return node if node in node_names else node_names[0]

    # ------------------------------------------------------------ attempts

    @property
    def framework(self) -> Framework:
        return next(iter(self.simulation.scheduler.profiles.values()))

    def pod(self, key: str) -> Pod | None:
        return self.simulation.server.get(Pod, key)

    @property
    def _columns(self) -> ClusterColumns:
        return self.simulation.scheduler.cache.columns

    def _info(self, key: str) -> PodInfo | None:
        pod = self.pod(key)
        return None if pod is None else self._columns.templates.info(pod)

    def attempt(self, recorded: RecordedAttempt) -> Cycle | None:
        """Make an attempt; None if the pod is not in the queue, or held there."""
        self._recorded = recorded
        self._take_away(self._gone_victims(recorded))
        self._arrange_victims(recorded)
        cycle = self._attempt(recorded.pod)
        if cycle is not None and cycle.post_filter is not None:
            victims = (victim.key for victim in cycle.post_filter.victims)
            self._terminating |= dict.fromkeys(victims, recorded.pod)
        return cycle

    def _attempt(self, key: str) -> Cycle | None:
        simulation = self.simulation
        simulation.clock.move_to(simulation.clock.now_ns() + MILLI_NS)
        queue = simulation.scheduler.queue
        queued = queue.get(key)
        if queued is not None:
            queue.activate([queued.pod])
        self._attempts[key].pop(0)
        active = queue.active_pods()
        if not active or active[0].key != key:
            return None
        simulation.attempt()
        return simulation.scheduler.last_cycle

    # ------------------------------------------------------------ victims

    def _gone_victims(self, recorded: RecordedAttempt) -> list[str]:
        """Return the victims that were gone when the attempt was made.

        When they went was not recorded. So as few as agree with what was recorded of the
        attempt, in order of eviction; those of the pod's own preemption in any case, unless the
        message says that they are still there.
        """
        waits = STILL_TERMINATING in recorded.message
        own = [victim for victim, by in self._terminating.items() if by == recorded.pod]
        others = [victim for victim in self._terminating if victim not in own]
        gone = [] if waits else own
        info = self._info(recorded.pod)
        if info is None or not others:
            return gone
        for n in range(len(others) + 1):
            if self._agrees(recorded, info, gone + others[:n]):
                return gone + others[:n]
        return gone

    def _agrees(self, recorded: RecordedAttempt, pod: PodInfo, gone: Sequence[str]) -> bool:
        """Return whether filtering without some victims ends as recorded."""
        nodes = self._nodes_without(gone)
        state = CycleState()
        pre_filter = self.framework.run_pre_filter(state, pod, nodes)
        if not pre_filter.status.is_success or pre_filter.node_names is not None:
            return True
        verdicts = self.framework.run_filter_with_nominated_pods(state, pod, nodes)
        if recorded.result == BOUND:
            return bool(verdicts.fits[nodes.names.index(recorded.node)])
        diagnosis = Diagnosis(nodes)
        diagnosis.record(nodes, verdicts)
        return recorded.message.startswith(diagnosis.message())

    def _nodes_without(self, gone: Sequence[str]) -> Nodes:
        nodes = self.simulation.scheduler.cache.update_snapshot()
        changes = {}
        for i in range(nodes.n):
            removed = tuple(pod for pod in nodes.pods(i) if pod.key in gone)
            if removed:
                changes[i] = Change(removed=removed)
        return nodes.what_if(changes)

    def _take_away(self, victims: Sequence[str]) -> None:
        for key in victims:
            del self._terminating[key]
            victim = self.pod(key)
            if victim is not None:
                self.simulation.server.delete(victim)

    def _arrange_victims(self, recorded: RecordedAttempt) -> None:
        """Put the victims last among the pods on their node, or first if that does it.

        Which of several equally important pods is evicted depends on the order in which the
        scheduler heard of them, and when it starts, that is a matter of chance.
        """
        pod = self._info(recorded.pod)
        nodes = self.simulation.scheduler.cache.update_snapshot()
        if not recorded.victims or pod is None or recorded.nominated_node not in nodes.names:
            return
        node = nodes.take(nodes.rows == self._columns.row_of[recorded.nominated_node])
        for victims_last in (True, False):
            self._rearrange(node, recorded.victims, victims_last=victims_last)
            if sorted(recorded.victims) == sorted(self._victims_on(node, pod)):
                break

    def _rearrange(self, node: Nodes, victims: Sequence[str], *, victims_last: bool) -> None:
        pods = sorted(node.pods(0), key=lambda pod: (pod.key in victims) is victims_last)
        for pod in pods:
            self._columns.remove_pod(pod, node.name(0))
        for pod in pods:
            self._columns.add_pod(pod, node.name(0))

    def _victims_on(self, node: Nodes, pod: PodInfo) -> list[str]:
        state = CycleState()
        self.framework.run_pre_filter(state, pod, self.simulation.scheduler.cache.update_snapshot())
        (tried,) = dry_run(
            pod,
            node,
            lambda view: self.framework.run_filter_with_nominated_pods(state, pod, view),
            Budgets(list(self.simulation.server.all(PodDisruptionBudget))),
            self.simulation.clock.now_ns(),
        )
        return [victim.key for victim in tried.victims]

    def take_away_victims(self) -> None:
        """Let all victims end."""
        self._take_away(list(self._terminating))

    def keep_in_step(self, recorded: RecordedAttempt) -> None:
        """Put the pod where the recording has it, should the attempt have come out otherwise."""
        pod = self.pod(recorded.pod)
        node_name = recorded.node if recorded.result == BOUND else ""
        if pod is None or pod.spec.node_name == node_name:
            return
        server = self.simulation.server
        if pod.spec.node_name:
            placed = replace(pod, spec=replace(pod.spec, node_name=node_name))
            server.delete(pod)
            server.create(placed, self.simulation.clock.now_ns())
        else:
            server.update(bound_to(pod, node_name))


def _without_sampling(configuration: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
    profiles = tuple(
        replace(profile, percentage_of_nodes_to_score=100) for profile in configuration.profiles
    )
    return replace(configuration, profiles=profiles)
