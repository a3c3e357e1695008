"""One test per switch: the smallest cluster in which it matters, off and on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import pytest
from msgspec.structs import replace

from scheduler_core.api import (
    Affinity,
    Container,
    ContainerStatus,
    ImageVolumeSource,
    LabelSelector,
    LabelSelectorRequirement,
    Namespace,
    ObjectMeta,
    PodAffinityTerm,
    PodAntiAffinity,
    PodDisruptionBudget,
    PodDisruptionBudgetSpec,
    PodDisruptionBudgetStatus,
    PodStatus,
    ResourceRequirements,
    Toleration,
    Volume,
    VolumeMount,
)
from scheduler_core.config import ConfigError, load_configuration
from scheduler_core.config.defaults import default_plugins
from scheduler_core.plugins.image_locality import ImageLocality
from scheduler_core.queue.event_changes import pod_scheduling_properties_change
from scheduler_core.trace.events import QueueMoved
from scheduler_core.trace.records import Queue
from tests.builders import HOSTNAME, PodBuilder, container, make_node, make_pod
from tests.plugins import storage
from tests.plugins.harness import World
from tests.releases.switching import with_switch
from tests.scheduler.steps import WAIT, Steps
from tests.simulated import Cluster, not_scheduled

BOTH = pytest.mark.parametrize("on", [False, True])
LISTED = """\
  pluginConfig:
  - name: PodTopologySpread
    args: {defaultingType: List}
"""
PROFILE = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    podGroupPostFilter: {}
"""


@BOTH
def test_the_message_after_preemption(on: bool) -> None:
    cluster = Cluster(
        make_node("n").cpu(1).obj(),
        make_pod("low").cpu(1).on("n").obj(),
        make_pod("high").cpu(1).priority(9).obj(),
        features=with_switch("placement_in_message", on),
    )
    found = " preemption: found a potential placement for pod on node n, preempting 1 victims"
    plain = "0/1 nodes are available: 1 Insufficient cpu."
    assert not_scheduled(cluster.attempt()).message == plain + (found if on else "")


@BOTH
def test_nothing_to_deallocate_is_not_worth_a_word(on: bool) -> None:
    cluster = Cluster(
        make_node("n").cpu(1).obj(),
        make_pod("p").cpu(2).obj(),
        features=with_switch("quiet_claim_post_filter", on),
    )
    said = "no new claims to deallocate" in not_scheduled(cluster.attempt()).message
    assert said is not on


@BOTH
def test_whose_change_an_event_is_about(on: bool) -> None:
    cluster = Cluster(
        make_node("n").taint("a").obj(),
        make_pod("other").on("n").obj(),
        make_pod("waiter").obj(),
        features=with_switch("target_pod_events", on),
    )
    cluster.attempt()
    for name in ("other", "waiter"):
        pod = cluster.pod(name)
        tolerations = (Toleration(key="b", operator="Exists"),)
        cluster.server.update(replace(pod, spec=replace(pod.spec, tolerations=tolerations)))
    change = "UpdatePodToleration"
    if on:
        listened_to = ["UnscheduledPodAdd", "ScheduleAttemptFailure", f"TargetPod{change}"]
    else:
        listened_to = ["UnschedulablePodAdd", "ScheduleAttemptFailure"]
        listened_to += [f"AssignedPod{change}", f"UnschedulablePod{change}"]
    assert cluster.moves("waiter") == listened_to


@BOTH
def test_a_changed_taint_wakes_only_whom_a_taint_kept_away(on: bool) -> None:
    cluster = Cluster(
        make_node("n").cpu(1).taint("a", effect="PreferNoSchedule").obj(),
        make_pod("large").cpu(2).obj(),
        features=with_switch("narrow_taint_events", on),
    )
    cluster.attempt()
    cluster.server.update(make_node("n").cpu(1).obj())
    assert ("NodeUpdateNodeTaint" in cluster.moves("large")) is not on


@BOTH
def test_a_waiting_pod_that_grows_makes_an_event_of_its_own(on: bool) -> None:
    cluster = Cluster(
        make_node("n").cpu(1).obj(),
        make_pod("p").cpu(2).obj(),
        features=with_switch("scale_up_events", on),
    )
    cluster.attempt()
    pod = cluster.pod("p")
    larger = replace(pod, spec=replace(pod.spec, containers=(container({"cpu": "3"}),)))
    events = pod_scheduling_properties_change(
        cluster.info("p"),
        cluster.scheduler.cache.columns.templates.info(larger),
        with_switch("scale_up_events", on).switches,
    )
    event = "UnschedulablePodUpdatePodScaleUp" if on else "UnschedulablePodUpdate"
    assert [each.label for each in events] == [event]
    cluster.server.update(larger)
    assert cluster.parked() == ["p"]


