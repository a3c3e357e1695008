import pytest

from scheduler_core.api import Container, ContainerRestartRule
from scheduler_core.config.features import feature_gates
from scheduler_core.framework.events import ActionType, EventResource, QueueingHint
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.status import SKIP, Code
from scheduler_core.plugins.node_declared_features import NodeDeclaredFeatures
from tests.plugins.harness import World, node, pod, rejected

RESTART, USER_NS = "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"
NO = (
    Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
    ("node(s) didn't match Pod's required features",),
)
RESTARTING = (
    Container(restart_policy_rules=(ContainerRestartRule(action="RestartAllContainers"),)),
)
JUST_RESTARTING = (Container(restart_policy_rules=(ContainerRestartRule(action="Restart"),)),)


def cluster(**world):
    return World(
        node("both", features=[RESTART, USER_NS, "Something"]),
        node("restart", features=[RESTART]),
        node("none"),
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
def test_nodes_must_declare_every_feature(spec, unfit):
    world = cluster()
    plugin, nodes, incoming = (
        NodeDeclaredFeatures(world),
        world.all_nodes(),
        world.info(pod(**spec)),
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
def test_pods_that_need_nothing_are_skipped(spec):
    world = cluster()
    outcome = NodeDeclaredFeatures(world).pre_filter(world.info(pod(**spec)), world.all_nodes())
    assert outcome is SKIP


def test_switched_off_it_does_nothing():
    world = cluster(
        features=feature_gates(
            {"NodeDeclaredFeatures": False, "InPlacePodLevelResourcesVerticalScaling": False}
        )
    )
    plugin, nodes = NodeDeclaredFeatures(world), world.all_nodes()
    incoming = world.info(pod(containers=RESTARTING))
    assert plugin.pre_filter(incoming, nodes) is SKIP
    assert rejected(plugin.filter(None, incoming, nodes), nodes) == {}
    assert plugin.events_to_register() == ()


def test_without_pre_filter_there_is_an_error():
    world = World(node("n"))
    nodes = world.all_nodes()
    verdict = NodeDeclaredFeatures(world).filter(None, world.info(pod()), nodes)
    text = 'error reading "PreFilterNodeDeclaredFeatures" from cycle-state: not found'
    assert rejected(verdict, nodes) == {"n": (Code.ERROR, (text,))}


def test_events():
    nodes, pods = (e.event for e in NodeDeclaredFeatures(World()).events_to_register())
    assert (nodes.resource, nodes.action) == (
        EventResource.NODE,
        ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE,
    )
    assert (pods.resource, pods.action) == (EventResource.POD, ActionType.UPDATE)


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        (None, node("n"), QueueingHint.QUEUE),
        (node("n"), node("n", features=[RESTART]), QueueingHint.QUEUE),
        (node("n", features=[RESTART]), node("n"), QueueingHint.QUEUE),
        (node("n", features=[RESTART]), node("n", features=[RESTART]), QueueingHint.SKIP),
    ],
)
def test_nodes_that_declare_something_else_queue(before, after, hint):
    world = World()
    node_event, _ = NodeDeclaredFeatures(world).events_to_register()
    assert node_event.hint(world.info(pod()), before, after) is hint


@pytest.mark.parametrize(
    ("name", "before", "after", "hint"),
    [
        ("incoming", {"containers": RESTARTING}, {}, QueueingHint.QUEUE),
        ("incoming", {}, {}, QueueingHint.SKIP),
        ("other", {"containers": RESTARTING}, {}, QueueingHint.SKIP),
    ],
)
def test_the_pod_queues_when_its_needs_change(name, before, after, hint):
    world = World()
    _, pod_event = NodeDeclaredFeatures(world).events_to_register()
    old, new = world.info(pod(name, **before)), world.info(pod(name, **after))
    assert pod_event.hint(world.info(pod()), old, new) is hint
