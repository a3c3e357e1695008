"""DeviceTaintRules: which devices they taint, in which release, and what their changes wake."""

from __future__ import annotations

import pytest

from scheduler_core.api import (
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    ObjectMeta,
    PodResourceClaim,
)
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.packing import pack, unpack
from scheduler_core.config import FeatureGates, feature_gates
from scheduler_core.devices.taint_rules import tainted
from scheduler_core.releases import RELEASES
from scheduler_core.sim import RunOptions, load_scenario
from scheduler_core.sim.run import Run
from scheduler_core.trace.events import AnyEvent, EventRecorded
from tests.builders import make_node, make_pod
from tests.devices.factories import DRIVER, claim, device, device_class, exactly, resource_slice

BROKEN = DeviceTaint(key="broken", value="yes", effect="NoSchedule")
WORN = DeviceTaint(key="worn", effect="NoSchedule")
OLD, NEW = RELEASES["1.36.2"], RELEASES["1.37.2"]
ALL = DeviceTaintSelector()


def rule(selector: DeviceTaintSelector | None = ALL, name: str = "broken") -> DeviceTaintRule:
    return DeviceTaintRule(
        metadata=ObjectMeta(name=name, uid=name),
        spec=DeviceTaintRuleSpec(device_selector=selector, taint=BROKEN),
    )


@pytest.mark.parametrize(
    ("selector", "devices"),
    [
        (None, "g0 g1"),
        (ALL, "g0 g1"),
        (DeviceTaintSelector(driver=DRIVER, pool="n1"), "g0 g1"),
        (DeviceTaintSelector(driver=DRIVER, pool="n1", device="g1"), "g1"),
        (DeviceTaintSelector(device="g0"), "g0"),
        (DeviceTaintSelector(driver=""), ""),
        (DeviceTaintSelector(driver="other", device="g0"), ""),
        (DeviceTaintSelector(pool="n2"), ""),
    ],
)
def test_what_a_selector_sets_must_match(
    selector: DeviceTaintSelector | None, devices: str
) -> None:
    plain = resource_slice("s", device("g0"), device("g1"), node="n1")
    seen = tainted(plain, [rule(selector)])
    assert [each.name for each in seen.spec.devices if each.taints] == devices.split()
    assert (seen is plain) == (not devices)


def test_taints_of_rules_come_after_those_of_the_slice() -> None:
    plain = resource_slice("s", device("g0", taints=(WORN,)), node="n1")
    (seen,) = tainted(plain, [rule()]).spec.devices
    assert seen.taints == (WORN, BROKEN)
    assert plain.spec.devices[0].taints == (WORN,)


def test_a_rule_is_stored_with_its_cluster() -> None:
    objects = ClusterObjects([rule(), rule(None, "none")])
    assert list(unpack(pack(objects))) == list(objects)


def played(features: FeatureGates, steps: str, *rules: DeviceTaintRule) -> list[AnyEvent]:
    use = PodResourceClaim(name="d", resource_claim_name="wanted")
    objects = (
        make_node("n1").cpu(8).obj(),
        device_class(),
        resource_slice("s", device("g0"), node="n1"),
        claim("wanted", exactly()),
        make_pod("p").spec(resource_claims=(use,)).obj(),
    )
    options = RunOptions(scenario=load_scenario(steps), features=features)
    return list(Run([*objects, *rules], options).events())


def outcomes(trace: list[AnyEvent]) -> list[str]:
    return [event.reason for event in trace if isinstance(event, EventRecorded)]


@pytest.mark.parametrize(
    ("features", "first"),
    [
        (feature_gates({}, OLD), "Scheduled"),
        (feature_gates({"DRADeviceTaintRules": True}, OLD), "FailedScheduling"),
        (feature_gates({}, NEW), "FailedScheduling"),
        (feature_gates({"DRADeviceTaintRules": False}, NEW), "Scheduled"),
    ],
)
def test_a_rule_counts_with_its_gate(features: FeatureGates, first: str) -> None:
    assert outcomes(played(features, "steps: []", rule()))[0] == first


def test_a_rule_that_goes_wakes_the_pod() -> None:
    assert outcomes(played(feature_gates({}, NEW), "steps: []", rule())) == ["FailedScheduling"]
    steps = "steps: [{at: 20s, delete: {kind: DeviceTaintRule, name: broken}}]"
    trace = played(feature_gates({}, NEW), steps, rule())
    assert outcomes(trace) == ["FailedScheduling", "Scheduled"]


def test_a_rule_that_comes_taints_and_wakes() -> None:
    """A new taint updates the slice, as any taint; a rule for no device wakes nobody."""
    steps = """\
    steps:
    - at: 20s
      create:
        apiVersion: resource.k8s.io/v1
        kind: DeviceTaintRule
        metadata: {name: POOL}
        spec:
          deviceSelector: {pool: POOL}
          taint: {key: worn, effect: NoSchedule}
    """
    gates = feature_gates({}, NEW)
    woken = played(gates, steps.replace("POOL", "n1"), rule())
    assert outcomes(woken).count("FailedScheduling") == 2
    slept = played(gates, steps.replace("POOL", "n2"), rule())
    assert outcomes(slept).count("FailedScheduling") == 1
