"""Switches of DynamicResources: the smallest claims for which each matters."""

import pytest

from scheduler_core.api import Counter, CounterSet, DeviceTaint
from tests.devices.factories import claim, device, exactly, resource_slice
from tests.plugins.test_device_allocation import given_devices
from tests.releases.switching import with_switch

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
