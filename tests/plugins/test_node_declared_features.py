from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from scheduler_core.api import Container, ContainerRestartRule, Node
from scheduler_core.config.features import FeatureGates
from scheduler_core.framework.events import ActionType, EventResource, QueueingHint
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.status import SKIP, Code
from scheduler_core.plugins.node_declared_features import NodeDeclaredFeatures
from tests.builders import gates_off, make_node, make_pod
from tests.plugins.harness import World, hint_of, rejected

RESTART, USER_NS = "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"
NO = (
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ("node(s) didn't match Pod's required features",),
)
RESTARTING = (
    Container(restart_policy_rules=(ContainerRestartRule(action="RestartAllContainers"),)),
)
JUST_RESTARTING = (Container(restart_policy_rules=(ContainerRestartRule(action="Restart"),)),)


def cluster(**world: FeatureGates) -> World:
    return World(
        make_node("both").features(RESTART, USER_NS, "Something").obj(),
        make_node("restart").features(RESTART).obj(),
        make_node("none").obj(),
        **world,
    )


@pytest.mark.parametrize(
    ("spec", "unfit"),
    [
        ({"containers": RESTARTING}, ["none"]),
        ({"init_containers": RESTARTING}, ["none"]),
        ({"host_network": True, "host_users": False}, ["restart", "none"]),
        (
            {"containers": RESTARTING, "host_network": True, "host_users": False},
            ["restart", "none"],
        ),
    ],
)
def test_nodes_must_declare_every_feature(
    spec: Mapping[str, Sequence[Container] | bool], unfit: Sequence[str]
) -> None:
    world = cluster()
    plugin, nodes, incoming = (
        NodeDeclaredFeatures(world),
        world.all_nodes(),
        world.info(make_pod("incoming").spec(**spec).obj()),
    )
    prepared = plugin.pre_filter(incoming, nodes)
    assert isinstance(prepared, Prepared)
    assert rejected(plugin.filter(prepared.state, incoming, nodes), nodes) == dict.fromkeys(
        unfit, NO
    )


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"containers": JUST_RESTARTING},
        {"host_network": True},
        {"host_network": True, "host_users": True},
        {"host_users": False},
    ],
)
def test_pods_that_need_nothing_are_skipped(spec: Mapping[str, Sequence[Container] | bool]) -> None:
    world = cluster()
    outcome = NodeDeclaredFeatures(world).pre_filter(
        world.info(make_pod("incoming").spec(**spec).obj()), world.all_nodes()
    )
    assert outcome is SKIP


def test_switched_off_it_does_nothing() -> None:
    world = cluster(features=gates_off("NodeDeclaredFeatures"))
    plugin, nodes = NodeDeclaredFeatures(world), world.all_nodes()
    incoming = world.info(make_pod("incoming").containers(*RESTARTING).obj())
    assert plugin.pre_filter(incoming, nodes) is SKIP
    assert rejected(plugin.filter(None, incoming, nodes), nodes) == {}
    assert plugin.events_to_register() == ()


def test_without_pre_filter_there_is_an_error() -> None:
    world = World(make_node("n").obj())
    nodes = world.all_nodes()
    verdict = NodeDeclaredFeatures(world).filter(
        None, world.info(make_pod("incoming").obj()), nodes
    )
    text = 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'
    assert rejected(verdict, nodes) == {"n": (Code.ERROR, (text,))}


def test_events() -> None:
    nodes, pods = (e.event for e in NodeDeclaredFeatures(World()).events_to_register())
    assert (nodes.resource, nodes.action) == (
        EventResource.NODE,
        ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE,
    )
    assert (pods.resource, pods.action) == (EventResource.POD, ActionType.UPDATE)


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        (None, make_node("n").obj(), QueueingHint.QUEUE),
        (make_node("n").obj(), make_node("n").features(RESTART).obj(), QueueingHint.QUEUE),
        (make_node("n").features(RESTART).obj(), make_node("n").obj(), QueueingHint.QUEUE),
        (
            make_node("n").features(RESTART).obj(),
            make_node("n").features(RESTART).obj(),
            QueueingHint.SKIP,
        ),
    ],
)
def test_nodes_that_declare_something_else_queue(
    before: Node | None, after: Node, hint: QueueingHint
) -> None:
    world = World()
    node_event, _ = NodeDeclaredFeatures(world).events_to_register()
    assert hint_of(node_event)(world.info(make_pod("incoming").obj()), before, after) is hint


@pytest.mark.parametrize(
    ("name", "before", "after", "hint"),
    [
        ("incoming", {"containers": RESTARTING}, {}, QueueingHint.QUEUE),
        ("incoming", {}, {}, QueueingHint.SKIP),
        ("other", {"containers": RESTARTING}, {}, QueueingHint.SKIP),
    ],
)
def test_the_pod_queues_when_its_needs_change(
    name: str,
    before: Mapping[str, Sequence[Container]],
    after: Mapping[Any, Any],
    hint: QueueingHint,
) -> None:
    world = World()
    _, pod_event = NodeDeclaredFeatures(world).events_to_register()
    old, new = (
        world.info(make_pod(name).spec(**before).obj()),
        world.info(make_pod(name).spec(**after).obj()),
    )
    assert hint_of(pod_event)(world.info(make_pod("incoming").obj()), old, new) is hint
