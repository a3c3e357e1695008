"""Which events make PodTopologySpread try a pod again."""

import pytest

from scheduler_core.api import (
    Node,
    Pod,
)
from scheduler_core.framework.events import QueueingHint
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, tolerate
from tests.plugins.placement import HOST, ZONE, hard, selector
from tests.plugins.spread_clusters import FOO, IS_FOO, cycle, hosts

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
BAR = {"bar": ""}
FOO_ON_A = make_pod("x").on("node-a").labels(FOO).obj()
BAR_ON_A = make_pod("x").on("node-a").labels(BAR).obj()


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        (None, FOO_ON_A, QUEUE),
        (None, BAR_ON_A, SKIP),
        (None, make_pod("x").on("node-a").labels(FOO).namespace("other").obj(), SKIP),
        (None, make_pod("x").labels(FOO).obj(), SKIP),
        (None, make_pod("x").labels(FOO).nominated("node-a").obj(), QUEUE),
        (FOO_ON_A, None, QUEUE),
        (BAR_ON_A, None, SKIP),
        (FOO_ON_A, BAR_ON_A, QUEUE),
        (BAR_ON_A, make_pod("x").on("node-a").label("baz", "").obj(), SKIP),
        (
            FOO_ON_A,
            make_pod("x").on("node-a").labels(FOO).label("baz", "").obj(),
            SKIP,
        ),
        (make_pod("p").labels(BAR).obj(), make_pod("p").labels(FOO).obj(), QUEUE),
        (
            make_pod("p").labels(FOO).obj(),
            make_pod("p").labels(FOO).tolerations(tolerate("k")).obj(),
            QUEUE,
        ),
    ],
)
def test_pod_hints(old: Pod | None, new: Pod | None, hint: QueueingHint) -> None:
    world = World(*hosts())
    constraint = hard(ZONE, IS_FOO, node_taints_policy="Honor")
    found = cycle(world, constraint)
    events = {each.event.label: each for each in found.plugin.events_to_register()}
    assert list(events) == ["Pod", "Node"]
    before, after = (each and world.info(each) for each in (old, new))
    assert events["Pod"].hint(found.info, before, after) is hint


def test_a_new_toleration_helps_only_where_taints_count() -> None:
    world = World(*hosts())
    found = cycle(world, hard(ZONE, IS_FOO))
    old, new = (
        world.info(make_pod("p").labels(FOO).tolerations(*each).obj())
        for each in ((), (tolerate("k"),))
    )
    assert found.plugin.is_schedulable_after_pod_change(found.info, old, new) is SKIP


IN_Z = make_node("n").zone("z").obj()
HALF_IN_Z = make_node("n").zone("z").without_label(HOST).obj()


@pytest.mark.parametrize(
    ("old", "new", "hint"),
    [
        (None, IN_Z, QUEUE),
        (None, HALF_IN_Z, SKIP),
        (IN_Z, None, QUEUE),
        (HALF_IN_Z, None, SKIP),
        (HALF_IN_Z, IN_Z, QUEUE),
        (IN_Z, HALF_IN_Z, QUEUE),
        (IN_Z, make_node("n").zone("y").obj(), QUEUE),
        (HALF_IN_Z, make_node("n").zone("y").without_label(HOST).obj(), SKIP),
        (IN_Z, make_node("n").zone("z").label("more", "").obj(), SKIP),
        (IN_Z, make_node("n").zone("z").taint("k").obj(), QUEUE),
    ],
)
def test_node_hints(old: Node | None, new: Node | None, hint: QueueingHint) -> None:
    found = cycle(World(*hosts()), hard(ZONE, IS_FOO), hard(HOST, IS_FOO))
    assert found.plugin.is_schedulable_after_node_change(found.info, old, new) is hint


def test_a_malformed_selector_queues_on_anything() -> None:
    found = cycle(World(*hosts()), hard(ZONE, selector(("foo", "Near"))))
    node = make_node("n").without_label(HOST).obj()
    assert found.plugin.is_schedulable_after_node_change(found.info, None, node) is QUEUE