def apart_from(*apps: str, **namespaces: LabelSelector) -> Affinity:
    terms = [
        PodAffinityTerm(
            topology_key=HOSTNAME,
            label_selector=LabelSelector(match_labels={"app": app}),
            **namespaces,  # type: ignore[arg-type]
        )
        for app in apps
    ]
    return Affinity(
        pod_anti_affinity=PodAntiAffinity(
            required_during_scheduling_ignored_during_execution=tuple(terms)
        )
    )


@BOTH
def test_one_of_two_anti_affinity_terms_is_enough_to_wake_a_pod(on: bool) -> None:
    cluster = Cluster(
        make_node("n").obj(),
        make_pod("a").label("app", "a").on("n").obj(),
        make_pod("waiter").affinity(apart_from("a", "b")).obj(),
        features=with_switch("any_anti_affinity_term", on),
    )
    cluster.attempt()
    cluster.server.delete(cluster.pod("a"))
    assert (cluster.parked() == []) is on


@BOTH
def test_a_gated_pod_keeps_its_nominated_node_from_lesser_ones(on: bool) -> None:
    cluster = Cluster(
        make_node("n").cpu(1).obj(),
        make_pod("gated").cpu(1).priority(9).gate("g").nominated("n").obj(),
        make_pod("low").cpu(1).obj(),
        features=with_switch("gated_pods_nominated", on),
    )
    cluster.settle()
    assert cluster.node_of("low") == ("" if on else "n")


@BOTH
def test_a_selector_of_what_a_namespace_lacks_is_not_about_all_namespaces(on: bool) -> None:
    untagged = LabelSelector(
        match_expressions=(LabelSelectorRequirement(key="tag", operator="DoesNotExist"),)
    )
    cluster = Cluster(
        Namespace(metadata=ObjectMeta(name="tagged", labels={"tag": "1"})),
        make_node("n").obj(),
        make_pod("a").namespace("tagged").label("app", "a").on("n").obj(),
        make_pod("p").affinity(apart_from("a", namespace_selector=untagged)).obj(),
        features=with_switch("unlabelled_namespaces_apart", on),
    )
    cluster.settle()
    assert cluster.node_of("p") == ("n" if on else "")


@pytest.mark.parametrize(("on", "score"), [(False, 50), (True, 24)])
def test_an_image_volume_raises_what_scores_100(on: bool, score: int) -> None:
    mebibyte = 1 << 20
    volume = Volume(name="v", image=ImageVolumeSource(reference="data:1"))
    pod = make_pod("p").containers(container(image="app:1")).volumes(volume).obj()
    node = make_node("n").images({"data:1": 512 * mebibyte}).obj()
    world = World(node, features=with_switch("image_volumes_raise_limit", on))
    nodes = world.all_nodes()
    assert list(ImageLocality(world).score(None, world.info(pod), nodes)) == [score]


@BOTH
def test_a_resize_of_two_containers_crosswise(on: bool) -> None:
    resized = make_pod("resized").containers(
        replace(container({"cpu": "2"}), name="grows"),
        replace(container({"cpu": "1"}), name="shrinks"),
    )
    status = PodStatus(
        container_statuses=(
            ContainerStatus(name="grows", resources=requesting("1")),
            ContainerStatus(name="shrinks", resources=requesting("2")),
        )
    )
    cluster = Cluster(
        make_node("n").cpu(4).obj(),
        resized.status(status).on("n").obj(),
        make_pod("p").cpu(1).obj(),
        features=with_switch("requests_by_pod", on),
    )
    cluster.settle()
    assert cluster.node_of("p") == ("n" if on else "")


def requesting(cpu: str) -> ResourceRequirements:
    return ResourceRequirements(requests={"cpu": cpu})


def labelled_budget(name: str, labels: Mapping[str, str], allowed: int) -> PodDisruptionBudget:
    return PodDisruptionBudget(
        metadata=ObjectMeta(name=name, namespace="default"),
        spec=PodDisruptionBudgetSpec(selector=LabelSelector(match_labels=dict(labels))),
        status=PodDisruptionBudgetStatus(expected_pods=2, disruptions_allowed=allowed),
    )


@pytest.mark.parametrize(("on", "violations"), [(False, 2), (True, 1)])
def test_who_breaks_one_budget_leaves_the_others_alone(on: bool, violations: int) -> None:
    cluster = Cluster(
        make_node("n").cpu(2).obj(),
        labelled_budget("a-none", {"a": "1"}, 0),
        labelled_budget("b-one", {"b": "1"}, 1),
        make_pod("both").cpu(1).priority(1).labels({"a": "1", "b": "1"}).on("n").obj(),
        make_pod("only-b").cpu(1).labels({"b": "1"}).on("n").obj(),
        make_pod("high").cpu(2).priority(9).obj(),
        features=with_switch("budgets_spared", on),
    )
    (run,) = cluster.preempt().dry_runs
    assert run.n_pdb_violations == violations


