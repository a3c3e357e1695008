from collections.abc import Mapping
from typing import Any

import pytest

from scheduler_core.api import Node, Pod
from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.config.types import NodeResourcesFitArgs
from scheduler_core.framework.events import ActionType, EventResource, QueueingHint
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.status import MAX_REASONS, Code
from scheduler_core.plugins.node_resources import Fit
from tests.builders import PodBuilder, make_node, make_pod
from tests.plugins.harness import World, hint_of, rejected

GPU, FPGA = "example.com/gpu", "other.org/fpga"
SOON, NEVER = Code.UNSCHEDULABLE, Code.UNSCHEDULABLE_AND_UNRESOLVABLE
DEFAULTS = NodeResourcesFitArgs()


def filtered(
    world: World, incoming: Pod, args: NodeResourcesFitArgs = DEFAULTS, nodes: Nodes | None = None
) -> dict[str, tuple[Code, tuple[str, ...]]]:
    """Return why the nodes are turned down."""
    plugin, nodes = Fit(args, world), nodes or world.all_nodes()
    info = world.info(incoming)
    prepared = plugin.pre_filter(info, nodes)
    assert isinstance(prepared, Prepared)
    return rejected(plugin.filter(prepared.state, info, nodes), nodes)


def one_node(*pods: Pod, **allocatable: str) -> World:
    amounts = {"cpu": "10", "memory": "20", "ephemeral-storage": "20", GPU: "5"} | allocatable
    return World(make_node("n").resources(amounts).obj(), *pods)


def on_n(*requests: Mapping[str, str]) -> list[Pod]:
    """Return pods on the node, one for each list of requests."""
    return [make_pod(f"p{i}").on("n").requests(amounts).obj() for i, amounts in enumerate(requests)]


CPU, MEMORY = "Insufficient cpu", "Insufficient memory"


@pytest.mark.parametrize(
    ("used", "wanted", "expected"),
    [
        ({"cpu": "10", "memory": "20"}, {}, None),
        ({"cpu": "10", "memory": "20"}, {"cpu": "1", "memory": "1"}, (SOON, CPU, MEMORY)),
        ({"cpu": "5", "memory": "5"}, {"cpu": "5", "memory": "15"}, None),
        ({"cpu": "5", "memory": "19"}, {"cpu": "1", "memory": "2"}, (SOON, MEMORY)),
        ({"cpu": "9500m"}, {"cpu": "501m"}, (SOON, CPU)),
        ({"cpu": "1m"}, {"cpu": "10"}, (SOON, CPU)),
        ({}, {"cpu": "10001m"}, (NEVER, CPU)),
        ({"memory": "20"}, {"cpu": "11", "memory": "1"}, (NEVER, CPU, MEMORY)),
        ({}, {"cpu": "0", "memory": "0"}, None),
        ({"cpu": "11"}, {"cpu": "0"}, None),
        ({"ephemeral-storage": "15"}, {"ephemeral-storage": "5"}, None),
        (
            {"ephemeral-storage": "15"},
            {"ephemeral-storage": "6"},
            (SOON, "Insufficient ephemeral-storage"),
        ),
        ({GPU: "3"}, {GPU: "2"}, None),
        ({GPU: "3"}, {GPU: "3"}, (SOON, f"Insufficient {GPU}")),
        ({}, {GPU: "6"}, (NEVER, f"Insufficient {GPU}")),
        ({}, {FPGA: "1"}, (NEVER, f"Insufficient {FPGA}")),
        ({}, {FPGA: "0"}, None),
        ({}, {"kubernetes.io/thing": "1"}, (NEVER, "Insufficient kubernetes.io/thing")),
        ({}, {"hugepages-2Mi": "1Mi"}, (NEVER, "Insufficient hugepages-2Mi")),
        ({}, {"storage": "1", "pods": "1000"}, None),
        (
            {"memory": "20"},
            {FPGA: "1", "memory": "1", "cpu": "1"},
            (NEVER, MEMORY, f"Insufficient {FPGA}"),
        ),
    ],
)
def test_one_node(
    used: Mapping[str, str], wanted: Mapping[str, str], expected: tuple[Any, ...] | None
) -> None:
    found = filtered(one_node(*on_n(used)), make_pod("incoming").requests(wanted).obj())
    assert found == ({} if expected is None else {"n": (expected[0], expected[1:])})


# ---------------------------------------------------------------- what a pod asks for


def test_what_if_views_count_added_and_removed_pods() -> None:
    world = one_node(*on_n({"cpu": "6"}, {"cpu": "3"}), pods="3")
    nodes = world.all_nodes()
    big, small = nodes.pods(0)
    incoming = make_pod("incoming").cpu("4").obj()
    rival = world.info(make_pod("rival").cpu("1").obj())
    assert filtered(world, incoming) == {"n": (SOON, ("Insufficient cpu",))}
    without_small = nodes.what_if({0: Change(removed=(small,))})
    assert filtered(world, incoming, nodes=without_small) == {}
    crowded = nodes.what_if({0: Change(added=(rival,), removed=(small,))})
    assert filtered(world, incoming, nodes=crowded) == {"n": (SOON, ("Insufficient cpu",))}
    too_many = nodes.what_if({0: Change(added=(rival,))})
    assert filtered(world, make_pod("incoming").obj(), nodes=too_many) == {
        "n": (SOON, ("Too many pods",))
    }
    assert filtered(world, incoming, nodes=nodes.what_if({0: Change(removed=(big,))})) == {}


