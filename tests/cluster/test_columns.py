"""Columns kept up to date by small changes are those of a cluster built again."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from scheduler_core.api import Node, Pod, Taint
from scheduler_core.cluster.arrays import ABSENT
from scheduler_core.cluster.columns import MIN_STATES, ClusterColumns
from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from tests.builders import make_node, make_pod
from tests.effort import examples

TAINTS = [(), (Taint(key="a", effect="NoSchedule"),), (Taint(key="b", effect="NoExecute"),)]
IMAGE_BYTES = {"one:v1": 1_000, "two:v1": 2_000, "three:v1": 3_000}
KEYS = ["zone", "disk", "never"]
RESOURCES = ["cpu", "memory", "example.com/gpu", "never"]

NODE_NAMES = st.sampled_from(["n1", "n2", "n3", "n4"])


@st.composite
def nodes(draw: st.DrawFn) -> Node:
    amounts = st.dictionaries(
        st.sampled_from([*RESOURCES[:3], "pods"]), st.sampled_from(["0", "2", "8"])
    )
    images = draw(st.sets(st.sampled_from(sorted(IMAGE_BYTES))))
    return (
        make_node(draw(NODE_NAMES))
        .labels(draw(st.dictionaries(st.sampled_from(KEYS[:2]), st.sampled_from("xyz"))))
        .allocatable(draw(amounts))
        .taints(*draw(st.sampled_from(TAINTS)))
        .images({name: IMAGE_BYTES[name] for name in sorted(images)})
        .features(*draw(st.sampled_from([(), ("A",), ("B", "A")])))
        .cordoned(draw(st.booleans()))
        .obj()
    )


@st.composite
def pods(draw: st.DrawFn) -> Pod:
    requests = st.fixed_dictionaries(
        {}, optional={"cpu": st.sampled_from(["100m", "1"]), "memory": st.just("1Gi")}
    )
    pod = (
        make_pod(f"p{draw(st.integers(0, 30))}")
        .on(draw(NODE_NAMES))
        .requests(draw(requests))
        .labels(draw(st.dictionaries(st.just("app"), st.sampled_from("ab"))))
    )
    return pod.deleted_at_ns(1).obj() if draw(st.booleans()) else pod.obj()


def as_told(view: Nodes) -> dict[str, object]:
    """Return everything a view says, in plain values and free of internal numbers."""
    told: dict[str, object] = {
        "unschedulable": view.unschedulable.tolist(),
        "taints": [view.taints.values[i] for i in view.taints.ids],
        "features": [view.declared_features.values[i] for i in view.declared_features.ids],
        "allowed": view.allowed_pods.tolist(),
        "n_pods": view.n_pods.tolist(),
        "cpu": view.nonzero_cpu_milli.tolist(),
        "memory": view.nonzero_memory_bytes.tolist(),
        "pods": [sorted(p.key for p in view.pods(i)) for i in range(view.n)],
    }
    for resource in RESOURCES:
        told[f"allocatable {resource}"] = view.allocatable(resource).tolist()
        told[f"requested {resource}"] = view.requested(resource).tolist()
    for key in KEYS:
        label = view.label(key)
        told[f"label {key}"] = [None if i == ABSENT else label.values[i] for i in label.ids]
    for name in IMAGE_BYTES:
        image = view.image(name)
        n_nodes = image.n_nodes[image.present].tolist()
        told[f"image {name}"] = (image.present.tolist(), image.size_bytes, n_nodes)
    for terminating in (True, False):
        chosen = np.array([t.labels.get("app") == "a" for t in view.cluster.templates.templates])
        counts = view.count_pods(chosen.astype(np.bool_), terminating=terminating)
        told[f"count {terminating}"] = counts.tolist()
    return told


def parts(values: Iterable[object]) -> list[int]:
    """Return for each value the place where it, or an equal one, was first."""
    first: dict[object, int] = {}
    return [first.setdefault(value, at) for at, value in enumerate(values)]


def resources_told(view: Nodes) -> list[tuple[int, ...]]:
    """Return of each node all that it has of resources and that its pods take of them."""
    columns = [view.allowed_pods, view.n_pods, view.nonzero_cpu_milli, view.nonzero_memory_bytes]
    for resource in RESOURCES:
        columns += [view.allocatable(resource), view.requested(resource)]
    return list(zip(*(column.tolist() for column in columns), strict=True))


class ColumnsMachine(RuleBasedStateMachine):
    """Nodes and pods come, change and go; every so often all is read and compared."""

    def __init__(self) -> None:
        super().__init__()
        self.columns = ClusterColumns()
        self.nodes: dict[str, Node] = {}
        self.pods: dict[str, PodInfo] = {}
        self.generations: dict[str, int] = {}

    @rule(item=nodes())
    def set_node(self, item: Node) -> None:
        row = self.columns.set_node(item)
        assert self.columns.names[row] == item.name
        self.nodes[item.name] = item
        self.has_changed(item.name)

    @precondition(lambda self: self.nodes)
    @rule(data=st.data())
    def remove_node(self, data: st.DataObject) -> None:
        name = data.draw(st.sampled_from(list(self.nodes)))
        self.columns.remove_node(name)
        del self.nodes[name]
        self.has_changed(name)

    @rule(item=pods())
    def add_pod(self, item: Pod) -> None:
        info = self.columns.templates.info(item)
        if info.uid not in self.pods:
            self.columns.add_pod(info, info.node_name)
            self.pods[info.uid] = info
            self.has_changed(info.node_name)

    @precondition(lambda self: self.pods)
    @rule(data=st.data())
    def remove_pod(self, data: st.DataObject) -> None:
        uid = data.draw(st.sampled_from(list(self.pods)))
        info = self.pods.pop(uid)
        self.columns.remove_pod(info, info.node_name)
        self.has_changed(info.node_name)

    def has_changed(self, name: str) -> None:
        """Only the changed row may have a new generation."""
        columns = self.columns
        now = {name: int(columns.generation[row]) for name, row in columns.row_of.items()}
        assert now[name] > max(self.generations.values(), default=0)
        assert {n: g for n, g in now.items() if n != name} == {
            n: g for n, g in self.generations.items() if n != name
        }
        self.generations = now

    @rule()
    def read_all(self) -> None:
        """Read early, so that columns made on first use are kept up to date afterwards."""
        self.agrees_with_a_fresh_one()

    @invariant()
    def nodes_share_a_state_as_they_share_resources(self) -> None:
        view = self.view_of(self.columns)
        assert parts(view.resource_states.tolist()) == parts(resources_told(view))

    @invariant()
    def rows_never_move(self) -> None:
        assert [self.columns.row_of[name] for name in self.columns.names] == list(
            range(self.columns.n_rows)
        )

    def teardown(self) -> None:
        self.agrees_with_a_fresh_one()

    def agrees_with_a_fresh_one(self) -> None:
        fresh = ClusterColumns()
        for item in self.nodes.values():
            fresh.set_node(item)
        for info in self.pods.values():
            fresh.add_pod(fresh.templates.info(info.pod), info.node_name)
        assert as_told(self.view_of(self.columns)) == as_told(self.view_of(fresh))

    def view_of(self, columns: ClusterColumns) -> Nodes:
        return Nodes(columns, np.array([columns.row_of[name] for name in self.nodes], np.int64))


TestColumns = ColumnsMachine.TestCase
TestColumns.settings = examples(60, stateful_step_count=30)


# ---------------------------------------------------------------- single points


def test_requests_beyond_64_bits_go_round_and_come_back() -> None:
    columns = ClusterColumns()
    huge = [
        columns.templates.info(make_pod(name).memory("9223372036854775807").on("n1").obj())
        for name in "ab"
    ]
    for info in huge:
        columns.add_pod(info, "n1")
    assert columns.requested_of("memory")[0] == -2
    columns.remove_pod(huge[0], "n1")
    assert columns.requested_of("memory")[0] == columns.nonzero_memory_bytes[0] == 2**63 - 1


def test_resource_states_that_nobody_is_in_are_forgotten() -> None:
    columns = ClusterColumns()
    for name in ("n1", "n2"):
        columns.set_node(make_node(name).cpu("9").obj())
    columns.add_pod(columns.templates.info(make_pod("stays").cpu("1").on("n1").obj()), "n1")
    view = Nodes(columns, np.arange(2))
    before = [columns.resource_states[i] for i in view.resource_states]
    first = columns.resource_states
    for i in range(MIN_STATES):
        passing = columns.templates.info(make_pod(f"p{i}").cpu(f"{i + 1}m").on("n2").obj())
        columns.add_pod(passing, "n2")
        columns.remove_pod(passing, "n2")
    assert columns.resource_states is not first
    assert len(columns.resource_states) < MIN_STATES
    assert [
        columns.resource_states[i] for i in Nodes(columns, np.arange(2)).resource_states
    ] == before


def test_more_nodes_than_there_was_room_for() -> None:
    columns = ClusterColumns()
    columns.label("zone")
    columns.image("one:v1")
    images = {"one:v1": 7}
    for i in range(100):
        columns.set_node(make_node(f"n{i}").label("zone", str(i % 3)).cpu("1").images(images).obj())
        columns.add_pod(
            columns.templates.info(make_pod(f"p{i}").cpu("1m").on(f"n{i}").obj()), f"n{i}"
        )
    view = Nodes(columns, np.arange(100))
    assert view.allocatable("cpu").sum() == 100_000
    assert view.requested("cpu").tolist() == [1] * 100
    assert view.label("zone").ids.tolist() == [i % 3 for i in range(100)]
    assert set(view.image("one:v1").n_nodes.tolist()) == {100}


def test_an_image_keeps_the_size_first_reported_until_no_node_has_it() -> None:
    columns = ClusterColumns()
    small, large = {"one:v1": 10}, {"one:v1": 20}
    columns.set_node(make_node("n1").images(small).obj())
    columns.set_node(make_node("n2").images(large).obj())
    assert columns.image("one:v1")[1] == 10
    columns.set_node(make_node("n1").obj())
    assert columns.image("one:v1")[1] == 10
    columns.remove_node("n2")
    assert columns.image("one:v1")[1] == 0
    columns.set_node(make_node("n1").images(large).obj())
    assert columns.image("one:v1")[1] == 20


def test_an_update_of_the_only_node_with_an_image_reports_its_size_again() -> None:
    columns = ClusterColumns()
    columns.set_node(make_node("n1").images({"one:v1": 10}).obj())
    columns.set_node(make_node("n2").images({"one:v1": 20}).obj())
    columns.remove_node("n1")
    assert columns.image("one:v1")[1] == 10
    columns.set_node(make_node("n2").images({"one:v1": 20}).label("new", "1").obj())
    assert columns.image("one:v1")[1] == 20


def test_a_node_says_of_an_image_on_how_many_nodes_it_was_when_the_node_last_changed() -> None:
    columns = ClusterColumns()
    image = {"one:v1": 10}
    columns.set_node(make_node("n1").images(image).obj())
    columns.set_node(make_node("n2").images(image).obj())
    columns.take_snapshot()
    columns.set_node(make_node("n3").images(image).obj())
    columns.take_snapshot()
    view = Nodes(columns, np.arange(3))
    assert view.image("one:v1").n_nodes.tolist() == [2, 2, 3]
    columns.add_pod(columns.templates.info(make_pod("p").on("n2").obj()), "n2")
    columns.take_snapshot()
    assert view.image("one:v1").n_nodes.tolist() == [2, 3, 3]
    columns.remove_node("n3")
    columns.take_snapshot()
    assert view.image("one:v1").n_nodes.tolist()[:2] == [2, 3]


def test_a_hypothetical_world_changes_one_node() -> None:
    columns = ClusterColumns()
    for name in ("n1", "n2"):
        columns.set_node(make_node(name).obj())
    there = columns.templates.info(make_pod("there").cpu("1").on("n1").label("app", "a").obj())
    columns.add_pod(there, "n1")
    coming = columns.templates.info(make_pod("coming").cpu("2").memory("1Gi").obj())
    view = Nodes(columns, np.array([0, 1]))
    what_if = view.what_if({0: Change(removed=(there,)), 1: Change(added=(coming,))})
    assert what_if.requested("cpu").tolist() == [0, 2000]
    assert what_if.nonzero_memory_bytes.tolist() == [0, 2**30]
    assert what_if.n_pods.tolist() == [0, 1]
    assert what_if.pods(0) == []
    assert what_if.pods(1) == [coming]
    chosen = columns.templates.matching("app=a", lambda t: t.labels.get("app") == "a")
    assert what_if.count_pods(chosen).tolist() == [0, 0]
    assert view.count_pods(chosen).tolist() == [1, 0]
    assert view.requested("cpu").tolist() == [1000, 0]
    turned = what_if.take(np.array([1, 0]))
    assert turned.requested("cpu").tolist() == [2000, 0]
    assert turned.names == ["n2", "n1"]
