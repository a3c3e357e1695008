"""Which devices claims are given on a node."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Counter,
    CounterSet,
    DeviceCapacity,
    DeviceConstraint,
    DeviceTaint,
    DeviceToleration,
    KubeObject,
    ResourceClaim,
)
from scheduler_core.config.features import FeatureGates, feature_gates
from scheduler_core.plugins.dynamic_resources.allocator import Allocated, Allocator, TimedOut
from scheduler_core.plugins.dynamic_resources.gates import AllocatorGates
from scheduler_core.plugins.dynamic_resources.planning import AllocationError
from tests.builders import make_node
from tests.devices.factories import (
    DRIVER,
    alternative,
    claim,
    device,
    device_class,
    exactly,
    first_of,
    named_node,
    resource_slice,
)
from tests.plugins.harness import World

MODEL = f'device.attributes["{DRIVER}"].model'
MATCH_NUMA = DeviceConstraint(match_attribute=f"{DRIVER}/numa")


def allocated(
    claims: Sequence[ResourceClaim], *items: KubeObject, features: FeatureGates | None = None
) -> Allocated | None:
    world = World(make_node("n1").obj(), device_class(), *items, features=features)
    allocator = Allocator(world.devices, AllocatorGates.of(world.features))
    return allocator.allocate(world.all_nodes().node(0), list(claims))


def given_devices(
    claims: Sequence[ResourceClaim], *items: KubeObject, features: FeatureGates | None = None
) -> list[str] | None:
    """Return `request=device` for all claims in order, None if they cannot be allocated."""
    found = allocated(claims, *items, features=features)
    if found is None:
        return None
    return [
        f"{result.request}={result.device}"
        for allocation in found.results
        for result in allocation.devices.results
    ]


# ---------------------------------------------------------------- selecting and counting


def test_all_needs_every_pool_to_be_complete() -> None:
    half = resource_slice("s", device("g0"), node="n1", count=2)
    text = "claim default/c, request r0: asks for all devices, but resource pool .*being updated"
    with pytest.raises(AllocationError, match=text):
        allocated([claim("c", exactly(count=0))], half)
    assert given_devices([claim()], half) is None


def test_an_invalid_pool_is_the_reason_only_when_nothing_else_serves() -> None:
    broken = resource_slice("s", device("g0"), device("g0"), node="n1")
    found = allocated([claim()], broken)
    assert found is not None
    assert found.reason == "invalid resource pools were encountered"
    assert given_devices([claim()], broken, resource_slice("t", device("g9"), pool="net")) == [
        "r0=g9"
    ]


def test_no_claim_is_given_more_than_32_devices() -> None:
    slices = resource_slice("s", *(device(f"g{i:02}") for i in range(40)), node="n1")
    with pytest.raises(AllocationError, match="devices 33 exceeds the claim limit of 32"):
        allocated([claim("c", exactly(count=33))], slices)
    either = first_of("r", alternative("many", count=33), alternative("few", count=31))
    found = given_devices([claim("c", exactly("one"), either)], slices)
    assert found is not None
    assert len(found) == 32


def test_errors_of_selectors_name_class_or_claim() -> None:
    slices = resource_slice("s", device("g0"), node="n1")
    with pytest.raises(AllocationError, match=r"^claim default/c: selector #0: CEL runtime error"):
        allocated([claim("c", exactly(where=f"{MODEL} == 1"))], slices)
    broken = device_class("broken", "nonsense")
    with pytest.raises(AllocationError, match=r"^class broken: selector #0: CEL compile error"):
        allocated([claim("c", exactly(of="broken"))], slices, broken)


def test_a_search_without_end_times_out() -> None:
    half = resource_slice("s", *(device(f"g{i:02}", numa=i % 2) for i in range(40)), node="n1")
    wish = claim("c", exactly(count=21), constraints=[MATCH_NUMA])
    with pytest.raises(TimedOut):
        allocated([wish], half)


# ---------------------------------------------------------------- constraints, taints, access


def test_devices_share_an_attribute_or_all_differ_in_it() -> None:
    slices = resource_slice(
        "s", device("g0", numa=0), device("g1", numa=1), device("g2", numa=1), node="n1"
    )
    pair = [exactly("a"), exactly("b")]
    same = claim("c", *pair, constraints=[MATCH_NUMA])
    assert given_devices([same], slices) == ["a=g1", "b=g2"]
    distinct = DeviceConstraint(distinct_attribute=f"{DRIVER}/numa")
    assert given_devices([claim("c", *pair, constraints=[distinct])], slices) == ["a=g0", "b=g1"]
    bare = resource_slice("s", device("g0"), node="n1")
    assert given_devices([claim("c", constraints=[MATCH_NUMA])], bare) is None


def test_the_oldest_allocator_is_in_use_when_it_has_all_that_is_on() -> None:
    slices = resource_slice("s", device("g0", numa=0), device("g1", numa=1), node="n1")
    sized = claim("c", exactly("a", capacity={"memory": "1Gi"}))
    distinct = DeviceConstraint(distinct_attribute=f"{DRIVER}/numa")
    apart = claim("c", exactly("a"), exactly("b"), constraints=[distinct])
    newer = feature_gates({"DRAConsumableCapacity": False})
    oldest = feature_gates({"DRAConsumableCapacity": False, "DRADeviceBindingConditions": False})

    with pytest.raises(AllocationError, match="has capacity requests"):
        given_devices([sized], slices, features=newer)
    assert given_devices([sized], slices, features=oldest) == ["a=g0"]
    assert given_devices([apart], slices, features=newer) == ["a=g0", "b=g1"]
    with pytest.raises(AllocationError, match="constraint #0: empty constraint"):
        given_devices([apart], slices, features=oldest)

    shared = resource_slice("s", device("g0", allow_multiple_allocations=True), node="n1")
    wish = claim("c", exactly("a", where="device.allowMultipleAllocations"))
    assert given_devices([wish], shared, features=newer) == ["a=g0"]
    assert given_devices([wish], shared, features=oldest) is None


def test_tainted_devices_are_for_those_who_tolerate_them() -> None:
    taint = DeviceTaint(key="bad", value="yes", effect="NoSchedule")
    soft = DeviceTaint(key="soft", effect="None")
    slices = resource_slice("s", device("g0", taints=(taint,)), device("g1", taints=(soft,)))
    assert given_devices([claim()], slices) == ["r0=g1"]
    tolerant = exactly(tolerations=(DeviceToleration(key="bad", operator="Exists"),))
    assert given_devices([claim("c", tolerant)], slices) == ["r0=g0"]
    wrong = exactly(tolerations=(DeviceToleration(key="bad", operator="Equal", value="no"),))
    assert given_devices([claim("c", wrong)], slices) == ["r0=g1"]


# ---------------------------------------------------------------- parts and shares of devices


def test_partitions_take_from_the_counters_they_share() -> None:
    counters = (CounterSet(name="shared", counters={"memory": Counter(value="4Gi")}),)
    parts = [device(f"p{i}", counters={"memory": "2Gi"}) for i in range(3)]
    slices = (
        resource_slice("s0", node="n1", count=2, shared_counters=counters),
        resource_slice("s1", *parts, node="n1", count=2),
    )
    assert given_devices([claim("c", exactly(count=2))], *slices) == ["r0=p0", "r0=p1"]
    assert given_devices([claim("c", exactly(count=3))], *slices) is None
    held = claim("held", holds=("n1/p2",))
    assert given_devices([claim("c", exactly(count=2))], *slices, held) is None
    off = feature_gates({"DRAPartitionableDevices": False})
    assert given_devices([claim()], *slices, features=off) is None


def test_of_an_overdrawn_counter_nobody_gets_more_not_even_who_takes_of_another() -> None:
    names = {"memory": Counter(value="1Gi"), "cores": Counter(value="4")}
    slices = (
        resource_slice(
            "s0", node="n1", count=2, shared_counters=(CounterSet(name="shared", counters=names),)
        ),
        resource_slice(
            "s1",
            device("large", counters={"memory": "2Gi"}),
            device("other", counters={"cores": "1"}),
            node="n1",
            count=2,
        ),
    )
    assert given_devices([claim()], *slices) == ["r0=other"]
    assert given_devices([claim()], *slices, claim("held", holds=("n1/large",))) is None


def test_shares_add_up_to_the_capacity() -> None:
    slices = resource_slice(
        "s", device("g0", capacity={"memory": "10Gi"}, allow_multiple_allocations=True)
    )
    some = exactly(capacity={"memory": "4Gi"})
    two = [claim("c", some), claim("d", some)]
    assert given_devices(two, slices) == ["r0=g0", "r0=g0"]
    assert given_devices([*two, claim("e", some)], slices) is None
    assert given_devices([claim("c", exactly(count=2, capacity={"memory": "1Gi"}))], slices) is None
    assert given_devices([claim("c", exactly(capacity={"cores": "1"}))], slices) is None
    whole = allocated([claim()], slices)
    assert whole is not None
    [result] = whole.results[0].devices.results
    assert result.share_id
    assert result.consumed_capacity == {"memory": "10Gi"}


@pytest.mark.parametrize(
    ("policy", "requested", "consumed"),
    [
        (CapacityRequestPolicy(default="3Gi"), None, "3Gi"),
        (CapacityRequestPolicy(valid_values=("2Gi", "8Gi")), "3Gi", "8Gi"),
        (CapacityRequestPolicy(valid_values=("2Gi", "8Gi")), "9Gi", None),
        (
            CapacityRequestPolicy(valid_range=CapacityRequestPolicyRange(min="2Gi", step="2Gi")),
            "5Gi",
            "6Gi",
        ),
        (
            CapacityRequestPolicy(valid_range=CapacityRequestPolicyRange(min="2Gi", max="4Gi")),
            "1Gi",
            "2Gi",
        ),
        (
            CapacityRequestPolicy(valid_range=CapacityRequestPolicyRange(min="2Gi", max="4Gi")),
            "5Gi",
            None,
        ),
    ],
)
def test_a_policy_rounds_what_is_consumed(
    policy: CapacityRequestPolicy, requested: str | None, consumed: str | None
) -> None:
    offered = DeviceCapacity(value="10Gi", request_policy=policy)
    slices = resource_slice(
        "s", device("g0", capacity={"memory": offered}, allow_multiple_allocations=True)
    )
    wish = exactly(capacity={"memory": requested} if requested else None)
    found = allocated([claim("c", wish)], slices)
    if consumed is None:
        assert found is None
    else:
        assert found is not None
        assert found.results[0].devices.results[0].consumed_capacity == {"memory": consumed}


# ---------------------------------------------------------------- where an allocation is usable


def test_an_allocation_is_usable_where_all_its_devices_are() -> None:
    network = resource_slice("s", device("nic"), pool="net")
    local = resource_slice("t", device("gpu"), node="n1")
    everywhere = allocated([claim()], network)
    assert everywhere is not None
    assert everywhere.results[0].node_selector is None
    both = allocated([claim("c", exactly(count=2))], network, local)
    assert both is not None
    assert both.results[0].node_selector == named_node("n1")
    binding = resource_slice("s", device("nic", binds_to_node=True), pool="net")
    bound = allocated([claim()], binding)
    assert bound is not None
    assert bound.results[0].node_selector == named_node("n1")


# ---------------------------------------------------------------- against brute force

MODELS = ("a", "b")


@st.composite
def small_cases(draw: st.DrawFn) -> tuple[list[tuple[str, int, bool]], list[list[tuple[int, str]]]]:
    """Draw devices (model, numa, in use) and claims of requests (count, model or empty)."""
    devices = draw(
        st.lists(st.tuples(st.sampled_from(MODELS), st.integers(0, 1), st.booleans()), max_size=5)
    )
    request = st.tuples(st.integers(1, 2), st.sampled_from((*MODELS, "")))
    claims = draw(st.lists(st.lists(request, min_size=1, max_size=2), min_size=1, max_size=2))
    return devices, claims


@given(case=small_cases(), same_numa=st.booleans())
def test_it_finds_devices_whenever_there_are_some(
    case: tuple[list[tuple[str, int, bool]], list[list[tuple[int, str]]]], same_numa: bool
) -> None:
    devices, wishes = case
    slices = resource_slice(
        "s", *(device(f"g{i}", model=m, numa=n) for i, (m, n, _) in enumerate(devices)), node="n1"
    )
    held = [f"n1/g{i}" for i, (_, _, in_use) in enumerate(devices) if in_use]
    others = [claim("held", holds=held)] if held else []
    claims = [
        claim(
            f"c{k}",
            *(
                exactly(f"r{i}", count=n, where=f'{MODEL} == "{model}"' if model else "")
                for i, (n, model) in enumerate(requests)
            ),
            constraints=[MATCH_NUMA] if same_numa else [],
        )
        for k, requests in enumerate(wishes)
    ]
    found = allocated(claims, slices, *others)
    wanted = [
        (k, model) for k, requests in enumerate(wishes) for n, model in requests for _ in range(n)
    ]
    assert (found is not None) == _is_feasible(devices, wanted, same_numa, {}, set())
    if found is None:
        return
    got = [result.devices.results for result in found.results]
    given_out = [int(result.device[1:]) for results in got for result in results]
    assert len(given_out) == len(set(given_out)) == len(wanted)
    assert not any(devices[i][2] for i in given_out)
    assert all(not m or devices[i][0] == m for i, (_, m) in zip(given_out, wanted, strict=True))
    if same_numa:
        assert all(len({devices[int(r.device[1:])][1] for r in results}) == 1 for results in got)


def _is_feasible(
    devices: Sequence[tuple[str, int, bool]],
    wanted: Sequence[tuple[int, str]],
    same_numa: bool,
    numa_of: dict[int, int],
    used: set[int],
) -> bool:
    """Try every device for every wish."""
    if not wanted:
        return True
    (k, model), rest = wanted[0], wanted[1:]
    for i, (has, numa, in_use) in enumerate(devices):
        if in_use or i in used or (model and has != model):
            continue
        if same_numa and numa_of.get(k, numa) != numa:
            continue
        if _is_feasible(devices, rest, same_numa, {**numa_of, k: numa}, used | {i}):
            return True
    return False
