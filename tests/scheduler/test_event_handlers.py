"""What the scheduler does when something changes in the cluster."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler_core.api import (
    CSINode,
    KubeObject,
    Namespace,
    ObjectMeta,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    Service,
    StorageClass,
)
from scheduler_core.sim.simulation import Timing
from scheduler_core.trace.events import NominationChanged
from tests.builders import make_node, make_pod
from tests.simulated import Cluster


def full_cluster(**kwargs: object) -> Cluster:
    """One node, taken by `holder`; `waiter` is parked for want of cpu."""
    cluster = Cluster(
        make_node("n").obj(),
        make_pod("holder").cpu(4).on("n").obj(),
        make_pod("waiter").cpu(2).obj(),
        **kwargs,  # type: ignore[arg-type]
    )
    cluster.attempt()
    cluster.advance(5)
    assert cluster.parked() == ["waiter"]
    return cluster


def change(cluster: Cluster, pod: Pod, **status: object) -> None:
    cluster.server.update(replace(pod, status=replace(pod.status, **status)))


def patch_spec(cluster: Cluster, name: str, **spec: object) -> None:
    pod = cluster.pod(name)
    cluster.server.update(replace(pod, spec=replace(pod.spec, **spec)))


# ---------------------------------------------------------------- nodes


def test_a_change_nobody_asked_for_wakes_nobody() -> None:
    cluster = full_cluster()
    cluster.server.update(make_node("n").label("colour", "red").obj())
    assert cluster.parked() == ["waiter"]


# ---------------------------------------------------------------- bound pods


def test_a_finished_pod_is_never_seen() -> None:
    cluster = Cluster(make_node("n").obj(), make_pod("done").cpu(4).on("n").phase("Failed").obj())
    assert cluster.scheduler.cache.n_pods == 0
    cluster.server.delete(cluster.pod("done"))


def test_a_finished_pod_that_runs_again_is_taken_in() -> None:
    cluster = Cluster(make_node("n").obj(), make_pod("odd").cpu(4).on("n").phase("Failed").obj())
    change(cluster, cluster.pod("odd"), phase="Running")
    assert cluster.scheduler.cache.n_pods == 1


# ---------------------------------------------------------------- pending pods


def test_pods_of_other_schedulers_are_left_alone() -> None:
    cluster = Cluster(make_node("n").obj(), make_pod("theirs").scheduler("other").obj())
    assert cluster.active() == []
    patch_spec(cluster, "theirs", priority=5)
    cluster.server.delete(cluster.pod("theirs"))
    assert cluster.active() == []


def test_a_pod_bound_by_somebody_else_leaves_the_queue() -> None:
    cluster = Cluster(make_node("n").obj(), make_pod("p").cpu(1).obj())
    patch_spec(cluster, "p", node_name="n")
    assert cluster.active() == []
    assert cluster.scheduler.cache.n_pods == 1
    assert not cluster.simulation.attempt()


def test_an_update_of_an_assumed_pod_is_left_for_later() -> None:
    timing = Timing(binding_ns=1_000_000_000, kubelet_start_ns=None)
    cluster = Cluster(make_node("n").obj(), make_pod("p").obj(), timing=timing)
    cluster.attempt()
    patch_spec(cluster, "p", priority=7)
    assert cluster.active() == []
    cluster.advance(1)
    assert cluster.node_of("p") == "n"
    assert cluster.pod("p").spec.priority == 7


def test_deleting_an_assumed_pod_frees_its_room_at_once() -> None:
    timing = Timing(binding_ns=10_000_000_000, kubelet_start_ns=None)
    cluster = Cluster(
        make_node("n").obj(),
        make_pod("a").cpu(4).obj(),
        make_pod("b").cpu(4).obj(),
        timing=timing,
    )
    cluster.attempt_all()
    cluster.advance(5)
    assert cluster.parked() == ["b"]
    cluster.server.delete(cluster.pod("a"))
    assert cluster.scheduler.cache.n_pods == 0
    assert cluster.active() == ["b"]
    cluster.settle()
    assert cluster.node_of("b") == "n"


# ---------------------------------------------------------------- nominations


def nominated_cluster() -> Cluster:
    """`boss` is nominated to the node and gated; `waiter` respects it, and is parked for it."""
    cluster = Cluster(
        make_node("n").obj(),
        make_pod("boss").cpu(4).priority(10).nominated("n").gate("hold").obj(),
        make_pod("waiter").cpu(2).obj(),
        make_pod("vip").cpu(2).priority(20).gate("hold").obj(),
    )
    cluster.queue.nominator.add(cluster.info("boss"))
    cluster.attempt()
    cluster.advance(5)
    assert cluster.parked() == ["waiter"]
    return cluster


@pytest.mark.parametrize("how", ["deleted", "cleared"])
def test_a_nomination_that_ends_wakes_who_respected_it(how: str) -> None:
    cluster = nominated_cluster()
    if how == "deleted":
        cluster.server.delete(cluster.pod("boss"))
    else:
        change(cluster, cluster.pod("boss"), nominated_node_name="")
    assert cluster.active() == ["waiter"]
    assert cluster.moves("waiter")[-1] == "AssignedPodDelete"
    assert cluster.queue.nominator.nominations() == {}
    assert cluster.of_type(NominationChanged)[-1].node == -1


# ---------------------------------------------------------------- other objects


CLAIM = PersistentVolumeClaim(metadata=ObjectMeta(name="data", namespace="default"))


@pytest.mark.parametrize(
    "item",
    [
        StorageClass(metadata=ObjectMeta(name="fast")),
        PersistentVolume(metadata=ObjectMeta(name="disk")),
        CSINode(metadata=ObjectMeta(name="n")),
        replace(CLAIM, metadata=ObjectMeta(name="other", namespace="default")),
    ],
)
def test_an_object_that_does_not_help_leaves_the_pod_parked(item: KubeObject) -> None:
    cluster = Cluster(make_node("n").obj(), make_pod("p").claim("data").obj())
    cluster.attempt()
    cluster.advance(5)
    cluster.create(item)
    assert cluster.parked() == ["p"]


@pytest.mark.parametrize("kind", [Service, Namespace])
def test_objects_without_an_event_are_only_stored(kind: type[KubeObject]) -> None:
    cluster = full_cluster()
    before = len(cluster.trace)
    namespace = "default" if kind.namespaced else ""
    item = kind(metadata=ObjectMeta(name="x", namespace=namespace))
    cluster.create(item)
    cluster.server.update(cluster.server.get(kind, item.key) or item)
    cluster.server.delete(item)
    assert len(cluster.trace) == before
