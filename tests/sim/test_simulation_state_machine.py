"""A whole cluster under random events: the scheduler's picture of it never goes wrong."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from msgspec.structs import replace

from scheduler_core.api import Node, Pod, Taint
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
from tests.builders import make_node, make_pod
from tests.effort import examples
from tests.simulated import MILLI_NS, SECOND_NS, START_NS, Cluster

NODES = ("n0", "n1", "n2")
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


LABELS = st.sampled_from(
    ("", "", "", "hold", "work", "reserve", "permit", "pre_bind", "spread", "apart")
)


class Machine(RuleBasedStateMachine):
    """Random creates, deletes and updates, attempts and time."""

    @initialize(n_nodes=st.integers(1, 3))
    def start(self, n_nodes: int) -> None:
        self.cluster = Cluster(
            *(make_node(name).zone(name).obj() for name in NODES[:n_nodes]),
            plugins=[Porter()],
            timing=TIMING,
        )
        self.n_pods = 0
        self.state = TraceState()
        self.index = TraceIndex()
        plugins = tuple(self.cluster.recorder.plugins)
        self.index.take(RunStarted("test", 0, START_NS, plugins, (), ()))
        self.n_folded = 0

    # ------------------------------------------------------------ what happens

    @rule(
        cpu=st.integers(1, 4),
        priority=st.integers(0, 2),
        label=LABELS,
        gated=st.booleans(),
        grace_s=st.integers(0, 3),
        tolerant=st.booleans(),
    )
    def create_pod(
        self, cpu: int, priority: int, label: str, gated: bool, grace_s: int, tolerant: bool
    ) -> None:
        self.n_pods += 1
        pod = make_pod(f"p{self.n_pods}").cpu(cpu).priority(priority).grace_seconds(grace_s)
        pod.label("app", "web")
        if label:
            pod.label(label, "yes")
        if label == "spread":
            pod.spread("kubernetes.io/hostname", 1, app="web")
        if label == "apart":
            pod.apart_from("web")
        if gated:
            pod.gate("later")
        if tolerant:
            pod.toleration("trouble", seconds=2)
        self.cluster.create(pod.obj())

    def some_pod(self, choice: int) -> Pod | None:
        pods = list(self.cluster.server.all(Pod))
        return pods[choice % len(pods)] if pods else None

    @rule(choice=st.integers(0, 50))
    def delete_pod(self, choice: int) -> None:
        if (pod := self.some_pod(choice)) is not None:
            self.cluster.simulation.delete_pod(pod)

    @rule(choice=st.integers(0, 50), what=st.sampled_from(("gates", "label", "finish", "shrink")))
    def update_pod(self, choice: int, what: str) -> None:
        pod = self.some_pod(choice)
        if pod is None:
            return
        if what == "gates":
            pod = replace(pod, spec=replace(pod.spec, scheduling_gates=()))
        elif what == "label":
            labels = {**pod.metadata.labels, "app": "other"}
            pod = replace(pod, metadata=replace(pod.metadata, labels=labels))
        elif what == "finish" and pod.spec.node_name:
            pod = replace(pod, status=replace(pod.status, phase="Succeeded"))
        elif what == "shrink":
            smaller = make_pod("x").cpu("500m").obj().spec.containers
            pod = replace(pod, spec=replace(pod.spec, containers=smaller))
        self.cluster.server.update(pod)

    @rule(choice=st.integers(0, 50), name=st.sampled_from(NODES))
    def bind_by_another_scheduler(self, choice: int, name: str) -> None:
        """Bind a pod wherever it stands, in the queue, waiting on Permit or being bound."""
        pod, nodes = self.some_pod(choice), self.cluster.scheduler.cache.update_snapshot()
        if pod is None or pod.spec.node_name or name not in nodes.names:
            return
        at = nodes.names.index(name)
        free = nodes.allocatable("cpu")[at] - nodes.requested("cpu")[at]
        if self.cluster.info(pod.name).template.requests.placed["cpu"] <= free:
            self.cluster.server.update(replace(pod, spec=replace(pod.spec, node_name=name)))

    @rule(name=st.sampled_from(NODES))
    def come_or_go(self, name: str) -> None:
        node = self.cluster.server.get(Node, name)
        if node is None:
            self.cluster.create(make_node(name).zone(name).obj())
        else:
            self.cluster.server.delete(node)

    @rule(name=st.sampled_from(NODES), what=st.sampled_from(("cordon", "taint", "clear", "grow")))
    def update_node(self, name: str, what: str) -> None:
        node = self.cluster.server.get(Node, name)
        if node is None:
            return
        if what == "grow":
            allocatable = {**node.status.allocatable, "cpu": "6"}
            node = replace(node, status=replace(node.status, allocatable=allocatable))
        else:
            taints = (Taint(key="trouble", effect="NoExecute"),) if what == "taint" else ()
            spec = replace(node.spec, unschedulable=what == "cordon", taints=taints)
            node = replace(node, spec=spec)
        self.cluster.server.update(node)

    @rule(choice=st.integers(0, 10), allow=st.booleans())
    def decide_on_permit(self, choice: int, allow: bool) -> None:
        waiting = list(self.cluster.simulation.waiting_pods)
        if waiting:
            pod = waiting[choice % len(waiting)]
            pod.allow("Porter") if allow else pod.reject("Porter", "no")
            self.cluster.simulation.finish_attempt()

    @rule()
    def attempt(self) -> None:
        if self.cluster.simulation.attempt():
            self.cluster.advance_ms(1)

    @rule(milliseconds=st.sampled_from((1, 60, 400, 2000, 31_000, 310_000)))
    def let_time_pass(self, milliseconds: int) -> None:
        self.cluster.advance_ms(milliseconds)

    @precondition(lambda self: self.n_pods > 2)
    @rule()
    def settle(self) -> None:
        for _ in range(30):
            if not self.cluster.simulation.attempt():
                return
            self.cluster.advance_ms(400)

    # ------------------------------------------------------------ what always holds

    @invariant()
    def columns_equal_a_fresh_rebuild(self) -> None:
        cache = self.cluster.scheduler.cache
        fresh = ClusterColumns()
        for node in self.cluster.server.all(Node):
            fresh.set_node(node)
        placed = [
            pod
            for pod in self.cluster.server.all(Pod)
            if pod.spec.node_name and pod.status.phase != "Succeeded"
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
    def no_node_is_over_committed(self) -> None:
        nodes = self.cluster.scheduler.cache.update_snapshot()
        over = nodes.requested("cpu") > nodes.allocatable("cpu")
        assert [name for name, too_much in zip(nodes.names, over, strict=True) if too_much] == []

    @invariant()
    def every_pending_pod_is_in_exactly_one_place(self) -> None:
        cluster = self.cluster
        for pod in cluster.server.all(Pod):
            waiting = cluster.simulation.waiting_pods.get(pod.uid) is not None
            # One that another scheduler has bound may still wait: nobody tells Permit of it.
            assert cluster.queue.is_in_flight(pod.uid) == waiting
            if pod.spec.node_name:
                assert cluster.queue.get(pod.key) is None
                continue
            places = [
                cluster.queue.get(pod.key) is not None,
                cluster.scheduler.cache.is_assumed_pod(pod.uid),
            ]
            assert places.count(True) == 1, pod.key

    @invariant()
    def bound_pods_are_on_nodes_there_are_or_were(self) -> None:
        bound = {pod.spec.node_name for pod in self.cluster.server.all(Pod)} - {""}
        assert bound <= set(NODES)

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
        if pod.spec.node_name:
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


TestSimulation = Machine.TestCase
TestSimulation.settings = examples(60, stateful_step_count=40)
