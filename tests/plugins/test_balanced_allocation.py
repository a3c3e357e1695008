from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import Node, Pod
from scheduler_core.config.types import (
    DEFAULT_RESOURCES,
    NodeResourcesBalancedAllocationArgs,
    ResourceSpec,
)
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.status import SKIP
from scheduler_core.plugins.node_resources import BalancedAllocation
from tests.builders import make_node, make_pod
from tests.plugins.harness import World

GPU = "example.com/gpu"
WITH_GPU = (*DEFAULT_RESOURCES, ResourceSpec(name=GPU, weight=1))


def scores(
    world: World, requests: Mapping[str, str], specs: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES
) -> list[int]:
    """Return the scores of all nodes, through PreScore and, alike, without it."""
    plugin = BalancedAllocation(NodeResourcesBalancedAllocationArgs(resources=specs), world)
    nodes, incoming = world.all_nodes(), world.info(make_pod("incoming").requests(requests).obj())
    prepared = plugin.pre_score(None, incoming, nodes)
    assert isinstance(prepared, Prepared)
    found: list[int] = plugin.score(prepared.state, incoming, nodes).tolist()
    assert plugin.score(None, incoming, nodes).tolist() == found
    return found


def sized(name: str, cpu: int, memory: int, **more: str) -> Node:
    return make_node(name).cpu(f"{cpu}m").memory(str(memory)).resources(more).obj()


def used(on: str, cpu: int, memory: int, **more: str) -> Pod:
    return (
        make_pod(f"on-{on}").on(on).requests({"cpu": f"{cpu}m", "memory": str(memory)} | more).obj()
    )


WANTED = {"cpu": "3000m", "memory": "5000"}


@pytest.mark.parametrize(
    ("nodes", "pods", "requests", "expected"),
    [
        ([(4000, 10000), (6000, 10000)], [], WANTED, [68, 75]),
        ([(10000, 20000), (10000, 20000)], [(3000, 0), (3000, 5000)], WANTED, [73, 74]),
        ([(10000, 20000), (10000, 50000)], [(3000, 0), (3000, 5000)], WANTED, [73, 70]),
        ([(3000, 5000), (3000, 5000)], [(3000, 0), (0, 0)], {"memory": "5000"}, [100, 50]),
        ([(6000, 10000), (6000, 10000)], [(3000, 0), (3000, 5000)], {"cpu": "3"}, [62, 62]),
        # More than there is counts as all there is.
        ([(3000, 5000), (3000, 5000)], [(9000, 9000), (9000, 0)], {"memory": "9000"}, [75, 100]),
        # A node with one of the resources only is in balance.
        ([(0, 10000), (0, 0)], [(0, 0), (0, 0)], WANTED, [75, 75]),
    ],
)
def test_cpu_and_memory(
    nodes: Sequence[Sequence[int]],
    pods: Sequence[Sequence[int]],
    requests: Mapping[str, str],
    expected: Sequence[int],
) -> None:
    names = ("n1", "n2")
    world = World(*(sized(name, *size) for name, size in zip(names, nodes, strict=True)))
    world.add(*(used(name, *amounts) for name, amounts in zip(names, pods, strict=False)))
    assert scores(world, requests) == expected


@pytest.mark.parametrize("requests", [{}, {"cpu": "0", "memory": "0"}, {GPU: "1"}])
def test_a_pod_that_asks_for_none_of_the_resources_is_skipped(requests: Mapping[str, str]) -> None:
    world = World(sized("n", 4000, 10000))
    plugin = BalancedAllocation(NodeResourcesBalancedAllocationArgs(), world)
    nodes, incoming = world.all_nodes(), world.info(make_pod("incoming").requests(requests).obj())
    assert plugin.pre_score(None, incoming, nodes) is SKIP
    assert plugin.score(None, incoming, nodes).tolist() == [0]


amounts = st.integers(0, 50)


@given(
    sizes=st.lists(st.tuples(amounts, amounts, amounts), min_size=1, max_size=4),
    before=st.tuples(amounts, amounts, amounts),
    wanted=st.tuples(amounts, amounts, amounts).filter(any),
)
def test_scores_lie_between_fifty_and_a_hundred(
    sizes: Sequence[Sequence[int]], before: Sequence[int], wanted: Sequence[int]
) -> None:
    world = World()
    for i, (cpu, memory, gpu) in enumerate(sizes):
        world.add(sized(f"n{i}", cpu, memory, **{GPU: str(gpu)}))
        world.add(used(f"n{i}", before[0], before[1], **{GPU: str(before[2])}))
    cpu, memory, gpu = wanted
    requests = {"cpu": f"{cpu}m", "memory": str(memory), GPU: str(gpu)}
    assert all(50 <= score <= 100 for score in scores(world, requests, WITH_GPU))
