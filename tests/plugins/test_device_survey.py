"""What became of each device, and why: the survey of DynamicResources."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import (
    CapacityRequestPolicy,
    Counter,
    CounterSet,
    Device,
    DeviceCapacity,
    DeviceConstraint,
    DeviceRequest,
    DeviceTaint,
    DeviceToleration,
    KubeObject,
    Pod,
    PodResourceClaim,
    ResourceClaim,
)
from scheduler_core.config.features import feature_gates
from scheduler_core.config.types import DynamicResourcesArgs
from scheduler_core.devices.survey import DeviceAnswer, DeviceSurvey
from scheduler_core.plugins.dynamic_resources import DynamicResources
from tests.builders import make_node, make_pod
from tests.devices.factories import (
    DRIVER,
    claim,
    device,
    device_class,
    exactly,
    named_node,
    resource_slice,
)
from tests.plugins.harness import World

MODEL = f'device.attributes["{DRIVER}"].model'
ECC = DeviceTaint(key="ecc", value="bad", effect="NoSchedule")


def claiming(*names: str) -> Pod:
    uses = tuple(PodResourceClaim(name=name, resource_claim_name=name) for name in names)
    return make_pod("p").spec(resource_claims=uses).obj()


def surveyed(pod: Pod, *items: KubeObject, **gates: bool) -> DeviceSurvey:
    world = World(
        make_node("n1").obj(),
        make_node("n2").obj(),
        device_class(),
        *items,
        features=feature_gates(gates),
    )
    plugin = DynamicResources(DynamicResourcesArgs(), world)
    return plugin.survey(world.info(pod), world.all_nodes())


def answers(survey: DeviceSurvey, node: str = "n1") -> dict[str, list[DeviceAnswer]]:
    found = next(each for each in survey.nodes if each.node == node)
    return {device.device: list(answers) for device, answers in found.devices.items()}


def said(survey: DeviceSurvey, device: str, node: str = "n1") -> str:
    """Return `outcome: text` of the one answer about a device."""
    (answer,) = answers(survey, node)[device]
    return f"{answer.outcome.value}: {answer.text}"


def about(
    wants: DeviceRequest, *devices: Device, claims: Sequence[ResourceClaim] = (), **rest: object
) -> DeviceSurvey:
    """Survey node n1 with one slice of devices for a pod with one claim of one request."""
    of_slice = resource_slice("s", *devices, node="n1", **rest)  # type: ignore[arg-type]
    return surveyed(claiming("c"), of_slice, claim("c", wants), *claims)


# ---------------------------------------------------------------- what was given, and what was not


def test_the_device_that_is_given_and_one_that_was_not_needed() -> None:
    found = about(exactly(), device("g0"), device("g1"))
    assert said(found, "g0") == "given: given to this request"
    assert said(found, "g1").startswith("not_needed: would do; the allocator takes the first")


def test_a_device_of_another_request_of_the_pod() -> None:
    items = resource_slice("s", device("g0"), device("g1"), node="n1")
    found = surveyed(claiming("c", "d"), items, claim("c"), claim("d"))
    of_d = [f"{a.claim} {a.outcome.value}: {a.text}" for a in answers(found)["g0"]][1]
    text = "given to request r0 of claim default/c of this pod"
    assert of_d == f"default/d given_elsewhere: {text}"


def test_devices_that_would_do_alone_but_are_too_few() -> None:
    found = about(exactly(count=2), device("g0"), device("g1", taints=(ECC,)))
    assert found.nodes[0].rejection == "cannot allocate all claims"
    text = "would do alone; the request needs 2, available here: 1"
    assert said(found, "g0") == f"usable: {text}"
    assert said(found, "g1").startswith("taint:")


def test_a_device_in_use_tells_by_whom() -> None:
    held = claim("held", holds=("n1/g0",), users=("a", "b"))
    found = about(exactly(), device("g0"), claims=[held])
    text = "in_use: in use by claim default/held of pod default/a, default/b"
    assert said(found, "g0") == text
    (seen,) = found.devices.values()
    assert [holder.claim for holder in seen.holders] == ["default/held"]


# ---------------------------------------------------------------- selectors


def test_a_selector_that_is_false_comes_with_its_values() -> None:
    where = f'{MODEL} == "a100" && device.driver == "{DRIVER}"'
    found = about(exactly(where=where), device("g0", model="l4"))
    (answer,) = answers(found)["g0"]
    assert answer.text == "the selector of request r0 is false for it"
    assert answer.expression == where
    assert answer.values == {"driver": DRIVER, f"{DRIVER}/model": "l4"}


def test_what_an_expression_mentions_and_a_device_lacks_has_no_value() -> None:
    where = f'device.attributes["other.example"].?size.orValue(0) > 1 || {MODEL} == "x"'
    found = about(exactly(where=where), device("g0", model="l4"))
    (answer,) = answers(found)["g0"]
    assert answer.values == {"other.example/size": None, f"{DRIVER}/model": "l4"}


def test_capacities_are_values_too() -> None:
    where = (
        f'device.capacity["{DRIVER}"]["memory"].compareTo(quantity("40Gi")) >= 0 && '
        "!device.allowMultipleAllocations"
    )
    found = about(exactly(where=where), device("g0", capacity={"memory": "24Gi"}))
    (answer,) = answers(found)["g0"]
    assert answer.values == {f"{DRIVER}/memory": "24Gi", "allowMultipleAllocations": "false"}


def test_a_selector_that_ends_in_an_error() -> None:
    found = about(exactly(where=f'{MODEL} == "a"'), device("g0"))
    assert "selector_error: the selector of request r0 ends in an error" in said(found, "g0")
    assert "no such key: model" in said(found, "g0")


# ---------------------------------------------------------------- the other checks


def test_a_taint_and_what_is_tolerated() -> None:
    tolerated = DeviceToleration(key="ecc", operator="Equal", value="old", effect="NoSchedule")
    found = about(exactly(tolerations=(tolerated,)), device("g0", taints=(ECC,)))
    text = "taint ecc=bad:NoSchedule is not tolerated; the request tolerates ecc=old:NoSchedule"
    assert said(found, "g0") == f"taint: {text}"
    nothing = about(exactly(), device("g0", taints=(ECC,)))
    assert said(nothing, "g0").endswith("the request tolerates nothing")


def test_a_capacity_that_others_share() -> None:
    shared = device("g0", capacity={"memory": "40Gi"}, allow_multiple_allocations=True)
    first, second = (
        claim("a", exactly(capacity={"memory": "30Gi"})),
        claim("b", exactly(capacity={"memory": "20Gi"})),
    )
    items = resource_slice("s", shared, node="n1")
    found = surveyed(claiming("b"), items, first, second)
    assert said(found, "g0").startswith("given:")
    both = surveyed(claiming("a", "b"), items, first, second)
    texts = [answer.text for answer in answers(both)["g0"]]
    assert texts == ["would do alone; the node cannot serve all requests of the pod together"] * 2
    large = claim("b", exactly(capacity={"memory": "50Gi"}))
    found = surveyed(claiming("b"), items, large)
    assert said(found, "g0") == "capacity: memory: asks for 50Gi, 40Gi of 40Gi left"


def test_capacities_that_are_missing_or_go_against_the_policy() -> None:
    policy = CapacityRequestPolicy(default="1Gi", valid_values=("1Gi", "2Gi"))
    memory = DeviceCapacity(value="8Gi", request_policy=policy)
    shared = device("g0", capacity={"memory": memory}, allow_multiple_allocations=True)
    found = about(exactly(capacity={"memory": "3Gi"}), shared)
    assert said(found, "g0") == "capacity: its policy does not allow 3Gi of memory"
    found = about(exactly(capacity={"cores": "3"}), shared)
    assert said(found, "g0") == "capacity: has no capacity cores"


def test_counters_that_partitions_share() -> None:
    sets = (CounterSet(name="shared", counters={"memory": Counter(value="40Gi")}),)
    counters = resource_slice("s0", node="n1", count=2, shared_counters=sets)
    parts = resource_slice(
        "s1",
        device("half", counters={"memory": "20Gi"}),
        device("whole", counters={"memory": "40Gi"}),
        node="n1",
        count=2,
    )
    held = claim("held", holds=("n1/half",))
    found = surveyed(claiming("c"), counters, parts, held, claim("c"))
    text = "counter memory of shared: needs 40Gi, 20Gi of 40Gi left, used by half"
    assert said(found, "whole") == f"counters: {text}"
    off = surveyed(
        claiming("c"), resource_slice("s", device("g", counters={"m": "1"}), node="n1"), claim("c")
    )
    assert off.nodes[0].pools == (
        "pool gpu.example.com/n1 is invalid: counter set shared not found",
    )


def test_a_constraint_with_the_values_on_both_sides() -> None:
    same = DeviceConstraint(match_attribute=f"{DRIVER}/numa")
    devices = (device("g0", numa=0), device("g1", numa=1), device("g2", numa=0), device("g3"))
    items = resource_slice("s", *devices, node="n1")
    found = surveyed(claiming("c"), items, claim("c", exactly(count=2), constraints=[same]))
    assert said(found, "g2").startswith("given:")
    text = f"the claim wants the same {DRIVER}/numa: this one has 1, g0 has 0, g2 has 0"
    assert said(found, "g1") == f"constraint: {text}"
    assert "this one has none" in said(found, "g3")


def test_a_constraint_that_devices_only_meet_alone() -> None:
    same = DeviceConstraint(match_attribute=f"{DRIVER}/numa", requests=("r0",))
    items = resource_slice("s", device("g0", numa=0), device("g1", numa=1), node="n1")
    found = surveyed(claiming("c"), items, claim("c", exactly(count=2), constraints=[same]))
    text = f"would do alone; the claim wants the same {DRIVER}/numa (requests r0)"
    assert said(found, "g0") == f"usable: {text}: this one has 0, g1 has 1"


def test_all_that_match_are_wanted_and_one_is_in_use() -> None:
    held = claim("held", holds=("n1/g1",))
    found = about(exactly(count=0), device("g0"), device("g1"), claims=[held])
    text = "would do alone; the request needs all 2 that match, available here: 1"
    assert said(found, "g0") == f"usable: {text}"


def test_binding_conditions_without_their_gate() -> None:
    items = resource_slice("s", device("g0", binding_conditions=("ready",)), node="n1")
    found = surveyed(claiming("c"), items, claim("c"), DRADeviceBindingConditions=False)
    assert said(found, "g0").startswith("binding_conditions:")


def test_a_device_of_a_slice_for_several_nodes_that_is_on_another() -> None:
    devices = (device("g0", node_name="n2"), device("g1", node_name="n1"))
    items = resource_slice("s", *devices, per_device_node_selection=True)
    found = surveyed(claiming("c"), items, claim("c"))
    assert said(found, "g0") == "other_node: cannot be used on this node"
    assert said(found, "g0", "n2").startswith("given:")


# ---------------------------------------------------------------- claims and nodes


def test_a_claim_that_has_devices_asks_for_none() -> None:
    held = claim("c", holds=("n1/g0",), on="n1", users=("p",))
    found = surveyed(claiming("c"), resource_slice("s", device("g0"), node="n1"), held)
    (known,) = found.claims
    assert [each.device for each in known.devices] == ["g0"]
    assert known.usable_on == "metadata.name In n1"
    assert answers(found)["g0"] == []


def test_a_pod_without_claims_sees_the_devices_all_the_same() -> None:
    items = resource_slice("s", device("g0", model="a", taints=(ECC,)), node="n1")
    found = surveyed(make_pod("p").obj(), items)
    (seen,) = found.devices.values()
    assert (seen.slice, seen.attributes, seen.taints) == (
        "s",
        {"model": "a"},
        ("ecc=bad:NoSchedule",),
    )
    assert answers(found) == {"g0": []}
    assert [node.node for node in found.nodes] == ["n1"]


def test_a_claim_that_is_missing_is_the_problem() -> None:
    found = surveyed(claiming("c"), resource_slice("s", device("g0"), node="n1"))
    assert found.problem == 'could not find ResourceClaim "default/c"'


def test_an_extended_resource_is_claimed_on_the_node_that_lacks_it() -> None:
    backing = device_class("gpu", extended="example.com/gpu")
    pod = make_pod("p").request("example.com/gpu", 1).obj()
    found = surveyed(pod, backing, resource_slice("s", device("g0"), node="n1"))
    assert said(found, "g0").startswith("given:")
    assert [request.class_name for request in found.claims[0].requests] == ["gpu"]


def test_a_pool_that_is_incomplete_says_so() -> None:
    found = about(exactly(), device("g0"), count=2)
    assert found.nodes[0].devices == {}
    text = "pool gpu.example.com/n1 is incomplete: its driver is updating it"
    assert found.nodes[0].pools == (text,)


def test_a_node_selector_that_cannot_be_read_says_so() -> None:
    bad = named_node("n1")
    term = bad.node_selector_terms[0].match_fields[0]
    broken = type(bad)(
        node_selector_terms=(
            type(bad.node_selector_terms[0])(match_fields=(type(term)(key="x", operator="?"),)),
        )
    )
    found = surveyed(
        claiming("c"), resource_slice("s", device("g"), node_selector=broken), claim("c")
    )
    assert "failed to perform node selection" in found.nodes[0].pools[0]


# ---------------------------------------------------------------- the law


@given(
    st.lists(st.tuples(st.sampled_from("ab"), st.booleans(), st.booleans()), max_size=5),
    st.lists(st.tuples(st.sampled_from(["", "a", "b"]), st.integers(0, 2)), min_size=1, max_size=2),
)
def test_devices_are_given_as_the_allocator_gave_them(
    devices: list[tuple[str, bool, bool]], wants: list[tuple[str, int]]
) -> None:
    """Given are as many as are wanted, or none is; and nothing that was given is refused."""
    items = resource_slice(
        "s",
        *(
            device(f"g{i}", model=model, taints=(ECC,) if tainted else ())
            for i, (model, tainted, _) in enumerate(devices)
        ),
        node="n1",
    )
    held = claim("held", holds=[f"n1/g{i}" for i, (_, _, taken) in enumerate(devices) if taken])
    claims = [
        claim(f"c{i}", exactly(count=count, where=f'{MODEL} == "{model}"' if model else ""))
        for i, (model, count) in enumerate(wants)
    ]
    found = surveyed(claiming(*(each.name for each in claims)), items, held, *claims)
    outcomes = [
        (device, answer.claim, answer.outcome.value)
        for device, of_device in answers(found).items()
        for answer in of_device
    ]
    n_given = {
        each.key: sum(o == "given" and c == each.key for _, c, o in outcomes) for each in claims
    }
    if found.nodes[0].rejection:
        assert not any(n_given.values())
        assert "not_needed" not in {outcome for _, _, outcome in outcomes}
        return
    assert "usable" not in {outcome for _, _, outcome in outcomes}
    for (_, count), each in zip(wants, claims, strict=True):
        assert n_given[each.key] == count if count else n_given[each.key] >= 1
