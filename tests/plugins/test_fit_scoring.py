"""NodeResourcesFit as a score plugin: the strategies and what they count."""

from collections.abc import Mapping, Sequence

import pytest

from scheduler_core.api import Pod, ResourceRequirements
from scheduler_core.config.types import (
    DEFAULT_RESOURCES,
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from scheduler_core.framework.interface import Prepared
from scheduler_core.plugins.node_resources import Fit
from tests.builders import container, make_node, make_pod
from tests.plugins.harness import World

GPU = "example.com/gpu"


def resources(**weights: int) -> tuple[ResourceSpec, ...]:
    return tuple(ResourceSpec(name=name, weight=weight) for name, weight in weights.items())


def least(specs: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES) -> ScoringStrategy:
    return ScoringStrategy(type="LeastAllocated", resources=specs)


def most(specs: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES) -> ScoringStrategy:
    return ScoringStrategy(type="MostAllocated", resources=specs)


def ratio(
    *points: Sequence[int], specs: tuple[ResourceSpec, ...] = DEFAULT_RESOURCES
) -> ScoringStrategy:
    shape = tuple(UtilizationShapePoint(utilization=at, score=score) for at, score in points)
    return ScoringStrategy(
        type="RequestedToCapacityRatio",
        resources=specs,
        requested_to_capacity_ratio=RequestedToCapacityRatioParam(shape=shape),
    )


FALLING = ((0, 10), (100, 0))
RISING = ((0, 0), (100, 10))


def scores(strategy: ScoringStrategy, world: World, incoming: Pod) -> list[int]:
    """Return the scores of all nodes, through PreScore and, alike, without it."""
    plugin = Fit(NodeResourcesFitArgs(scoring_strategy=strategy), world)
    nodes, info = world.all_nodes(), world.info(incoming)
    prepared = plugin.pre_score(None, info, nodes)
    assert isinstance(prepared, Prepared)
    found: list[int] = plugin.score(prepared.state, info, nodes).tolist()
    assert plugin.score(None, info, nodes).tolist() == found
    return found


def two(first: tuple[str, str], second: tuple[str, str], *pods: Pod) -> World:
    """Return a world of two nodes of (cpu, memory)."""
    sizes = zip(("n1", "n2"), (first, second), strict=True)
    return World(
        *(make_node(name).cpu(cpu).memory(memory).obj() for name, (cpu, memory) in sizes), *pods
    )


def asking(cpu: str, memory: str, *, on: str = "", name: str = "incoming") -> Pod:
    return make_pod(name).on(on).cpu(cpu).memory(memory).obj()


EMPTY = two(("4000", "10000"), ("6000", "10000"))
USED = two(
    ("10000", "20000"),
    ("10000", "50000"),
    asking("3000", "0", on="n1", name="a"),
    asking("3000", "5000", on="n2", name="b"),
)
FULL = two(
    ("4000", "10000"),
    ("4000", "10000"),
    asking("3000", "0", on="n1", name="a"),
    asking("3000", "5000", on="n2", name="b"),
)
WEIGHTED = resources(memory=2, cpu=1)


@pytest.mark.parametrize(
    ("strategy", "world", "incoming", "expected"),
    [
        (least(), EMPTY, asking("3000", "5000"), [37, 50]),
        (least(), USED, asking("3000", "5000"), [57, 60]),
        (least(), FULL, asking("3000", "0"), [50, 25]),
        (least(WEIGHTED), EMPTY, asking("3000", "5000"), [41, 50]),
        (least(), two(("0", "0"), ("0", "10000")), asking("0", "0"), [0, 100]),
        (most(), EMPTY, asking("3000", "5000"), [62, 50]),
        (most(), USED, asking("3000", "5000"), [42, 40]),
        (most(), FULL, asking("3000", "0"), [50, 75]),
        (most(WEIGHTED), EMPTY, asking("3000", "5000"), [58, 50]),
        (ratio(*FALLING), EMPTY, asking("3000", "5000"), [38, 50]),
        (ratio(*RISING), EMPTY, asking("3000", "5000"), [63, 50]),
        (ratio(*RISING), FULL, asking("3000", "0"), [100, 75]),
        (ratio(*FALLING), FULL, asking("3000", "0"), [100, 50]),
        (ratio((0, 0), (100, 0)), EMPTY, asking("3000", "5000"), [0, 0]),
        (ratio(*RISING, specs=WEIGHTED), EMPTY, asking("3000", "5000"), [58, 50]),
    ],
)
def test_strategies(
    strategy: ScoringStrategy, world: World, incoming: Pod, expected: Sequence[int]
) -> None:
    assert scores(strategy, world, incoming) == expected


def test_the_incoming_pod_is_scored_without_its_requests_at_pod_level() -> None:
    """As in v1.36; on the node, and in Filter, requests at pod level do count."""
    at_pod_level = {
        "containers": (container({"cpu": "1", "memory": "0"}),),
        "resources": ResourceRequirements(requests={"cpu": "3"}),
    }
    world = World(
        make_node("n1").cpu("4").obj(),
        make_node("n2").cpu("4").obj(),
        make_pod("a").on("n2").spec(**at_pod_level).obj(),
    )
    assert scores(
        least(resources(cpu=1)), world, make_pod("incoming").spec(**at_pod_level).obj()
    ) == [75, 0]


WITH_GPU = resources(cpu=1, **{GPU: 3})
GPUS = World(
    make_node("gpu").cpu(10).resource(GPU, 8).obj(),
    make_node("plain").cpu("10").obj(),
    make_pod("a").on("gpu").request(GPU, "2").cpu("0").obj(),
)


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        # gpu: (cpu 50 * 1 + gpu (8 - 4) / 8 = 50 * 3) / 4; plain has no gpu: cpu alone.
        ({"cpu": "5", GPU: "2"}, [50, 50]),
        ({"cpu": "0", GPU: "4"}, [43, 100]),
        ({"cpu": "0"}, [100, 100]),
        ({"cpu": "0", GPU: "0"}, [100, 100]),
    ],
)
def test_extended_resources_count_if_pod_and_node_have_them(
    requests: Mapping[str, str], expected: Sequence[int]
) -> None:
    assert scores(least(WITH_GPU), GPUS, make_pod("incoming").requests(requests).obj()) == expected


def test_a_resource_without_value_on_the_curve_is_left_out_of_the_mean() -> None:
    shape = ((0, 0), (50, 0), (100, 10))
    world = World(make_node("n").cpu("10").memory("10").obj())
    used = make_pod("incoming").cpu("4").memory("8").obj()
    assert scores(ratio(*shape), world, used) == [60]


def test_the_mean_of_a_curve_rounds_half_up() -> None:
    world = World(make_node("n").cpu("100").memory("100").obj())
    used = make_pod("incoming").cpu("10").memory("11").obj()
    assert scores(ratio(*RISING), world, used) == [11]
    assert scores(most(), world, used) == [10]