def test_more_shortages_than_a_verdict_has_room_for() -> None:
    world = World(make_node("n").pods("0").obj(), make_node("m").obj())
    wanted = {f"example.com/r{i}": "1" for i in range(80)}
    code, reasons = filtered(world, make_pod("incoming").requests(wanted).obj())["n"]
    assert code is NEVER
    assert len(reasons) == MAX_REASONS
    assert reasons[0] == "Too many pods"
    assert reasons[1] == "Insufficient example.com/r0"
    assert reasons[-1] == "Insufficient further resources"


def test_without_pre_filter_there_is_an_error() -> None:
    world = World(make_node("n").obj())
    nodes = world.all_nodes()
    verdict = Fit(DEFAULTS, world).filter(None, world.info(make_pod("incoming").obj()), nodes)
    text = 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'
    assert rejected(verdict, nodes) == {"n": (Code.ERROR, (text,))}


# ---------------------------------------------------------------- queueing


def test_events() -> None:
    pods, nodes, classes = (e.event for e in Fit(DEFAULTS, World()).events_to_register())
    assert pods.resource is EventResource.POD
    assert pods.action == ActionType.DELETE | ActionType.UPDATE_POD_SCALE_DOWN
    assert nodes.resource is EventResource.NODE
    assert nodes.action == ActionType.ADD | ActionType.UPDATE_NODE_ALLOCATABLE
    assert classes.resource is EventResource.DEVICE_CLASS


def pod_hint(waiting: Pod, before: Pod, after: Pod | None) -> QueueingHint:
    world = World()
    registered, *_ = Fit(DEFAULTS, world).events_to_register()
    old, new = (item and world.info(item) for item in (before, after))
    return hint_of(registered)(world.info(waiting), old, new)


def other() -> PodBuilder:
    return make_pod("other").on("n")


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        (other(), None, QueueingHint.QUEUE),
        (make_pod("other").nominated("n"), None, QueueingHint.QUEUE),
        (make_pod("other"), None, QueueingHint.SKIP),
        (other().cpu("2"), other().cpu("1"), QueueingHint.QUEUE),
        (other().cpu("2"), other(), QueueingHint.QUEUE),
        (other().cpu("1"), other().cpu("1"), QueueingHint.SKIP),
        (other().memory("2"), other().memory("1"), QueueingHint.SKIP),
        (make_pod("other").cpu("2"), make_pod("other").cpu("1"), QueueingHint.SKIP),
        (make_pod("incoming").cpu("2"), make_pod("incoming").cpu("1"), QueueingHint.QUEUE),
    ],
)
def test_pods_that_leave_or_shrink(
    before: PodBuilder, after: PodBuilder | None, hint: QueueingHint
) -> None:
    waiting = make_pod("incoming").cpu("1").obj()
    assert pod_hint(waiting, before.obj(), after.obj() if after else None) is hint


def test_what_the_pod_asks_none_of_does_not_matter() -> None:
    waiting = make_pod("incoming").cpu("0").request("storage", "1").obj()
    before = make_pod("other").on("n").cpu("2").request("storage", "2").obj()
    assert pod_hint(waiting, before, make_pod("other").on("n").obj()) is QueueingHint.SKIP


def node_hint(before: Node | None, after: Node, **requests: str) -> QueueingHint:
    world = World()
    _, registered, _ = Fit(
        NodeResourcesFitArgs(ignored_resources=(FPGA,)), world
    ).events_to_register()
    return hint_of(registered)(
        world.info(make_pod("incoming").requests(requests).obj()), before, after
    )


def sized(cpu: str = "4", memory: str = "4", pods: str = "10", **more: str) -> Node:
    return make_node("n").cpu(cpu).memory(memory).pods(pods).resources(more).obj()


@pytest.mark.parametrize(
    ("before", "after", "requests", "hint"),
    [
        (None, sized(), {"cpu": "4"}, QueueingHint.QUEUE),
        (None, sized(), {"cpu": "5"}, QueueingHint.SKIP),
        (None, sized(pods="0"), {}, QueueingHint.SKIP),
        (None, sized(), {}, QueueingHint.QUEUE),
        (sized(), sized(cpu="5"), {"cpu": "4"}, QueueingHint.QUEUE),
        (sized(), sized(cpu="5"), {"memory": "4"}, QueueingHint.SKIP),
        (sized(), sized(cpu="5"), {}, QueueingHint.SKIP),
        (sized(), sized(pods="11"), {}, QueueingHint.QUEUE),
        (sized(), sized(pods="11"), {"cpu": "5"}, QueueingHint.SKIP),
        (sized(cpu="6"), sized(cpu="5"), {"cpu": "5"}, QueueingHint.SKIP),
        (sized(), sized(**{GPU: "1"}), {GPU: "1"}, QueueingHint.QUEUE),
        (sized(), sized(), {GPU: "0"}, QueueingHint.SKIP),
        # Ignored resources are ignored by Filter only.
        (None, sized(), {FPGA: "1"}, QueueingHint.SKIP),
    ],
)
def test_nodes_that_come_or_grow(
    before: Node | None, after: Node, requests: Mapping[str, str], hint: QueueingHint
) -> None:
    assert node_hint(before, after, **requests) is hint
