"""Switches of DynamicResources: the smallest claims for which each matters."""

import pytest
from msgspec.structs import replace

from scheduler_core.api import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Counter,
    CounterSet,
    Device,
    DeviceCapacity,
    DeviceClaimConfiguration,
    DeviceConstraint,
    DeviceDerivedAttribute,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    ObjectMeta,
    OpaqueDeviceConfiguration,
    PodResourceClaim,
    ResourceClaim,
    ResourceSlice,
)
from scheduler_core.config import FeatureGates, feature_gates
from scheduler_core.plugins.dynamic_resources.planning import ADVICE, AllocationError
from scheduler_core.releases import LATEST
from tests.builders import make_node, make_pod
from tests.devices.factories import DRIVER, claim, device, device_class, exactly, resource_slice
from tests.plugins.test_device_allocation import allocated, given_devices
from tests.releases.switching import with_switch
from tests.simulated import Cluster

WANTED = PodResourceClaim(name="d", resource_claim_name="wanted")
DISTINCT = DeviceConstraint(distinct_attribute=f"{DRIVER}/k")
K = f'device.attributes["{DRIVER}"].k'
BROKEN = (DeviceTaint(key="broken", effect="NoSchedule"),)


@pytest.mark.parametrize(("on", "given"), [(False, None), (True, ["r0=sound"])])
def test_a_refused_device_gives_its_counters_back(on: bool, given: list[str] | None) -> None:
    counters = (CounterSet(name="shared", counters={"memory": Counter(value="2Gi")}),)
    slices = (
        resource_slice("s0", node="n1", count=2, shared_counters=counters),
        resource_slice(
            "s1",
            device("broken", counters={"memory": "2Gi"}, taints=BROKEN),
            device("sound", counters={"memory": "2Gi"}),
            node="n1",
            count=2,
        ),
    )
    features = with_switch("refused_devices_give_back", on)
    assert given_devices([claim("c", exactly())], *slices, features=features) == given


def shared_device() -> tuple[ResourceSlice, ...]:
    """A device that takes all counters of its pool, and may be given to several claims."""
    counters = (CounterSet(name="shared", counters={"memory": Counter(value="2Gi")}),)
    taking = device("g0", counters={"memory": "2Gi"}, allow_multiple_allocations=True)
    return (
        resource_slice("s0", node="n1", count=2, shared_counters=counters),
        resource_slice("s1", taking, node="n1", count=2),
    )


@pytest.mark.parametrize(("on", "given"), [(False, None), (True, ["r0=g0"])])
def test_a_further_share_takes_counters_once(on: bool, given: list[str] | None) -> None:
    held = claim("held", holds=["n1/g0/share-1"], on="n1")
    features = with_switch("shares_charged_once", on)
    assert given_devices([claim("c")], held, *shared_device(), features=features) == given


def half_a_pool(node: str) -> ResourceSlice:
    """Shared counters of a node whose devices are still missing."""
    counters = (CounterSet(name="shared", counters={"memory": Counter(value="2Gi")}),)
    return resource_slice("half", node=node, pool="half", count=2, shared_counters=counters)


@pytest.mark.parametrize(("on", "given"), [(False, None), (True, ["r0=g0"])])
def test_a_rule_without_selector_taints_no_device(on: bool, given: list[str] | None) -> None:
    spec = DeviceTaintRuleSpec(device_selector=None, taint=BROKEN[0])
    rule = DeviceTaintRule(metadata=ObjectMeta(name="r", uid="r"), spec=spec)
    release = with_switch("rules_need_selector", on).release
    features = FeatureGates((("DRADeviceTaintRules", True),), release)
    slices = resource_slice("s", device("g0"), node="n1")
    assert given_devices([claim("c")], slices, rule, features=features) == given


EVERYWHERE = (
    "claim default/c, request r0: asks for all devices, but resource pool gpu.example.com/half"
)


