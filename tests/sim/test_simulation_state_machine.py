"""A whole cluster under random events: the scheduler's picture of it never goes wrong."""

from __future__ import annotations

from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, precondition, rule
from msgspec.structs import replace

from scheduler_core.api import Node, Pod, Taint
from tests.builders import make_node, make_pod
from tests.effort import examples
from tests.sim.watched import Watched

NODES = ("n0", "n1", "n2")
LABELS = st.sampled_from(
    ("", "", "", "hold", "work", "reserve", "permit", "pre_bind", "spread", "apart")
)


class Machine(Watched):
    """Random creates, deletes and updates, attempts and time."""

    @initialize(n_nodes=st.integers(1, 3))
    def start(self, n_nodes: int) -> None:
        self.watch(*(make_node(name).zone(name).obj() for name in NODES[:n_nodes]))
        self.n_pods = 0

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
    def no_node_is_over_committed(self) -> None:
        nodes = self.cluster.scheduler.cache.update_snapshot()
        over = nodes.requested("cpu") > nodes.allocatable("cpu")
        assert [name for name, too_much in zip(nodes.names, over, strict=True) if too_much] == []

    @invariant()
    def bound_pods_are_on_nodes_there_are_or_were(self) -> None:
        bound = {pod.spec.node_name for pod in self.cluster.server.all(Pod)} - {""}
        assert bound <= set(NODES)


TestSimulation = Machine.TestCase
TestSimulation.settings = examples(30, stateful_step_count=40)
