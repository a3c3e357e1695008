"""DynamicResources with claims: from PreEnqueue to PreBind, and what wakes pods."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from scheduler_core.api import (
    AllocatedDeviceStatus,
    DeviceClass,
    DeviceCondition,
    KubeObject,
    Node,
    Pod,
    PodResourceClaim,
    PodResourceClaimStatus,
    ResourceClaim,
    ResourceClaimStatus,
)
from scheduler_core.api.device import DELETE_PROTECTION
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.config.types import DynamicResourcesArgs
from scheduler_core.framework.diagnosis import Diagnosis, Verdicts
from scheduler_core.framework.events import QueueingHint
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.plugins.dynamic_resources import DynamicResources
from scheduler_core.plugins.dynamic_resources.extended_resources import node_claim, special_claim
from scheduler_core.plugins.dynamic_resources.state import ClaimsState
from scheduler_core.releases import RELEASES
from tests.builders import container, make_node, make_pod
from tests.devices.factories import (
    claim,
    device,
    device_class,
    resource_slice,
)
from tests.plugins.harness import World, rejected
from tests.simulated import Cluster

NEVER = Code.UNSCHEDULABLE_AND_UNRESOLVABLE
SLICES = (
    resource_slice("s1", device("g0"), node="n1"),
    resource_slice("s2", device("g0"), node="n2"),
)


def world_of(*items: KubeObject, features: FeatureGates | None = None) -> World:
    nodes = make_node("n1").obj(), make_node("n2").obj()
    return World(*nodes, device_class(), *SLICES, *items, features=features)


def plugin_of(world: World) -> DynamicResources:
    return DynamicResources(DynamicResourcesArgs(), world)


def node_with_resource(name: str, resource: str, amount: str) -> Node:
    return make_node(name).resource(resource, amount).obj()


def claiming(*names: str, name: str = "incoming") -> Pod:
    uses = tuple(PodResourceClaim(name=each, resource_claim_name=each) for each in names)
    return make_pod(name).spec(resource_claims=uses).obj()


def templated(claim_name: str | None) -> Pod:
    use = PodResourceClaim(name="gpu", resource_claim_template_name="t")
    made = PodResourceClaimStatus(name="gpu", resource_claim_name=claim_name)
    incoming = make_pod("incoming").spec(resource_claims=(use,)).obj()
    return replace(incoming, status=replace(incoming.status, resource_claim_statuses=(made,)))


def prepared(world: World, incoming: PodInfo) -> Prepared[ClaimsState]:
    outcome = plugin_of(world).pre_filter(incoming, world.all_nodes())
    assert isinstance(outcome, Prepared)
    return outcome


def post_filter(world: World, incoming: PodInfo, state: ClaimsState) -> str:
    def refilter(nodes: object) -> Verdicts:
        raise AssertionError

    plugin = plugin_of(world)
    outcome = plugin.post_filter(state, incoming, Diagnosis(world.all_nodes()), refilter)  # type: ignore[arg-type]
    assert outcome.status.code is Code.UNSCHEDULABLE
    return outcome.status.message


# ---------------------------------------------------------------- before filtering


@pytest.mark.parametrize(
    ("incoming", "items", "reason"),
    [
        (claiming("c"), [], 'could not find ResourceClaim "default/c"'),
        (
            claiming("c"),
            [replace(claim(), metadata=replace(claim().metadata, deletion_timestamp=1))],
            'resourceclaim "c" is being deleted',
        ),
        (
            make_pod("incoming")
            .spec(resource_claims=(PodResourceClaim(name="gpu", resource_claim_template_name="t"),))
            .obj(),
            [],
            'pod "default/incoming": ResourceClaim not created yet',
        ),
        (
            templated("c"),
            [claim()],
            "ResourceClaim default/c was not created for Pod default/incoming (Pod is not owner)",
        ),
        (
            make_pod("incoming").spec(resource_claims=(PodResourceClaim(name="gpu"),)).obj(),
            [],
            'pod "default/incoming", spec.resourceClaim "gpu": '
            "none of the supported fields are set",
        ),
        (templated(None), [], ""),
        (claiming("c"), [claim()], ""),
    ],
)
def test_a_pod_waits_until_its_claims_are_there(
    incoming: Pod, items: Sequence[KubeObject], reason: str
) -> None:
    world = world_of(*items)
    status = plugin_of(world).pre_enqueue(world.info(incoming))
    assert status == (Status(NEVER, (reason,)) if reason else SUCCESS)


def test_a_claim_whose_allocation_is_on_its_way_has_to_be_waited_for() -> None:
    world = world_of(claim())
    first, second = world.info(claiming("c")), world.info(claiming("c", name="second"))
    plugin, nodes = plugin_of(world), world.all_nodes()
    state = prepared(world, first).state
    plugin.filter(state, first, nodes)
    assert plugin.reserve(state, first, "n1") == SUCCESS
    waits = "resource claim default/c is in the process of being allocated"
    assert prepared(world, second).rejection == Status(NEVER, (waits,))
    plugin.unreserve(state, first, "n1")
    assert prepared(world, second).rejection is None


# ---------------------------------------------------------------- filtering and after


def test_pre_bind_writes_allocation_user_and_protection() -> None:
    world = world_of(claim())
    plugin, nodes, incoming = plugin_of(world), world.all_nodes(), world.info(claiming("c"))
    state = prepared(world, incoming).state
    plugin.filter(state, incoming, nodes)
    plugin.reserve(state, incoming, "n2")
    assert [held.results[0].pool for held in state.devices()] == ["n2"]
    assert plugin.pre_bind(state, incoming, "n2") == SUCCESS
    written = world.objects.get(ResourceClaim, "default/c")
    assert written is not None
    assert written.status.allocation is not None
    assert written.status.allocation.allocation_timestamp == 0
    assert [user.name for user in written.status.reserved_for] == ["incoming"]
    assert written.metadata.finalizers == (DELETE_PROTECTION,)
    assert world.devices.pending_allocation(written.uid) is None
    plugin.unreserve(state, incoming, "n2")
    released = world.objects.get(ResourceClaim, "default/c")
    assert released is not None
    assert released.status.reserved_for == ()
    assert released.status.allocation is not None


WAITS = {"binding_conditions": ("Attached",), "binding_failure_conditions": ("Broken",)}


def condition(kind: str, status: str = "True") -> DeviceCondition:
    return DeviceCondition(type=kind, status=status, reason="Cable", message='no "link"')


def with_reports(reported: Sequence[DeviceCondition], *, allocated_at_s: int) -> ResourceClaim:
    """A claim that holds a device which has to get ready, and what its driver says of that."""
    made = claim("c", holds=("n1/g0",), on="n1")
    allocation = made.status.allocation
    assert allocation is not None
    [held] = allocation.devices.results
    devices = replace(allocation.devices, results=(replace(held, **WAITS),))
    allocation = replace(
        allocation, devices=devices, allocation_timestamp=allocated_at_s * 1_000_000_000
    )
    reports = [
        AllocatedDeviceStatus(
            driver=held.driver, pool=held.pool, device=held.device, conditions=tuple(reported)
        )
    ]
    return replace(made, status=replace(made.status, allocation=allocation, devices=tuple(reports)))


def test_pre_bind_waits_for_devices_that_have_to_get_ready() -> None:
    world = world_of(with_reports([condition("Warm")], allocated_at_s=0))
    incoming = world.info(claiming("c"))
    state = prepared(world, incoming).state
    assert plugin_of(world).pre_bind(state, incoming, "n1") == SUCCESS
    text = "waiting for binding conditions for device on node n1"
    assert world.recorded == [("default/incoming", "BindingConditionsPending", text)]
    written = world.objects.get(ResourceClaim, "default/c")
    assert written is not None
    [reported] = written.status.devices
    assert [(each.type, each.status) for each in reported.conditions] == [
        ("Warm", "True"),
        ("Attached", "True"),
    ]


@pytest.mark.parametrize(
    ("reported", "age_s", "message"),
    [
        (
            [condition("Broken")],
            0,
            'device binding failed: claim=c, reason=Cable, message="no \\"link\\""',
        ),
        ([condition("Attached", "False")], 601, "device binding timeout: claim=c"),
        ([condition("Attached", "False")], 599, ""),
        ([condition("Attached")], 601, ""),
        ([condition("Broken", "False")], 0, ""),
    ],
)
def test_pre_bind_fails_for_devices_that_failed_or_had_their_time(
    reported: list[DeviceCondition], age_s: int, message: str
) -> None:
    world = world_of(with_reports(reported, allocated_at_s=1))
    world.now = (1 + age_s) * 1_000_000_000
    incoming = world.info(claiming("c"))
    state = prepared(world, incoming).state
    status = plugin_of(world).pre_bind(state, incoming, "n1")
    assert status == (Status(Code.ERROR, (message,)) if message else SUCCESS)


def test_without_the_gate_nothing_waits() -> None:
    features = FeatureGates((("DRADeviceBindingConditions", False),))
    stored = with_reports([condition("Broken")], allocated_at_s=0)
    world = world_of(stored, features=features)
    incoming = world.info(claiming("c"))
    state = prepared(world, incoming).state
    assert plugin_of(world).pre_bind(state, incoming, "n1") == SUCCESS
    assert world.recorded == []


def test_no_claim_has_more_than_256_users() -> None:
    users = [f"p{i}" for i in range(256)]
    world = world_of(claim("c", holds=("n1/g0",), on="n1", users=users))
    incoming = world.info(claiming("c"))
    status = plugin_of(world).pre_bind(prepared(world, incoming).state, incoming, "n1")
    assert status.code is Code.ERROR
    assert "status.reservedFor: Too many: 257: must have at most 256 items" in status.message


@pytest.mark.parametrize(
    ("users", "message"),
    [
        ([], "deallocation of ResourceClaim completed"),
        (["incoming"], "deallocation of ResourceClaim completed"),
        (["other"], "still not schedulable"),
    ],
)
def test_post_filter_deallocates_what_nobody_else_uses(users: list[str], message: str) -> None:
    world = world_of(claim("c", holds=("n1/g0",), on="n1", users=users))
    incoming, nodes = world.info(claiming("c")), world.all_nodes()
    state = prepared(world, incoming).state
    assert rejected(plugin_of(world).filter(state, incoming, nodes), nodes) == {
        "n2": (NEVER, ("resourceclaim not available on the node",))
    }
    assert post_filter(world, incoming, state) == message
    left = world.objects.get(ResourceClaim, "default/c")
    assert left is not None
    assert (left.status == ResourceClaimStatus()) is message.startswith("deallocation")


@pytest.mark.parametrize(
    ("release", "nominated", "message"),
    [
        ("1.36.3", "n1", "still not schedulable"),
        ("1.37.2", "n1", "preemption: 0/1 nodes are available"),
        ("1.36.3", "", "deallocation of ResourceClaim completed"),
        ("1.37.2", "", "deallocation of ResourceClaim completed"),
    ],
)
def test_a_node_that_nominated_pods_fill_is_not_filtered_without_them(
    release: str, nominated: str, message: str
) -> None:
    """Filter does not come to the claim where a nominated pod has made the node too small.

    Upstream: v1.37 deallocateOrDeletePodClaims ends with a status without a reason (#140222).
    """
    gone = claim("c", holds=("gone/g0",), on="gone")
    boss = make_pod("boss").cpu(2).priority(100).preemption_policy("Never").nominated(nominated)
    boss = boss.node_selector("disk", "ssd")
    use = PodResourceClaim(name="c", resource_claim_name="c")
    incoming = make_pod("incoming").cpu(1).spec(resource_claims=(use,)).obj()
    gates = FeatureGates((), RELEASES[release])
    objects = make_node("n1").cpu(2).obj(), device_class(), gone, boss.obj(), incoming
    cluster = Cluster(*objects, features=gates)
    cluster.attempt()
    outcome = cluster.attempt().post_filter
    assert outcome is not None
    assert outcome.status.reasons[0].startswith(message)
    left = cluster.server.get(ResourceClaim, "default/c")
    assert left is not None
    assert (left.status.allocation is None) is message.startswith("deallocation")


# ---------------------------------------------------------------- extended resources


def test_extended_resources_become_requests_of_one_claim() -> None:
    big = device_class("big", extended="example.com/gpu")
    world = world_of(big)
    init = replace(container({"example.com/gpu": "3"}), name="setup")
    main = replace(container({"cpu": "1", "example.com/gpu": "2"}), name="main")
    incoming = world.info(make_pod("incoming").containers(main).init_containers(init).obj())
    special = special_claim(incoming, world.devices)
    assert special is not None
    made = node_claim(special, incoming.pod, ["example.com/gpu"], world.devices)
    requests = made.claim.spec.devices.requests
    assert [(r.name, r.exactly and r.exactly.count) for r in requests] == [
        ("container-0-request-0", 1),
        ("container-1-request-1", 2),
    ]
    assert [(m.container_name, m.request_name) for m in made.mappings] == [
        ("main", "container-1-request-1"),
        ("setup", "container-1-request-1"),
        ("setup", "container-0-request-0"),
    ]


def test_a_claim_for_extended_resources_is_made_where_the_node_has_none() -> None:
    gpu = "example.com/gpu"
    world = World(
        make_node("n1").obj(),
        node_with_resource("n2", gpu, "4"),
        device_class("big", extended=gpu),
        resource_slice("s1", device("g0"), node="n1"),
    )
    incoming = world.info(make_pod("incoming").request(gpu, "1").obj())
    plugin, nodes = plugin_of(world), world.all_nodes()
    state = prepared(world, incoming).state
    assert rejected(plugin.filter(state, incoming, nodes), nodes) == {}
    assert plugin.reserve(state, incoming, "n2") == SUCCESS
    assert plugin.pre_bind(state, incoming, "n2") == SUCCESS
    assert list(world.objects.all(ResourceClaim)) == []
    assert plugin.reserve(state, incoming, "n1") == SUCCESS
    assert plugin.pre_bind(state, incoming, "n1") == SUCCESS
    [made] = world.objects.all(ResourceClaim)
    assert made.name == "incoming-extended-resources-1"
    told = world.extended_claims["default/incoming"]
    assert told.resource_claim_name == made.name
    assert [(m.resource_name, m.request_name) for m in told.request_mappings] == [
        (gpu, "container-0-request-0")
    ]
    plugin.unreserve(state, incoming, "n1")
    assert list(world.objects.all(ResourceClaim)) == []


def test_of_two_classes_for_one_resource_the_newer_counts() -> None:
    def born(name: str, at_ns: int) -> DeviceClass:
        made = device_class(name, extended="example.com/gpu")
        return replace(made, metadata=replace(made.metadata, creation_timestamp=at_ns))

    world = World(born("old", 1), born("new", 2), born("older", 0))
    found = world.devices.class_for("example.com/gpu")
    assert found is not None
    assert found.name == "new"
    implicit = world.devices.class_for("deviceclass.resource.kubernetes.io/new")
    assert implicit is not None
    assert world.devices.class_for("deviceclass.resource.kubernetes.io/nope") is None


# ---------------------------------------------------------------- queueing hints


def test_what_a_change_of_a_claim_means_to_a_waiting_pod() -> None:
    held = claim("other", holds=("n1/g0",), on="n1")
    world = world_of(claim(), held)
    incoming = world.info(claiming("c"))
    hint = plugin_of(world).events_to_register()[1].hint
    assert hint is not None
    mine, freed = claim(), replace(held, status=ResourceClaimStatus())
    relabelled = replace(mine, metadata=replace(mine.metadata, labels={"a": "b"}))
    allocated = claim("c", holds=("n1/g0",))
    assert hint(incoming, held, freed) is QueueingHint.QUEUE
    assert hint(incoming, None, mine) is QueueingHint.QUEUE
    assert hint(incoming, mine, allocated) is QueueingHint.QUEUE
    assert hint(incoming, mine, relabelled) is QueueingHint.SKIP
    assert hint(incoming, None, held) is QueueingHint.SKIP
    lost = world.info(claiming("gone", name="lost"))
    assert hint(lost, held, freed) is QueueingHint.SKIP
