"""Kubelets, evictions and owners in the simulated cluster."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler_core.api import Taint, Toleration
from scheduler_core.sim.eviction import tolerated_for_ns
from scheduler_core.sim.simulation import Timing
from scheduler_core.trace.events import (
    Bound,
    PodAdded,
    PodDeleted,
    PodEvicted,
    PodUpdated,
)
from tests.builders import make_node, make_pod
from tests.simulated import SECOND_NS, START_NS, Cluster

ALIVE = Timing(binding_ns=0, pre_bind_ns=0)


def living(*objects: object) -> Cluster:
    return Cluster(*objects, timing=ALIVE)  # type: ignore[arg-type]


def phase(cluster: Cluster, name: str) -> str:
    return cluster.pod(name).status.phase


# ---------------------------------------------------------------- kubelets


def test_a_bound_pod_runs_a_second_later() -> None:
    cluster = living(make_node("n").obj(), make_pod("p").obj())
    cluster.attempt()
    assert phase(cluster, "p") == "Pending"
    cluster.advance(0.999)
    assert phase(cluster, "p") == "Pending"
    cluster.advance(0.001)
    assert phase(cluster, "p") == "Running"


def test_a_pod_that_came_bound_but_pending_runs_as_well() -> None:
    cluster = living(make_node("n").obj(), make_pod("p").on("n").phase("Pending").obj())
    cluster.advance(1)
    assert phase(cluster, "p") == "Running"


def test_without_kubelets_nothing_runs_and_deletion_is_immediate() -> None:
    cluster = Cluster(make_node("n").obj(), make_pod("p").obj())
    cluster.attempt()
    cluster.advance(60)
    assert phase(cluster, "p") == "Pending"
    cluster.simulation.delete_pod(cluster.pod("p"))
    assert not cluster.exists("p")


@pytest.mark.parametrize(
    ("own", "asked", "expected"), [(None, None, 30), (5, None, 5), (5, 60, 60), (5, 0, 0)]
)
def test_a_running_pod_is_gone_after_its_grace_period(
    own: int | None, asked: int | None, expected: int
) -> None:
    pod = make_pod("p").on("n")
    cluster = living(make_node("n").obj(), (pod if own is None else pod.grace_seconds(own)).obj())
    gone_at_ns = cluster.simulation.delete_pod(cluster.pod("p"), asked)
    assert gone_at_ns == START_NS + expected * SECOND_NS
    if expected:
        assert cluster.of_type(PodUpdated)[-1].gone_at_ns == gone_at_ns
        cluster.advance(expected - 0.001)
        assert cluster.exists("p")
        assert cluster.scheduler.cache.n_pods == 1
    cluster.advance(0.001)
    assert not cluster.exists("p")
    assert cluster.scheduler.cache.n_pods == 0


def test_deleting_again_can_only_shorten_the_wait() -> None:
    cluster = living(make_node("n").obj(), make_pod("p").on("n").obj())
    cluster.simulation.delete_pod(cluster.pod("p"), 20)
    cluster.simulation.delete_pod(cluster.pod("p"), 60)
    assert cluster.pod("p").metadata.deletion_timestamp == START_NS + 20 * SECOND_NS
    cluster.simulation.delete_pod(cluster.pod("p"), 5)
    cluster.advance(5)
    assert not cluster.exists("p")
    cluster.advance(60)


@pytest.mark.parametrize("make", ["pending", "finished"])
def test_a_pod_that_does_not_run_goes_at_once(make: str) -> None:
    pod = make_pod("p").gate("g") if make == "pending" else make_pod("p").on("n").phase("Failed")
    cluster = living(make_node("n").obj(), pod.obj())
    cluster.simulation.delete_pod(cluster.pod("p"))
    assert not cluster.exists("p")


def test_a_pod_that_comes_in_terminating_goes_on_to_vanish() -> None:
    gone_at_ns = START_NS + 7 * SECOND_NS
    cluster = living(make_node("n").obj(), make_pod("p").on("n").deleted_at_ns(gone_at_ns).obj())
    (added,) = cluster.of_type(PodAdded)
    assert added.terminating
    assert added.gone_at_ns == gone_at_ns
    cluster.advance(6)
    assert cluster.exists("p")
    cluster.advance(1)
    assert not cluster.exists("p")


def test_a_deleted_pod_stays_on_a_node_out_of_reach_until_that_is_back() -> None:
    lost = make_node("n").taint("node.kubernetes.io/unreachable", effect="NoExecute").obj()
    cluster = living(lost, make_pod("p").on("n").phase("Running").deleted_at_ns(START_NS).obj())
    cluster.advance(3_600)
    assert cluster.exists("p")
    taint(cluster)
    cluster.advance(0)
    assert not cluster.exists("p")


def test_a_pod_of_the_same_name_does_not_inherit_the_end() -> None:
    cluster = living(make_node("n").obj(), make_pod("p").on("n").obj())
    cluster.simulation.delete_pod(cluster.pod("p"), 10)
    cluster.server.delete(cluster.pod("p"))
    cluster.create(make_pod("p").uid("second").on("n").obj())
    cluster.advance(60)
    assert cluster.pod("p").uid == "second"


def test_a_binding_by_somebody_else_is_in_the_trace() -> None:
    cluster = living(make_node("n").obj(), make_pod("p").obj())
    pod = cluster.pod("p")
    cluster.server.update(replace(pod, spec=replace(pod.spec, node_name="n")))
    assert cluster.of_type(Bound) == [Bound(0, 0)]
    cluster.advance(1)
    assert phase(cluster, "p") == "Running"


# ---------------------------------------------------------------- preemption with grace


def test_a_preemptor_waits_for_its_victims_to_be_gone() -> None:
    cluster = living(
        make_node("n").obj(),
        make_pod("victim").cpu(4).grace_seconds(20).on("n").obj(),
        make_pod("boss").cpu(4).priority(10).obj(),
    )
    cluster.settle()
    (evicted,) = cluster.of_type(PodEvicted)
    assert evicted.gone_at_ns == START_NS + 20 * SECOND_NS
    assert evicted.by_pod == cluster.recorder.pod("default/boss")
    assert not cluster.exists("victim")
    assert cluster.node_of("boss") == "n"
    assert cluster.seconds > 20


# ---------------------------------------------------------------- taints and lost nodes


def taint(cluster: Cluster, *taints: Taint) -> None:
    node = cluster.node("n")
    cluster.server.update(replace(node, spec=replace(node.spec, taints=taints)))


BROKEN = Taint(key="broken", effect="NoExecute")


def test_a_no_execute_taint_evicts_who_does_not_tolerate_it() -> None:
    cluster = living(
        make_node("n").obj(),
        make_pod("plain").on("n").obj(),
        make_pod("patient").toleration("broken", "NoExecute", seconds=10).on("n").obj(),
        make_pod("stoic").toleration("broken").on("n").obj(),
    )
    taint(cluster, BROKEN)
    cluster.advance(0)
    assert [event.reason for event in cluster.of_type(PodEvicted)] == ["taint broken:NoExecute"]
    condition = cluster.pod("plain").status.conditions[-1]
    assert (condition.type, condition.reason) == ("DisruptionTarget", "DeletionByTaintManager")
    cluster.advance(9.9)
    assert len(cluster.of_type(PodEvicted)) == 1
    cluster.advance(0.1)
    assert len(cluster.of_type(PodEvicted)) == 2
    cluster.advance(60)
    assert list(cluster.places()) == ["stoic"]


def test_a_taint_that_is_taken_back_in_time_evicts_nobody() -> None:
    cluster = living(
        make_node("n").obj(), make_pod("p").toleration("broken", seconds=10).on("n").obj()
    )
    taint(cluster, BROKEN)
    cluster.advance(5)
    taint(cluster)
    cluster.advance(3)
    taint(cluster, BROKEN)
    cluster.advance(9)
    assert cluster.of_type(PodEvicted) == []
    cluster.advance(1)
    assert len(cluster.of_type(PodEvicted)) == 1


def test_time_counts_from_the_first_taint() -> None:
    cluster = living(
        make_node("n").obj(), make_pod("p").toleration("", "NoExecute", seconds=10).on("n").obj()
    )
    taint(cluster, BROKEN)
    cluster.advance(6)
    taint(cluster, BROKEN, Taint(key="lost", effect="NoExecute"))
    cluster.advance(4)
    assert [event.reason for event in cluster.of_type(PodEvicted)] == [
        "taint broken, lost:NoExecute"
    ]


def test_a_pod_that_comes_to_a_tainted_node_is_looked_at() -> None:
    pod = make_pod("p").toleration("broken", "NoExecute", seconds=3).obj()
    cluster = living(make_node("n").taint("broken", effect="NoExecute").obj(), pod)
    cluster.attempt()
    assert cluster.node_of("p") == "n"
    cluster.advance(3)
    assert len(cluster.of_type(PodEvicted)) == 1


def test_what_a_cluster_comes_with_is_left_alone() -> None:
    node = make_node("n").taint("broken", effect="NoExecute").obj()
    cluster = living(node, make_pod("p").on("n").obj())
    cluster.advance(600)
    assert cluster.exists("p")


@pytest.mark.parametrize(
    ("tolerations", "expected"),
    [
        ((), 0),
        ((Toleration(key="broken", operator="Exists"),), None),
        ((Toleration(key="broken", operator="Exists", toleration_seconds=4),), 4 * SECOND_NS),
        ((Toleration(key="broken", operator="Exists", toleration_seconds=-4),), 0),
        (
            (
                Toleration(operator="Exists", toleration_seconds=9),
                Toleration(key="broken", operator="Exists", toleration_seconds=4),
            ),
            9 * SECOND_NS,
        ),
    ],
)
def test_how_long_a_taint_is_tolerated(
    tolerations: tuple[Toleration, ...], expected: int | None
) -> None:
    assert tolerated_for_ns(tolerations, (BROKEN,)) == expected


def test_the_pods_of_a_lost_node_go_with_it() -> None:
    cluster = living(
        make_node("n").obj(),
        make_node("m").obj(),
        make_pod("p").on("n").obj(),
        make_pod("q").on("m").obj(),
    )
    cluster.server.delete(cluster.node("n"))
    cluster.advance(0)
    assert list(cluster.places()) == ["q"]
    assert len(cluster.of_type(PodDeleted)) == 1
    assert cluster.scheduler.cache.n_pods == 1


def test_a_node_that_is_back_at_once_keeps_its_pods() -> None:
    node = make_node("n").obj()
    cluster = living(node, make_pod("p").on("n").obj())
    cluster.server.delete(cluster.node("n"))
    cluster.create(node)
    cluster.advance(0)
    assert cluster.exists("p")
