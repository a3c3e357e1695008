"""Each bug of the scheduler in the smallest cluster it decides in; and what to write instead.

What kviz does there is what the recordings show; `tests/sim/test_crashes.py` has the panics, which
are named only.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace as replace_with
from typing import NamedTuple, get_args

import pytest
from msgspec.structs import replace

from scheduler_core.analysis.advice.bugs import FoundBug, bugs_about
from scheduler_core.analysis.advice.single_attempt import attempt_once
from scheduler_core.analysis.advice.trial import Trials
from scheduler_core.analysis.advice.unblock import unblock
from scheduler_core.api import (
    Affinity,
    Counter,
    CounterSet,
    DeviceConstraint,
    DeviceTaint,
    KubeObject,
    LabelSelector,
    LabelSelectorRequirement,
    Namespace,
    NodeAffinity,
    ObjectMeta,
    PodAffinityTerm,
    PodAntiAffinity,
    PodResourceClaim,
    TopologySpreadConstraint,
)
from scheduler_core.config import FeatureGates, load_configuration
from scheduler_core.extender.transport import Reply, TLSSettings
from scheduler_core.releases import RELEASES
from scheduler_core.releases.bugs import BUGS, BugName
from scheduler_core.scheduler.assembly import SchedulerOptions
from scheduler_core.sim import RunOptions
from tests.builders import HOSTNAME, PodBuilder, budget, make_node, make_pod
from tests.devices.factories import (
    DRIVER,
    claim,
    device,
    device_class,
    exactly,
    named_node,
    resource_slice,
)

Objects = Sequence[KubeObject]
BROKEN = (DeviceTaint(key="broken", effect="NoSchedule"),)
MEMORY_40GI = (CounterSet(name="shared", counters={"memory": Counter(value="40Gi")}),)
EVERY_NAMESPACE = LabelSelectorRequirement(key="kubernetes.io/metadata.name", operator="Exists")
UNTAGGED = LabelSelectorRequirement(key="team", operator="NotIn", values=("a",))


class Example(NamedTuple):
    """Where a bug decides about pod `p`, the same with what is to be written instead, and words."""

    wrong: Objects
    right: Objects
    said: str = ""


def wanting() -> PodBuilder:
    wanted = PodResourceClaim(name="d", resource_claim_name="c")
    return make_pod("p").spec(resource_claims=(wanted,))


def partitions(where: str = "", taint: bool = True) -> Objects:
    """A whole device that is broken, and a partition of the same counters that is not."""
    return (
        make_node("n").obj(),
        device_class(),
        claim("c", exactly(where=where)),
        resource_slice("s0", node="n", count=2, shared_counters=MEMORY_40GI),
        resource_slice(
            "s1",
            device("a-whole", counters={"memory": "40Gi"}, taints=BROKEN, whole=True),
            device("b-part", counters={"memory": "20Gi"}, whole=False),
            node="n",
            count=2,
        ),
        wanting().obj(),
    )


def refused_devices() -> Example:
    part = f'!device.attributes["{DRIVER}"].whole'
    return Example(
        partitions(),
        partitions(part),
        "v1.36.3 has mended it: it takes gpu.example.com/n/b-part on n.",
    )


def distinct(*requests: object) -> Objects:
    constraint = DeviceConstraint(distinct_attribute=f"{DRIVER}/k")
    devices = [device("x0", k="x"), device("y", k="y"), device("x1", k="x")]
    return (
        make_node("n").obj(),
        device_class(),
        claim("c", *requests, constraints=[constraint]),  # type: ignore[arg-type]
        resource_slice("s", *devices, node="n"),
        wanting().obj(),
    )


def neighbours_distinct() -> Example:
    each = [
        exactly(f"r{value}", where=f'device.attributes["{DRIVER}"].k == "{value}"')
        for value in ("x", "y")
    ]
    return Example(distinct(exactly(count=3)), distinct(*each), "no node takes it")


def apart_where(*requirements: LabelSelectorRequirement) -> Objects:
    term = PodAffinityTerm(
        topology_key=HOSTNAME,
        label_selector=LabelSelector(match_labels={"app": "a"}),
        namespace_selector=LabelSelector(match_expressions=requirements),
    )
    apart = PodAntiAffinity(required_during_scheduling_ignored_during_execution=(term,))
    labels = {"kubernetes.io/metadata.name": "a", "team": "a"}
    return (
        Namespace(metadata=ObjectMeta(name="a", labels=labels)),
        make_node("n").obj(),
        make_pod("a").namespace("a").label("app", "a").on("n").obj(),
        make_pod("p").affinity(Affinity(pod_anti_affinity=apart)).obj(),
    )


def namespaces_without_labels() -> Example:
    return Example(apart_where(UNTAGGED), apart_where(UNTAGGED, EVERY_NAMESPACE), "bound to n")


def used_up(labels: dict[str, str]) -> Objects:
    """Two nodes to evict from: two pods of which one may be in two budgets, or a dearer one."""
    plain = budget("b", allowed=1)
    tier = LabelSelector(match_labels={"tier": "b"})
    return (
        make_node("n1").cpu(2).obj(),
        make_node("n2").cpu(2).obj(),
        budget("a", allowed=0),
        replace(plain, spec=replace(plain.spec, selector=tier)),
        make_pod("both").cpu(1).priority(1).label("app", "a").labels(labels).on("n1").obj(),
        make_pod("only-b").cpu(1).label("tier", "b").on("n1").obj(),
        make_pod("dear").cpu(2).priority(5).label("app", "a").on("n2").obj(),
        make_pod("p").cpu(2).priority(9).obj(),
    )


def budgets_used_up() -> Example:
    said = "it evicts default/both, default/only-b on n1"
    return Example(used_up({"tier": "b"}), used_up({}), said)


def spread(selector: LabelSelector | None) -> Objects:
    constraint = TopologySpreadConstraint(
        max_skew=1,
        topology_key=HOSTNAME,
        when_unsatisfiable="DoNotSchedule",
        label_selector=selector,
    )
    return (
        make_node("n1").label(HOSTNAME, "n1").cpu(9).obj(),
        make_node("n2").label(HOSTNAME, "n2").cpu(2).obj(),
        make_pod("a").label("app", "a").on("n1").obj(),
        make_pod("p")
        .label("app", "a")
        .cpu(2)
        .spec(topology_spread_constraints=(constraint,))
        .obj(),
    )


def empty_spread_selector() -> Example:
    named = LabelSelector(match_labels={"app": "a"})
    return Example(spread(LabelSelector()), spread(named), "topologySpreadConstraints[0]: ")


def no_spread_selector() -> Example:
    named = LabelSelector(match_labels={"app": "a"})
    return Example(spread(None), spread(named), "topologySpreadConstraints[0]: ")


def guarded(selector: LabelSelector) -> Objects:
    plain = budget("a", allowed=0)
    return (
        make_node("n").cpu(1).obj(),
        replace(plain, spec=replace(plain.spec, selector=selector)),
        make_pod("low").label("app", "a").cpu(1).on("n").obj(),
        make_pod("p").cpu(1).priority(9).obj(),
    )


def empty_budget_selector() -> Example:
    named = LabelSelector(match_labels={"app": "a"})
    return Example(guarded(LabelSelector()), guarded(named), "PodDisruptionBudget default/a: ")


def daemon(name: str, priority: int) -> PodBuilder:
    affinity = NodeAffinity(required_during_scheduling_ignored_during_execution=named_node("n"))
    pod = make_pod(name).cpu(1).owner("DaemonSet", name).priority(priority)
    return pod.affinity(Affinity(node_affinity=affinity))


def equals_keep_daemon() -> Example:
    def of(priority: int) -> Objects:
        full = make_node("n").cpu(1).obj(), make_pod("web").cpu(1).priority(0).on("n").obj()
        return (*full, make_node("m").cpu(1).obj(), daemon("p", priority).obj())

    return Example(of(0), of(1), "n, with default/web: ")


def daemon_evicted() -> Example:
    def of(priority: int) -> Objects:
        full = make_node("n").cpu(1).obj(), daemon("agent", priority).on("n").obj()
        return (*full, make_pod("p").cpu(1).priority(5).obj())

    return Example(of(0), of(9), "default/agent: ")


def admin_counters() -> Example:
    def of(counters: dict[str, str] | None = None) -> Objects:
        return (
            make_node("n").obj(),
            device_class(),
            claim("c", exactly(admin_access=True)),
            claim("held", holds=["n/g0"], on="n"),
            resource_slice("s0", node="n", count=2, shared_counters=MEMORY_40GI),
            resource_slice("s1", device("g0", counters=counters), node="n", count=2),
            wanting().obj(),
        )

    return Example(of(counters={"memory": "40Gi"}), of(), "ResourceSlice s1: ")


def all_of_incomplete_pool() -> Example:
    def of(count: int) -> Objects:
        return (
            make_node("n").obj(),
            device_class(),
            claim("c", exactly(count=0)),
            resource_slice("s", device("g0"), node="n"),
            resource_slice("t", device("h0"), node="n", pool="other", count=count),
            wanting().obj(),
        )

    return Example(of(2), of(1), "pool other: ")


def shares_charged_again() -> Example:
    def of(counters: dict[str, str] | None = None) -> Objects:
        return (
            make_node("n").obj(),
            device_class(),
            claim("c"),
            claim("held", holds=["n/g0/share-1"], on="n"),
            resource_slice("s0", node="n", count=2, shared_counters=MEMORY_40GI),
            resource_slice(
                "s1",
                device("g0", allow_multiple_allocations=True, counters=counters),
                node="n",
                count=2,
            ),
            wanting().obj(),
        )

    said = "v1.37.2 has mended it: it takes gpu.example.com/n/g0 on n."
    return Example(of(counters={"memory": "40Gi"}), of(), said)


def classes_of_one_resource() -> Example:
    def of(other: str) -> Objects:
        return (
            make_node("n").obj(),
            device_class("a", f'device.driver == "{DRIVER}x"', "example.com/gpu"),
            device_class("b", f'device.driver == "{DRIVER}"', other),
            resource_slice("s", device("g0"), node="n"),
            make_pod("p").request("example.com/gpu", 1).obj(),
        )

    return Example(of("example.com/gpu"), of("example.com/other"), "DeviceClass a, b: ")


EXAMPLES: dict[BugName, Callable[[], Example]] = {
    "refused_devices": refused_devices,
    "neighbours_distinct": neighbours_distinct,
    "namespaces_without_labels": namespaces_without_labels,
    "budgets_used_up": budgets_used_up,
    "empty_spread_selector": empty_spread_selector,
    "no_spread_selector": no_spread_selector,
    "empty_budget_selector": empty_budget_selector,
    "equals_keep_daemon": equals_keep_daemon,
    "daemon_evicted": daemon_evicted,
    "admin_counters": admin_counters,
    "all_of_incomplete_pool": all_of_incomplete_pool,
    "classes_of_one_resource": classes_of_one_resource,
    "shares_charged_again": shares_charged_again,
}


def found(
    objects: Objects, release: str = "1.36.2", options: SchedulerOptions | None = None
) -> list[FoundBug]:
    features = FeatureGates(release=RELEASES[release])
    options = replace_with(options or SchedulerOptions(), features=features)
    attempt = attempt_once(objects, "default/p", options)
    return list(bugs_about(objects, "default/p", options, attempt.node, attempt.message))


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_bug_is_told_where_it_decides(name: BugName) -> None:
    example = EXAMPLES[name]()
    for release, table in RELEASES.items():
        bugs = found(example.wrong, release)
        assert [each.name for each in bugs] == [name] * (name in table.bugs)
        for each in bugs:
            assert example.said in each.sentence
            assert BUGS[name].happens in each.sentence
            assert BUGS[name].instead in each.sentence
            assert each.upstream in each.sentence
        assert not found(example.right, release)


class NoVictims:
    """An extender that keeps every node, and of every candidate no victim."""

    def post(self, url: str, body: bytes, timeout_ns: int, tls: TLSSettings | None) -> Reply:
        meta = {"NodeNameToMetaVictims": {"n": {"Pods": [], "NumPDBViolations": 0}}}
        return Reply(200, json.dumps(meta).encode(), 0)


def extended(fields: str) -> SchedulerOptions:
    head = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    text = f"{head}extenders: [{{urlPrefix: 'http://e', {fields}}}]\n"
    return SchedulerOptions(configuration=load_configuration(text), transport=NoVictims())


def test_who_is_above_a_daemon_sets_pod_keeps_it_out_by_rights() -> None:
    full = make_node("n").cpu(1).obj(), make_pod("web").cpu(1).priority(1).on("n").obj()
    assert not found((*full, make_node("m").cpu(1).obj(), daemon("p", 0).obj()))


def test_an_extender_that_leaves_no_victims() -> None:
    objects = guarded(LabelSelector(match_labels={"app": "a"}))
    wrong = found(objects, options=extended("preemptVerb: preempt"))
    assert [each.name for each in wrong] == ["extender_without_victims"]
    assert not found(objects, options=extended("preemptVerb: preempt, ignorable: true"))


def test_an_extender_that_is_sent_whole_nodes() -> None:
    objects = (make_node("n").obj(), make_node("m").obj(), make_pod("p").obj())
    asked = extended("filterVerb: filter, nodeCacheCapable: false")
    without_calls = replace_with(asked, transport=None)
    (bug,) = found(objects, options=without_calls)
    assert bug.name == "extender_empties_nodes"
    assert bug.sentence.startswith("extender http://e: after an extender without nodeCacheCapable")
    asked = extended("filterVerb: filter, nodeCacheCapable: true")
    assert not found(objects, options=replace_with(asked, transport=None))


def test_every_bug_has_an_example_or_is_named_only() -> None:
    extenders = {"extender_empties_nodes", "extender_without_victims"}
    named_only = {name for name, bug in BUGS.items() if not bug.modelled}
    assert set(get_args(BugName)) == set(BUGS) == {*EXAMPLES, *extenders, *named_only}
    assert named_only == {"panic_balanced", "panic_capacity"}


def test_a_release_has_the_bugs_that_no_switch_of_it_mends() -> None:
    for table in RELEASES.values():
        for name, bug in BUGS.items():
            if bug.mended_by:
                assert (name in table.bugs) is not getattr(table.switches, bug.mended_by)


def test_tolerating_the_taint_of_a_refused_device_is_a_risk() -> None:
    search = unblock(Trials(partitions(), RunOptions()), "default/p")
    (*_, found) = search
    assert [each.harm for each in found.answers] == ["risk"]
    assert found.answers[0].warnings == (
        "the pod may get a device with the taint broken: first find out why it has it",
    )
