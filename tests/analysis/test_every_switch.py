"""One cluster that meets every change of a release: each difference has its cause, and no other.

Each part is the smallest cluster in which one change matters (`tests/releases`), on nodes of its
own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest
from msgspec.structs import replace

from scheduler_core.analysis.rehearsal import Kind, Rehearsal, rehearse
from scheduler_core.api import (
    ContainerStatus,
    Counter,
    CounterSet,
    DeviceDerivedAttribute,
    DeviceTaintRule,
    DeviceTaintRuleSpec,
    DeviceTaintSelector,
    ImageVolumeSource,
    KubeObject,
    LabelSelector,
    LabelSelectorRequirement,
    Namespace,
    Node,
    ObjectMeta,
    PodResourceClaim,
    PodStatus,
    Volume,
    VolumeMount,
)
from scheduler_core.config import FeatureGates, default_configuration
from scheduler_core.releases import RELEASES
from scheduler_core.sim import RunOptions, load_scenario
from tests.builders import NodeBuilder, PodBuilder, container, make_node, make_pod
from tests.devices.factories import claim, device, device_class, exactly, resource_slice
from tests.plugins import storage
from tests.plugins.placement import selector
from tests.releases.test_device_switches import (
    BROKEN,
    DISTINCT,
    K,
    grouped,
    half_a_pool,
    halves,
    pools_of_one_name,
)
from tests.releases.test_switches import apart_from, labelled_budget, requesting

PART: Final = "part"
MEBIBYTE: Final = 1 << 20
N_NODES: Final = 28
"""ImageLocality divides by them."""


def node(name: str) -> NodeBuilder:
    """A node of the part that its name begins with."""
    return make_node(name).label(PART, name.partition("-")[0]).cpu(1).pods(9)


def pod(name: str) -> PodBuilder:
    """A pod of the part that its name begins with, which goes nowhere else."""
    return make_pod(name).node_selector(PART, name.partition("-")[0]).label("app", name)


def claiming(name: str) -> KubeObject:
    wanted = PodResourceClaim(name="d", resource_claim_name=name)
    return pod(name).spec(resource_claims=(wanted,)).obj()


def of_devices() -> Iterator[KubeObject]:
    yield device_class()
    # refused_devices_give_back
    yield node("give").obj()
    counters = (CounterSet(name="shared", counters={"memory": Counter(value="2Gi")}),)
    yield resource_slice("give-0", node="give", count=2, shared_counters=counters)
    both = (
        device("broken", counters={"memory": "2Gi"}, taints=BROKEN),
        device("sound", counters={"memory": "2Gi"}),
    )
    yield resource_slice("give-1", *both, node="give", count=2)
    yield from (claim("give"), claiming("give"))
    # claim_deletion_events
    yield node("freed").obj()
    yield resource_slice("freed", device("g0"), node="freed")
    yield from (claim("freed-held", holds=("freed/g0",)), claim("freed"), claiming("freed"))
    # distinct_among_all
    yield node("distinct").obj()
    devices = (device("x0", k="x"), device("y", k="y"), device("x1", k="x"))
    yield resource_slice("distinct", *devices, node="distinct")
    yield claim("distinct", exactly(count=3), constraints=[DISTINCT])
    yield claiming("distinct")
    # shares_charged_once
    yield node("share").obj()
    taking = device("g0", counters={"memory": "2Gi"}, allow_multiple_allocations=True)
    yield resource_slice("share-0", node="share", pool="share", count=2, shared_counters=counters)
    yield resource_slice("share-1", taking, node="share", pool="share", count=2)
    yield claim("share-held", holds=["share/g0/1"], on="share")
    yield from (claim("share"), claiming("share"))
    # counters_by_driver
    yield node("drivers").obj()
    yield from pools_of_one_name("drivers", "drivers")
    yield from (claim("drivers", exactly(count=2)), claiming("drivers"))
    # all_despite_use
    yield node("all").obj()
    yield resource_slice("all", *halves("g0", "g1"), node="all")
    yield claim("all-held", holds=["all/g0/1"], on="all", consumed={"memory": "2Gi"})
    yield claim("all", exactly(count=0, capacity={"memory": "2Gi"}))
    yield claiming("all")
    # claim_limit_by_request
    yield node("limit").obj()
    yield resource_slice("limit", device("g0"), node="limit")
    yield from (claim("limit", exactly(count=33)), claiming("limit"))
    # capacities_in_range
    yield node("range").obj()
    yield resource_slice("range", *halves("g0"), node="range")
    yield from (claim("range", exactly(capacity={"memory": "-1Gi"})), claiming("range"))
    # cel_errors_name_device
    yield node("error").obj()
    yield resource_slice("error", device("g0"), node="error")
    yield claim("error", exactly(where='device.attributes["gpu.example.com"].nope == "x"'))
    yield claiming("error")
    # compatibility_groups_withheld
    yield node("groups").obj()
    yield from (*grouped("groups"), claim("groups"), claiming("groups"))
    # list_attributes_read
    yield node("list").obj()
    yield resource_slice("list", device("g0", k=("x", "y")), node="list")
    yield from (claim("list", exactly(where=f'"y" in {K}')), claiming("list"))
    # derived_attributes_refused
    yield node("derived").obj()
    yield resource_slice("derived", device("g0"), node="derived")
    yield claim("derived", exactly(derived_attributes=(DeviceDerivedAttribute(),)))
    yield claiming("derived")
    # DRADeviceTaintRules
    yield node("rule").obj()
    yield resource_slice("rule", device("g0"), node="rule")
    tainted = DeviceTaintRuleSpec(device_selector=DeviceTaintSelector(pool="rule"), taint=BROKEN[0])
    yield DeviceTaintRule(metadata=ObjectMeta(name="rule", uid="rule"), spec=tainted)
    yield from (claim("rule"), claiming("rule"))


def of_queue_and_placement() -> Iterator[KubeObject]:
    # placement_in_message, and with it quiet_claim_post_filter
    yield node("told").obj()
    yield pod("told-low").cpu(1).on("told").obj()
    yield pod("told-high").cpu(1).priority(9).obj()
    # quiet_claim_post_filter
    yield from (node("quiet").obj(), pod("quiet").cpu(2).obj())
    # narrow_taint_events
    yield node("taint").taint("a", effect="PreferNoSchedule").obj()
    yield pod("taint").cpu(2).obj()
    # any_anti_affinity_term
    yield from (node("term").obj(), pod("term-a").on("term").obj())
    yield pod("term").affinity(apart_from("term-a", "term-b")).obj()
    # gated_pods_nominated
    yield node("gate").obj()
    yield pod("gate-gated").cpu(1).priority(9).gate("g").nominated("gate").obj()
    yield pod("gate").cpu(1).obj()
    # unlabelled_namespaces_apart
    yield Namespace(metadata=ObjectMeta(name="tagged", labels={"tag": "1"}))
    untagged = LabelSelector(
        match_expressions=(LabelSelectorRequirement(key="tag", operator="DoesNotExist"),)
    )
    yield node("space").obj()
    yield pod("space-a").namespace("tagged").on("space").obj()
    yield pod("space").affinity(apart_from("space-a", namespace_selector=untagged)).obj()
    # budgets_spared
    yield from (node("spare-two").cpu(2).obj(), node("spare-one").cpu(2).obj())
    yield labelled_budget("a-none", {"a": "1"}, 0)
    yield labelled_budget("b-one", {"b": "1"}, 1)
    two, one = pod("spare-both").cpu(1).priority(1), pod("spare-b").cpu(1)
    yield two.labels({"a": "1", "b": "1"}).on("spare-two").obj()
    yield one.labels({"b": "1"}).on("spare-two").obj()
    yield pod("spare-a").cpu(2).priority(5).labels({"a": "1"}).on("spare-one").obj()
    yield pod("spare").cpu(2).priority(9).obj()


def of_requests_and_volumes() -> Iterator[KubeObject]:
    # image_volumes_raise_limit
    yield (
        node("image-has")
        .cpu(100)
        .memory("100Gi")
        .images({"data:1": 512 * MEBIBYTE * N_NODES})
        .obj()
    )
    yield node("image-free").cpu(100).memory("100Gi").obj()
    yield pod("image-full").cpu(35).memory("35Gi").on("image-has").obj()
    data = Volume(name="v", image=ImageVolumeSource(reference="data:1"))
    yield pod("image").containers(container(image="app:1")).volumes(data).obj()
    # requests_by_pod
    status = PodStatus(
        container_statuses=(
            ContainerStatus(name="grows", resources=requesting("1")),
            ContainerStatus(name="shrinks", resources=requesting("2")),
        )
    )
    resized = pod("resize-other").containers(
        replace(container({"cpu": "2"}), name="grows"),
        replace(container({"cpu": "1"}), name="shrinks"),
    )
    yield node("resize").cpu(4).obj()
    yield from (resized.status(status).on("resize").obj(), pod("resize").cpu(1).obj())
    # mount_options_required
    mounting = VolumeMount(bind_mount_options=("noexec",))
    yield node("mount").obj()
    yield pod("mount").containers(replace(container(), volume_mounts=(mounting,))).obj()
    # StorageCapacityScoring
    yield from (node("store-much").cpu(100).obj(), node("store-little").cpu(100).obj())
    yield pod("store-full").cpu(20).on("store-much").obj()
    yield from (storage.csi_driver(storage_capacity=True), storage.storage_class())
    yield storage.pool("much", selector(("kubernetes.io/hostname", "In", "store-much")), "100Gi")
    yield storage.pool("little", selector(("kubernetes.io/hostname", "In", "store-little")), "10Gi")
    yield storage.claim("store", size="10Gi")
    yield pod("store").volumes(*storage.uses("store")).obj()
    # VolumeLimitScaling
    yield node("driver").obj()
    yield storage.csi_driver("strict", prevent_pod_scheduling_if_missing=True)
    yield storage.volume("v-driver", "old", driver="strict")
    yield storage.claim("driver", "old", volume="v-driver")
    yield pod("driver").volumes(*storage.uses("driver")).obj()


def objects() -> list[KubeObject]:
    return [*of_devices(), *of_queue_and_placement(), *of_requests_and_volumes()]


SCENARIO: Final = """
steps:
- {at: 20s, untaint: {node: taint, key: a}}
- {at: 30s, delete: {kind: Pod, name: term-a}}
- {at: 30s, delete: {kind: ResourceClaim, name: freed-held}}
until: 2m
"""

ENDS: Final = {
    "all": "all_despite_use",
    "derived": "derived_attributes_refused",
    "distinct": "distinct_among_all",
    "driver": "VolumeLimitScaling",
    "drivers": "counters_by_driver",
    "freed": "claim_deletion_events",
    "gate": "gated_pods_nominated",
    "give": "refused_devices_give_back",
    "groups": "compatibility_groups_withheld",
    "image": "image_volumes_raise_limit",
    "list": "list_attributes_read",
    "mount": "mount_options_required",
    "range": "capacities_in_range",
    "resize": "requests_by_pod",
    "rule": "DRADeviceTaintRules",
    "share": "shares_charged_once",
    "space": "unlabelled_namespaces_apart",
    "spare": "budgets_spared",
    "spare-a": "budgets_spared",
    "spare-b": "budgets_spared",
    "spare-both": "budgets_spared",
    "store": "StorageCapacityScoring",
    "term": "any_anti_affinity_term",
}
MESSAGES: Final = {
    "error": ["cel_errors_name_device"],
    "limit": ["claim_limit_by_request"],
    "quiet": ["quiet_claim_post_filter"],
    "taint": ["quiet_claim_post_filter"],
    "told-high": ["placement_in_message", "quiet_claim_post_filter", "narrow_taint_events"],
}
WITHOUT_EFFECT: Final = {
    "target_pod_events": "the hints of other pods' changes were never worth an attempt",
    "scale_up_events": "a pod that grows was not woken before, either",
    "batches_rescore": "the hint is the node that would be picked without it",
    "config_for_all_requests": "it is written into claims, which decide nothing by it",
    "preemptors_activated": "no victim of these is still being bound",
    "gated_pods_flushed": "it comes after five minutes, and the gate is still closed",
    "rules_need_selector": "no rule counts before, as its gate is off",
    "stray_users_counted": "every node of a pod is there",
    "node_name_first": "a pod that has a nodeName is not scheduled",
    "group_post_filter_sets": "it lets configurations be read, and changes nothing in others",
    "PodLevelResourcesFixDefaulting": "a gate of the API server",
    "PodLevelResourcesFixKubeletQOSClass": "a gate of the kubelet",
}
"""Switches that let no pod end, hear or wait otherwise."""


def half_a_pool_elsewhere() -> list[KubeObject]:
    """A cluster for `counters_of_own_nodes`, which would reach all others that ask for devices."""
    here = (node("here").obj(), resource_slice("here", device("g0"), node="here"))
    wanted = (claim("here", exactly(count=0)), claiming("here"))
    return [device_class(), *here, *wanted, node("there").obj(), half_a_pool("there")]


def rehearsed(to: str, items: list[KubeObject]) -> Rehearsal:
    def options_for(features: FeatureGates) -> RunOptions:
        scenario = load_scenario(SCENARIO)
        configuration = default_configuration(features)
        return RunOptions(configuration=configuration, features=features, scenario=scenario)

    old, new = (options_for(FeatureGates((), RELEASES[name])) for name in ("1.36.2", to))
    return rehearse(items, old, new, options_for)


def causes(found: Rehearsal, kind: Kind) -> dict[str, list[str]]:
    pods = sorted(found.pods(kind))
    return {pod.removeprefix("default/"): list(found.because(pod, kind)) for pod in pods}


@pytest.mark.slow("a run for each of twenty changes, and for halves of them")
def test_every_difference_has_its_cause() -> None:
    assert sum(isinstance(each, Node) for each in objects()) == N_NODES
    found = rehearsed("1.37.2", objects())
    elsewhere = rehearsed("1.37.2", half_a_pool_elsewhere())
    assert causes(elsewhere, "end") == {"here": ["counters_of_own_nodes"]}
    assert causes(found, "end") == {pod: [name] for pod, name in ENDS.items()}
    assert causes(found, "message") == MESSAGES
    woken = {pod: ["narrow_taint_events"] for pod in ("quiet", "taint", "told-high")}
    assert causes(found, "tries") == woken
    named = {name for because in MESSAGES.values() for name in because} | {*ENDS.values()}
    assert found.changes.keys() - named - {"counters_of_own_nodes"} == WITHOUT_EFFECT.keys()


def test_a_patch_has_the_one_change_that_it_has() -> None:
    assert causes(rehearsed("1.36.3", objects()), "end") == {"give": ["refused_devices_give_back"]}