@pytest.mark.parametrize("of_stable", [False, True])
@pytest.mark.parametrize("on", [False, True])
def test_counters_concern_the_nodes_of_their_slice(on: bool, of_stable: bool) -> None:
    features = with_switch("counters_of_own_nodes", on)
    if of_stable:
        off = [("DRAConsumableCapacity", False), ("DRADeviceBindingConditions", False)]
        features = FeatureGates(tuple(off), features.release)
    slices = (resource_slice("s", device("g0"), node="n1"), half_a_pool("n2"))
    if on and not of_stable:
        item = claim("c", exactly(count=0))
        assert given_devices([item], *slices, features=features) == ["r0=g0"]
    else:
        with pytest.raises(AllocationError, match=EVERYWHERE):
            given_devices([claim("c", exactly(count=0))], *slices, features=features)


def test_counters_of_a_slice_elsewhere_count_for_the_pools_devices_here() -> None:
    counters = (CounterSet(name="shared", counters={"memory": Counter(value="2Gi")}),)
    taking = [device(name, counters={"memory": "2Gi"}) for name in ("g0", "g1")]
    slices = (
        resource_slice("s0", node="n2", pool="p", count=2, shared_counters=counters),
        resource_slice("s1", *taking, node="n1", pool="p", count=2),
    )
    features = with_switch("counters_of_own_nodes", True)
    assert given_devices([claim("c")], *slices, features=features) == ["r0=g0"]
    assert given_devices([claim("c", exactly(count=2))], *slices, features=features) is None


def pools_of_one_name(name: str, node: str) -> tuple[ResourceSlice, ...]:
    """Two drivers' pools of one name, each with counters for its one device."""
    counters = (CounterSet(name="shared", counters={"memory": Counter(value="2Gi")}),)
    taking = device("g0", counters={"memory": "2Gi"})
    return tuple(
        each
        for driver in ("a.example.com", "b.example.com")
        for each in (
            resource_slice(
                f"{driver}-{name}-0",
                node=node,
                pool=name,
                count=2,
                driver=driver,
                shared_counters=counters,
            ),
            resource_slice(
                f"{driver}-{name}-1", taking, node=node, pool=name, count=2, driver=driver
            ),
        )
    )


@pytest.mark.parametrize(("on", "given"), [(False, None), (True, ["r0=g0", "r0=g0"])])
def test_pools_of_one_name_have_counters_by_driver(on: bool, given: list[str] | None) -> None:
    item, slices = claim("c", exactly(count=2)), pools_of_one_name("p", "n1")
    assert given_devices([item], *slices, features=with_switch("counters_by_driver", on)) == given


def halves(*names: str) -> list[Device]:
    """Devices that may be given to several claims, of 2Gi each."""
    return [
        device(each, capacity={"memory": "2Gi"}, allow_multiple_allocations=True) for each in names
    ]


@pytest.mark.parametrize(("on", "given"), [(False, ["r0=g1"]), (True, None)])
def test_all_devices_are_those_in_use_as_well(on: bool, given: list[str] | None) -> None:
    held = claim("held", holds=["n1/g0/share-1"], on="n1", consumed={"memory": "2Gi"})
    slices = resource_slice("s", *halves("g0", "g1"), node="n1")
    item = claim("c", exactly(count=0, capacity={"memory": "2Gi"}))
    features = with_switch("all_despite_use", on)
    assert given_devices([item], held, slices, features=features) == given


@pytest.mark.parametrize(
    ("on", "error"),
    [
        (False, "claim default/c: number of requested devices 34 exceeds the claim limit of 32"),
        (
            True,
            "claim default/c, request r1: adding 33 devices exceeds the claim limit of 32, "
            "with 1 already accounted for",
        ),
    ],
)
def test_the_request_beyond_the_limit_of_a_claim_is_named(on: bool, error: str) -> None:
    item = claim("c", exactly("r0"), exactly("r1", count=33))
    slices = resource_slice("s", device("g0"), node="n1")
    with pytest.raises(AllocationError) as caught:
        allocated([item], slices, features=with_switch("claim_limit_by_request", on))
    assert str(caught.value) == error


