import numpy as np
import pytest

from scheduler_core.cluster.nodes import Nodes
from scheduler_core.config.types import DynamicResourcesArgs
from scheduler_core.framework.diagnosis import Diagnosis, Verdicts
from scheduler_core.framework.events import QueueingHint
from scheduler_core.framework.interface import PostFilterOutcome, Prepared
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.plugins.dynamic_resources import DynamicResources
from scheduler_core.plugins.dynamic_resources.state import ClaimsState
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, hint_of, rejected


@pytest.fixture
def world() -> World:
    return World(make_node("n1").obj(), make_node("n2").obj())


def plugin_of(world: World) -> DynamicResources:
    return DynamicResources(DynamicResourcesArgs(), world)


class EveryNodeFits:
    """A refilter that finds every node feasible."""

    is_node_local = True

    def __call__(self, nodes: Nodes) -> Verdicts:
        return Verdicts(np.zeros(nodes.n, np.int64), (SUCCESS,))


def post_filter(world: World, state: ClaimsState | None) -> PostFilterOutcome:
    statuses = Diagnosis(world.all_nodes())
    return plugin_of(world).post_filter(
        state, world.info(make_pod("incoming").obj()), statuses, EveryNodeFits()
    )


def test_pre_filter_skips_and_remembers_that_it_ran(world: World) -> None:
    prepared = plugin_of(world).pre_filter(
        world.info(make_pod("incoming").obj()), world.all_nodes()
    )
    assert isinstance(prepared, Prepared)
    assert prepared.skip
    outcome = post_filter(world, prepared.state)
    assert outcome.status == Status(Code.UNSCHEDULABLE, ("no new claims to deallocate",))
    assert outcome.nominating == ""


def test_post_filter_fails_when_pre_filter_had_not_run(world: World) -> None:
    assert post_filter(world, None).status == Status(Code.ERROR, ("not found",))


def test_nodes_are_all_the_same_to_it(world: World) -> None:
    plugin, nodes, incoming = (
        plugin_of(world),
        world.all_nodes(),
        world.info(make_pod("incoming").obj()),
    )
    prepared = plugin.pre_filter(incoming, nodes)
    assert isinstance(prepared, Prepared)
    state = prepared.state
    assert rejected(plugin.filter(state, incoming, nodes), nodes) == {}
    scores = plugin.score(None, incoming, nodes)
    assert scores.tolist() == [0, 0]
    assert plugin.normalize_score(None, incoming, nodes, scores).tolist() == [0, 0]


def test_nothing_stands_in_the_way_of_binding(world: World) -> None:
    plugin, incoming = plugin_of(world), world.info(make_pod("incoming").obj())
    prepared = plugin.pre_filter(incoming, world.all_nodes())
    assert isinstance(prepared, Prepared)
    state = prepared.state
    assert plugin.pre_enqueue(incoming) == SUCCESS
    assert plugin.reserve(state, incoming, "n1") == SUCCESS
    assert plugin.pre_bind(state, incoming, "n1") == SUCCESS


def test_every_later_point_fails_without_a_state(world: World) -> None:
    plugin, nodes, incoming = (
        plugin_of(world),
        world.all_nodes(),
        world.info(make_pod("incoming").obj()),
    )
    failed = Status(Code.ERROR, ("not found",))
    assert plugin.reserve(None, incoming, "n1") == failed
    assert plugin.pre_bind(None, incoming, "n1") == failed
    assert rejected(plugin.filter(None, incoming, nodes), nodes) == dict.fromkeys(
        ("n1", "n2"), (Code.ERROR, ("not found",))
    )


def test_events(world: World) -> None:
    events = plugin_of(world).events_to_register()
    assert [e.event.resource.value for e in events] == [
        "Node",
        "resource.k8s.io/ResourceClaim",
        "Pod",
        "resource.k8s.io/DeviceClass",
        "resource.k8s.io/ResourceSlice",
    ]
    hint = hint_of(events[2])
    waiting, other = world.info(make_pod("incoming").obj()), world.info(make_pod("other").obj())
    assert hint(waiting, waiting, waiting) is QueueingHint.QUEUE
    assert hint(waiting, other, other) is QueueingHint.SKIP
