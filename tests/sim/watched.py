"""What holds of a simulated cluster whatever happens in it, for state machines to check."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.events import ClusterEventWithHint
from scheduler_core.framework.interface import PermitOutcome
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.sim.simulation import Timing
from scheduler_core.trace.events import DetailEvent, RunStarted
from scheduler_core.trace.fold import TraceState, apply
from scheduler_core.trace.index import TraceIndex
from scheduler_core.trace.records import Queue
from scheduler_core.trace.tables import TERMINAL_PHASES
from tests.simulated import MILLI_NS, SECOND_NS, START_NS, Cluster

RESOURCES = ("cpu", "memory", "pods")
TIMING = Timing(
    attempt_ns=MILLI_NS,
    pre_bind_ns=300 * MILLI_NS,
    binding_ns=50 * MILLI_NS,
    kubelet_start_ns=SECOND_NS,
)


class Porter:
    """Does to each pod what its labels say: hold it on Permit, keep it in PreBind, fail it."""

    name = "Porter"

    def reserve(self, state: None, pod: PodInfo, node_name: str) -> Status:
        return self._fails(pod, "reserve")

    def unreserve(self, state: None, pod: PodInfo, node_name: str) -> None:
        return None

    def permit(self, state: None, pod: PodInfo, node_name: str) -> PermitOutcome:
        if "hold" in pod.template.labels:
            return PermitOutcome(Status(Code.WAIT), 3 * SECOND_NS)
        return PermitOutcome(self._fails(pod, "permit"))

    def pre_bind_pre_flight(self, state: None, pod: PodInfo, node_name: str) -> Status:
        return SUCCESS if "work" in pod.template.labels else SKIP

    def pre_bind(self, state: None, pod: PodInfo, node_name: str) -> Status:
        return self._fails(pod, "pre_bind", Code.ERROR)

    @staticmethod
    def _fails(pod: PodInfo, point: str, code: Code = Code.UNSCHEDULABLE) -> Status:
        return Status(code, ("as labelled",)) if point in pod.template.labels else SUCCESS

    def events_to_register(self) -> tuple[ClusterEventWithHint, ...]:
        return ()


class Watched(RuleBasedStateMachine):
    """A cluster whose scheduler, cache, queue and trace must agree after every rule.

    The rules all such machines have are the scheduler's attempts and the answers of Permit.
    """

    def watch(self, *objects: KubeObject) -> None:
        """Begin with a cluster of these objects."""
        self.cluster = Cluster(plugins=[Porter()], timing=TIMING)
        self.cluster.create(*objects)
        self.state = TraceState()
        self.index = TraceIndex()
        plugins = tuple(self.cluster.recorder.plugins)
        self.index.take(RunStarted("test", 0, START_NS, plugins, (), ()))
        self.n_folded = 0

    @rule()
    def attempt(self) -> None:
        if self.cluster.simulation.attempt():
            self.cluster.advance_ms(1)

    @rule(choice=st.integers(0, 10), allow=st.booleans())
    def decide_on_permit(self, choice: int, allow: bool) -> None:
        waiting = list(self.cluster.simulation.waiting_pods)
        if waiting:
            pod = waiting[choice % len(waiting)]
            pod.allow("Porter") if allow else pod.reject("Porter", "no")
            self.cluster.simulation.finish_attempt()

    @invariant()
    def columns_equal_a_fresh_rebuild(self) -> None:
        cache = self.cluster.scheduler.cache
        fresh = ClusterColumns()
        for node in self.cluster.server.all(Node):
            fresh.set_node(node)
        placed = [
            pod
            for pod in self.cluster.server.all(Pod)
            if pod.spec.node_name and pod.status.phase not in TERMINAL_PHASES
        ]
        for pod in placed:
            fresh.add_pod(fresh.templates.info(pod), pod.spec.node_name)
        for assumed in cache.assumed_pods():
            fresh.add_pod(fresh.templates.info(assumed.pod), assumed.node_name)
        assert cache.n_pods == len(placed) + len(cache.assumed_pods())
        names = list(cache.update_snapshot().names)
        assert sorted(names) == sorted(node.name for node in self.cluster.server.all(Node))
        kept = Nodes(cache.columns, np.array([cache.columns.row_of[n] for n in names], np.int64))
        built = Nodes(fresh, np.array([fresh.row_of[n] for n in names], np.int64))
        for resource in RESOURCES:
            assert kept.requested(resource).tolist() == built.requested(resource).tolist()
            assert kept.allocatable(resource).tolist() == built.allocatable(resource).tolist()
        assert kept.n_pods.tolist() == built.n_pods.tolist()

    @invariant()
    def every_pending_pod_is_in_exactly_one_place(self) -> None:
        cluster = self.cluster
        for pod in cluster.server.all(Pod):
            waiting = cluster.simulation.waiting_pods.get(pod.uid) is not None
            # One that another scheduler has bound may still wait: nobody tells Permit of it.
            assert cluster.queue.is_in_flight(pod.uid) == waiting
            if pod.spec.node_name or not self.is_ours(pod):
                assert cluster.queue.get(pod.key) is None
                continue
            places = [
                cluster.queue.get(pod.key) is not None,
                cluster.scheduler.cache.is_assumed_pod(pod.uid),
            ]
            assert places.count(True) == 1, pod.key

    def is_ours(self, pod: Pod) -> bool:
        """Return whether the pod, once it wants a node, gets one by this scheduler."""
        profiles = self.cluster.scheduler.profiles
        return pod.spec.scheduler_name in profiles and pod.status.phase not in TERMINAL_PHASES

    @invariant()
    def the_trace_says_the_same(self) -> None:
        for event in self.cluster.trace[self.n_folded :]:
            apply(self.state, event)
            if not isinstance(event, DetailEvent):
                self.index.take(event)
        self.n_folded = len(self.cluster.trace)
        recorder, state = self.cluster.recorder, self.state
        nodes = {number: name for name, number in recorder.nodes.items()}
        recorded = {
            f"{pod.namespace}/{pod.name}": (pod.queue, nodes.get(pod.node, ""))
            for pod in state.pods.values()
        }
        assert recorded == {pod.key: self.actual(pod) for pod in self.cluster.server.all(Pod)}

    def actual(self, pod: Pod) -> tuple[Queue, str]:
        """Return where the pod is, and on which node it counts."""
        cluster = self.cluster
        assumed = cluster.scheduler.cache.get_pod(pod.uid)
        if pod.spec.node_name or not self.is_ours(pod):
            return Queue.NOWHERE, pod.spec.node_name
        if assumed is not None:
            waits = cluster.simulation.waiting_pods.get(pod.uid) is not None
            return (Queue.WAITING_ON_PERMIT if waits else Queue.BINDING), assumed.node_name
        queued = cluster.queue.get(pod.key)
        assert queued is not None
        if queued.gated:
            return Queue.GATED, ""
        if queued in cluster.queue.active_pods():
            return Queue.ACTIVE, ""
        return Queue.BACKOFF if queued in cluster.queue.backoff_pods() else Queue.UNSCHEDULABLE, ""