RANGE = "capacity request cannot be represented in the device's range arithmetic"


@pytest.mark.parametrize("on", [False, True])
@pytest.mark.parametrize(
    ("asked", "before", "problem"),
    [
        ("-1Gi", ["r0=g0"], "capacity value is negative"),
        ("10E", None, f"{RANGE}: request 10E exceeds MaxInt64"),
        (
            str(2**63 - 1),
            None,
            f"{RANGE}: rounding request {2**63 - 1} up to the next step passes MaxInt64",
        ),
    ],
)
def test_a_capacity_out_of_range_ends_the_attempt(
    on: bool, asked: str, before: list[str] | None, problem: str
) -> None:
    valid = CapacityRequestPolicyRange(min="1Gi", step="1Gi")
    policy = CapacityRequestPolicy(valid_range=valid) if before is None else None
    offered = DeviceCapacity(value="100E", request_policy=policy)
    free = device("g0", capacity={"memory": offered}, allow_multiple_allocations=True)
    item = claim("c", exactly(capacity={"memory": asked}))
    slices = resource_slice("s", free, node="n1")
    features = with_switch("capacities_in_range", on)
    if not on:
        assert given_devices([item], slices, features=features) == before
        return
    with pytest.raises(AllocationError) as caught:
        allocated([item], slices, features=features)
    what = f'checking capacity for device {DRIVER}/n1/g0: capacity "memory": {problem}'
    assert str(caught.value) == f"claim default/c, request r0: {what}"


def grouped(name: str) -> tuple[ResourceSlice, ...]:
    """Counters of a node, a device of a compatibility group and one of none, in a slice each."""
    counters = (CounterSet(name="shared", counters={"memory": Counter(value="2Gi")}),)
    taking = device("g0", counters={"memory": "2Gi"}, groups=("a",))
    return (
        resource_slice(f"{name}-0", node=name, count=3, shared_counters=counters),
        resource_slice(f"{name}-1", taking, node=name, count=3),
        resource_slice(f"{name}-2", device("plain"), node=name, count=3),
    )


@pytest.mark.parametrize(("on", "given"), [(False, ["r0=g0"]), (True, None)])
def test_a_slice_with_compatibility_groups_is_missing(on: bool, given: list[str] | None) -> None:
    features = with_switch("compatibility_groups_withheld", on)
    assert given_devices([claim("c")], *grouped("n1"), features=features) == given


@pytest.mark.parametrize("on", [False, True])
def test_selectors_see_attributes_that_are_lists(on: bool) -> None:
    slices = resource_slice("s", device("g0", k=("x", "y")), node="n1")
    features = with_switch("list_attributes_read", on)
    for where in (f'"y" in {K}', f'{K}.includes("y")', f'{K}.exists(each, each == "y")'):
        wanted = [claim("c", exactly(where=where))]
        if on:
            assert given_devices(wanted, slices, features=features) == ["r0=g0"]
            continue
        with pytest.raises(AllocationError, match="attribute k: unsupported attribute value"):
            given_devices(wanted, slices, features=features)


@pytest.mark.parametrize("on", [False, True])
def test_a_request_with_derived_attributes_is_refused(on: bool) -> None:
    item = claim("c", exactly(derived_attributes=(DeviceDerivedAttribute(),)))
    slices = resource_slice("s", device("g0"), node="n1")
    features = with_switch("derived_attributes_refused", on)
    if not on:
        assert given_devices([item], slices, features=features) == ["r0=g0"]
        return
    with pytest.raises(AllocationError) as caught:
        given_devices([item], slices, features=features)
    what = "cannot handle request with derived attributes, the feature is disabled"
    assert str(caught.value) == f"claim default/c, request r0: {what}"


