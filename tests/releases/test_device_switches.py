"""Switches of DynamicResources: the smallest claims for which each matters."""

import pytest
from msgspec.structs import replace

from scheduler_core.api import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Counter,
    CounterSet,
    DeviceCapacity,
    DeviceClaimConfiguration,
    DeviceConstraint,
    DeviceTaint,
    OpaqueDeviceConfiguration,
    PodResourceClaim,
    ResourceClaim,
    ResourceSlice,
)
from scheduler_core.config import feature_gates
from scheduler_core.plugins.dynamic_resources.planning import ADVICE, AllocationError
from scheduler_core.releases import LATEST
from tests.builders import make_node, make_pod
from tests.devices.factories import DRIVER, claim, device, device_class, exactly, resource_slice
from tests.plugins.test_device_allocation import allocated, given_devices
from tests.releases.switching import with_switch
from tests.simulated import Cluster

WANTED = PodResourceClaim(name="d", resource_claim_name="wanted")
DISTINCT = DeviceConstraint(distinct_attribute=f"{DRIVER}/k")
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


@pytest.mark.parametrize(("on", "given"), [(False, ["r0=x0", "r0=y", "r0=x1"]), (True, None)])
def test_distinct_devices_differ_each_from_each(on: bool, given: list[str] | None) -> None:
    devices = [device("x0", k="x"), device("y", k="y"), device("x1", k="x")]
    item = claim("c", exactly(count=3), constraints=[DISTINCT])
    slices = resource_slice("s", *devices, node="n1")
    assert given_devices([item], slices, features=with_switch("distinct_among_all", on)) == given


@pytest.mark.parametrize(("on", "named"), [(False, ("r0",)), (True, ())])
def test_a_configuration_for_all_requests_names_none(on: bool, named: tuple[str, ...]) -> None:
    config = DeviceClaimConfiguration(
        requests=("r0",), opaque=OpaqueDeviceConfiguration(driver=DRIVER)
    )
    plain = claim("c", exactly())
    devices = replace(plain.spec.devices, config=(config,))
    item = replace(plain, spec=replace(plain.spec, devices=devices))
    slices = resource_slice("s", device("g0"), node="n1")
    found = allocated([item], slices, features=with_switch("config_for_all_requests", on))
    assert found is not None
    (made,) = found.results[0].devices.config
    assert made.requests == named


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
