from collections.abc import Mapping, Sequence

import pytest

from scheduler_core.api import Node, Toleration
from scheduler_core.framework.events import QueueingHint
from scheduler_core.framework.status import Code
from scheduler_core.plugins.node_unschedulable import NodeUnschedulable
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, hint_of, rejected, tolerate

KEY = "node.kubernetes.io/unschedulable"
CORDONED = {"cordoned": (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) were unschedulable",))}


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ([], CORDONED),
        ([tolerate(KEY, operator="Exists")], {}),
        ([tolerate(KEY, effect="NoSchedule")], {}),
        ([tolerate(operator="Exists")], {}),
        ([tolerate(KEY, effect="NoExecute")], CORDONED),
        ([tolerate(KEY, "true")], CORDONED),
        ([tolerate(KEY, "1", operator="Lt")], CORDONED),
    ],
)
def test_cordoned_nodes(
    tolerations: Sequence[Toleration], expected: Mapping[str, tuple[Code, Sequence[str]]]
) -> None:
    world = World(make_node("open").obj(), make_node("cordoned").cordoned().obj())
    nodes = world.all_nodes()
    incoming = world.info(make_pod("incoming").tolerations(*tolerations).obj())
    assert rejected(NodeUnschedulable().filter(None, incoming, nodes), nodes) == expected


OPEN, CLOSED = make_node("n").obj(), make_node("n").cordoned().obj()


@pytest.mark.parametrize(
    ("before", "after", "hint"),
    [
        (None, OPEN, QueueingHint.QUEUE),
        (None, CLOSED, QueueingHint.SKIP),
        (CLOSED, OPEN, QueueingHint.QUEUE),
        (OPEN, CLOSED, QueueingHint.SKIP),
        (OPEN, OPEN, QueueingHint.SKIP),
        (CLOSED, CLOSED, QueueingHint.SKIP),
    ],
)
def test_an_opened_node_queues(before: Node | None, after: Node, hint: QueueingHint) -> None:
    node_event, _ = NodeUnschedulable().events_to_register()
    assert hint_of(node_event)(World().info(make_pod("incoming").obj()), before, after) is hint


@pytest.mark.parametrize(
    ("name", "toleration", "hint"),
    [
        ("incoming", tolerate(KEY, operator="Exists"), QueueingHint.QUEUE),
        ("incoming", tolerate("unrelated", operator="Exists"), QueueingHint.SKIP),
        ("other", tolerate(KEY, operator="Exists"), QueueingHint.SKIP),
    ],
)
def test_a_new_toleration_of_the_pod_queues_if_it_helps(
    name: str, toleration: Toleration, hint: QueueingHint
) -> None:
    world = World()
    _, pod_event = NodeUnschedulable().events_to_register()
    before, after = (
        world.info(make_pod(name).obj()),
        world.info(make_pod(name).tolerations(toleration).obj()),
    )
    assert hint_of(pod_event)(world.info(make_pod("incoming").obj()), before, after) is hint


def test_events() -> None:
    events = [registered.event.label for registered in NodeUnschedulable().events_to_register()]
    assert len(events) == 2
    assert events[1] == "PodUpdatePodToleration"
