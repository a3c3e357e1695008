"""Which slices form which pools for a node."""

from collections.abc import Sequence

import pytest

from scheduler_core.api import (
    Counter,
    CounterSet,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    ResourceSlice,
)
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.config import FeatureGates
from scheduler_core.devices.pools import Pool, PoolError, gather_pools
from scheduler_core.devices.slices import Slices
from tests.builders import make_node

from .factories import device, named_node, resource_slice


def pools(*slices: ResourceSlice, node: str = "n1", partitionable: bool = True) -> Sequence[Pool]:
    objects = ObjectStore()
    for each in slices:
        objects.put(each)
    return gather_pools(
        Slices(objects, FeatureGates()),
        make_node(node).obj(),
        partitionable=partitionable,
        counters_everywhere=True,
    )


def names(found: Sequence[Pool]) -> list[str]:
    return [f"{pool.id}: {' '.join(d.id.device for d in pool.devices)}" for pool in found]


def test_pools_come_by_driver_and_name_and_those_with_binding_conditions_last() -> None:
    ready = device("a", binding_conditions=("Ready",))
    found = pools(
        resource_slice("s1", ready, pool="a"),
        resource_slice("s2", device("b"), pool="b"),
        resource_slice("s3", device("c"), pool="z", driver="a.example.com"),
    )
    assert [str(pool.id) for pool in found] == [
        "a.example.com/z",
        "gpu.example.com/b",
        "gpu.example.com/a",
    ]


def test_slices_of_a_pool_come_by_name() -> None:
    second = resource_slice("s2", device("x"), node="n1", count=2)
    first = resource_slice("s1", device("y"), node="n1", count=2)
    assert names(pools(second, first)) == ["gpu.example.com/n1: y x"]


def test_only_the_newest_generation_counts() -> None:
    old = resource_slice("old", device("x"), node="n1", generation=1)
    new = resource_slice("new", device("y"), node="n1", generation=2)
    assert names(pools(old, new)) == names(pools(new, old)) == ["gpu.example.com/n1: y"]


def test_a_generation_that_is_being_replaced_elsewhere_is_left_out() -> None:
    old = resource_slice("old", device("x"), node="n1", pool="p", generation=1, count=2)
    new = resource_slice("new", device("y"), node="n2", pool="p", generation=2)
    assert pools(old, new) == []


def test_a_pool_with_slices_missing_is_incomplete() -> None:
    [pool] = pools(resource_slice("s1", device("x"), node="n1", count=2))
    assert (pool.incomplete, pool.usable, pool.devices) == (True, False, [])


def test_slices_for_other_nodes_complete_a_pool() -> None:
    here = resource_slice("s1", device("x"), node="n1", pool="p", count=2)
    there = resource_slice("s2", device("y"), node="n2", pool="p", count=2)
    assert names(pools(here, there)) == ["gpu.example.com/p: x"]


def test_a_repeated_device_makes_a_pool_invalid() -> None:
    [pool] = pools(resource_slice("s1", device("x"), device("x"), node="n1"))
    assert (pool.invalid, pool.usable) == ("duplicate device name x", False)


def test_an_unknown_counter_makes_a_pool_invalid() -> None:
    part = device("x", counters={"memory": "1Gi"})
    [pool] = pools(resource_slice("s1", part, node="n1"))
    assert pool.invalid == "counter set shared not found"
    counters = (CounterSet(name="shared", counters={"cores": Counter(value="1")}),)
    shared = resource_slice("s0", node="n1", count=2, shared_counters=counters)
    [pool] = pools(shared, resource_slice("s1", part, node="n1", count=2))
    assert pool.invalid == "counter memory not found in counter set shared"


def test_devices_may_choose_their_nodes_one_by_one() -> None:
    here = device("x", node_name="n1")
    there = device("y", node_selector=named_node("n2"))
    slices = resource_slice("s1", here, there, per_device_node_selection=True)
    assert names(pools(slices)) == ["gpu.example.com/network: x y"]
    assert pools(slices, node="n3") == []
    assert pools(slices, partitionable=False) == []


def test_a_selector_that_is_not_valid_is_an_error() -> None:
    near = NodeSelectorRequirement(key="metadata.name", operator="Near", values=("n1",))
    term = NodeSelectorTerm(match_fields=(near,))
    selector = NodeSelector(node_selector_terms=(term,))
    with pytest.raises(PoolError, match="failed to perform node selection for slice s1"):
        pools(resource_slice("s1", device("x"), node_selector=selector))