@BOTH
def test_a_node_that_is_not_full_competes_for_the_next_hint(on: bool) -> None:
    pods = [make_pod(f"p{i}").cpu(1).obj() for i in range(2)]
    cluster = Cluster(
        make_node("large").cpu(64).obj(),
        make_node("small").cpu(2).obj(),
        *pods,
        profile=LISTED,
        features=with_switch("batches_rescore", on),
    )
    hints: Sequence[str] = [cluster.attempt().hint for _ in pods]
    assert hints == ["", "large" if on else ""]
    assert set(cluster.places().values()) == {"large"}


@BOTH
def test_gates_are_asked_again_after_five_minutes(on: bool) -> None:
    cluster = Cluster(
        make_node("n").obj(),
        make_pod("gated").gate("g").obj(),
        features=with_switch("gated_pods_flushed", on),
    )
    cluster.advance(11 * 60)
    moves = [each for each in cluster.trace if isinstance(each, QueueMoved)]
    flushed = [each.queue for each in moves if each.event == "UnschedulableTimeout"]
    assert flushed == ([Queue.GATED, Queue.GATED] if on else [])


@BOTH
def test_a_pod_whose_last_victim_was_still_being_bound_is_tried_at_once(on: bool) -> None:
    cluster = Cluster(
        make_node("n").cpu(1).obj(),
        make_pod("low").cpu(1).obj(),
        plugins=[Steps([], answers={"permit": WAIT}, timeout_seconds=600)],
        features=with_switch("preemptors_activated", on),
    )
    cluster.attempt()
    cluster.create(make_pod("high").cpu(1).priority(9).obj())
    cluster.attempt()
    assert cluster.queue.active_pods() == [cluster.queue.get("default/high")][: int(on)]
    assert cluster.backing_off() == (["low"] if on else ["high", "low"])


@BOTH
def test_a_changed_pod_that_is_in_no_queue_is_added(on: bool) -> None:
    cluster = Cluster(make_pod("p").obj(), features=with_switch("target_pod_events", on))
    pod = cluster.info("p")
    cluster.queue.delete(pod)
    cluster.queue.update(pod, pod)
    moves = [each.event for each in cluster.of_type(QueueMoved)]
    assert moves[-1] == ("UnscheduledPodAdd" if on else "UnschedulablePodUpdate")


@BOTH
def test_node_name_filters_first(on: bool) -> None:
    names = [
        each.name
        for each in default_plugins(with_switch("node_name_first", on)).multi_point.enabled
    ]
    first = names[names.index("PrioritySort") + 1 :]
    both = ["NodeName", "NodeUnschedulable"] if on else ["NodeUnschedulable", "NodeName"]
    assert first[:3] == [*both, "TaintToleration"]


@BOTH
def test_a_profile_may_set_the_post_filter_of_groups(on: bool) -> None:
    features = with_switch("group_post_filter_sets", on)
    text = PROFILE.format("{enabled: [{name: DefaultPreemption}]}")
    if on:
        (profile,) = load_configuration(text, features).profiles
        assert [each.name for each in profile.plugins.pod_group_post_filter.enabled] == [
            "DefaultPreemption"
        ]
        return
    with pytest.raises(ConfigError) as caught:
        load_configuration(text, features)
    (problem,) = caught.value.problems
    assert problem.message == 'unknown field "podGroupPostFilter"'


@pytest.mark.parametrize(("on", "waits"), [(False, []), (True, ["p"])])
def test_a_mount_with_options_needs_a_node_feature(on: bool, waits: list[str]) -> None:
    wanting = replace(container(), volume_mounts=(VolumeMount(bind_mount_options=("noexec",)),))
    cluster = Cluster(
        make_node("n").obj(),
        make_pod("p").containers(wanting).obj(),
        features=with_switch("mount_options_required", on),
    )
    cluster.attempt()
    assert cluster.parked() == waits
    cluster.server.update(make_node("n").features("VolumeBindMountOptions").obj())
    assert cluster.parked() == []


def test_mounts_without_options_leave_no_trace() -> None:
    plain = {"volumeMounts": [{"name": "v", "mountPath": "/v"}]}
    assert msgspec.convert(plain, Container) == Container()


@BOTH
def test_a_pod_on_a_missing_node_uses_its_claim_until_nodes_change(on: bool) -> None:
    def using(name: str) -> PodBuilder:
        return make_pod(name).volumes(*storage.uses("c"))

    cluster = Cluster(
        make_node("n").obj(),
        storage.volume("v", "any"),
        storage.claim("c", "any", volume="v", modes=("ReadWriteOncePod",)),
        using("p").obj(),
        features=with_switch("stray_users_counted", on),
    )
    cluster.scheduler.cache.update_snapshot()
    cluster.create(using("stray").on("gone").obj())
    cluster.attempt()
    assert cluster.parked() == (["p"] if on else [])
    cluster.create(make_node("m").obj())
    if on:
        cluster.advance(2)
        cluster.attempt()
    assert cluster.node_of("p")