@pytest.mark.parametrize(("on", "given"), [(False, ["r0=x0", "r0=y", "r0=x1"]), (True, None)])
def test_distinct_devices_differ_each_from_each(on: bool, given: list[str] | None) -> None:
    devices = [device("x0", k="x"), device("y", k="y"), device("x1", k="x")]
    item = claim("c", exactly(count=3), constraints=[DISTINCT])
    slices = resource_slice("s", *devices, node="n1")
    assert given_devices([item], slices, features=with_switch("distinct_among_all", on)) == given


@pytest.mark.parametrize(
    ("on", "n_requests", "named"),
    [
        (False, 2, [("r0", "r1"), ("r0", "r1")]),
        (True, 2, [()]),
        (True, 3, [("r0", "r1")]),
    ],
)
def test_a_configuration_is_written_once_and_one_for_all_requests_names_none(
    on: bool, n_requests: int, named: list[tuple[str, ...]]
) -> None:
    config = DeviceClaimConfiguration(
        requests=("r0", "r1"), opaque=OpaqueDeviceConfiguration(driver=DRIVER)
    )
    plain = claim("c", *(exactly(f"r{i}") for i in range(n_requests)))
    devices = replace(plain.spec.devices, config=(config,))
    item = replace(plain, spec=replace(plain.spec, devices=devices))
    slices = resource_slice("s", *(device(f"g{i}") for i in range(n_requests)), node="n1")
    found = allocated([item], slices, features=with_switch("config_for_all_requests", on))
    assert found is not None
    assert [made.requests for made in found.results[0].devices.config] == named


@pytest.mark.parametrize("on", [False, True])
def test_an_error_of_a_selector_names_the_device(on: bool) -> None:
    item = claim("c", exactly(where=f'device.attributes["{DRIVER}"].nope == "x"'))
    slices = resource_slice("s", device("g0"), node="n1")
    with pytest.raises(AllocationError) as caught:
        allocated([item], slices, features=with_switch("cel_errors_name_device", on))
    plain = "claim default/c: selector #0{}: CEL runtime error: no such key: nope{}"
    device_id, advice = f" on device {DRIVER}/n1/g0", f". {ADVICE}"
    assert str(caught.value) == (plain.format(device_id, advice) if on else plain.format("", ""))


@pytest.mark.parametrize("on", [False, True])
def test_the_deletion_of_a_claim_with_devices_wakes_who_waits_for_one(on: bool) -> None:
    cluster = Cluster(
        make_node("n1").obj(),
        device_class(),
        resource_slice("s", device("g0"), node="n1"),
        claim("held", holds=("n1/g0",)),
        claim("wanted"),
        make_pod("p")
        .spec(resource_claims=(PodResourceClaim(name="d", resource_claim_name="wanted"),))
        .obj(),
        features=with_switch("claim_deletion_events", on),
    )
    cluster.attempt()
    held = cluster.server.get(ResourceClaim, "default/held")
    assert held is not None
    cluster.server.delete(held)
    assert (cluster.parked() == []) is on


@pytest.mark.parametrize(
    ("fractional", "consumed"), [(False, {"mem": "1"}), (True, {"mem": "750m"})]
)
def test_steps_of_a_range_may_be_fractions(fractional: bool, consumed: dict[str, str]) -> None:
    gates = {"DRAFractionalCapacityRange": fractional}
    offered = DeviceCapacity(
        value="4",
        request_policy=CapacityRequestPolicy(
            default="500m",
            valid_range=CapacityRequestPolicyRange(min="250m", max="2", step="250m"),
        ),
    )
    slices = resource_slice(
        "s", device("g0", capacity={"mem": offered}, allow_multiple_allocations=True), node="n1"
    )
    item = claim("c", exactly(capacity={"mem": "600m"}))
    found = allocated([item], slices, features=feature_gates(gates, LATEST))
    assert found is not None
    (result,) = found.results[0].devices.results
    assert result.consumed_capacity == consumed
