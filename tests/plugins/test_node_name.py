from collections.abc import Mapping, Sequence

import pytest

from scheduler_core.framework.status import Code
from scheduler_core.plugins.node_name import NodeName
from tests.builders import make_node, make_pod
from tests.plugins.harness import World, rejected

NO = (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("node(s) didn't match the requested node name",))


@pytest.mark.parametrize(
    ("requested", "expected"),
    [("", {}), ("n2", {"n1": NO}), ("n1", {"n2": NO}), ("nowhere", {"n1": NO, "n2": NO})],
)
def test_only_the_requested_node_fits(
    requested: str, expected: Mapping[str, tuple[Code, Sequence[str]]]
) -> None:
    world = World(make_node("n1").obj(), make_node("n2").obj())
    nodes = world.all_nodes()
    verdict = NodeName().filter(None, world.info(make_pod("incoming").on(requested).obj()), nodes)
    assert rejected(verdict, nodes) == expected


def test_new_nodes_always_queue() -> None:
    (registered,) = NodeName().events_to_register()
    assert registered.event.label == "NodeAdd"
    assert registered.hint is None
