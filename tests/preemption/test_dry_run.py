"""Selecting victims on one node."""

from __future__ import annotations

import pytest

from scheduler_core.preemption.report import DryRun
from tests.builders import budget, make_node, make_pod
from tests.simulated import HOUR_NS, START_NS, Cluster


def dry_run(cluster: Cluster, node_name: str = "n1") -> DryRun:
    runs = {run.node_name: run for run in cluster.preempt().dry_runs}
    return runs[node_name]


def test_the_least_important_pods_go() -> None:
    cluster = Cluster(
        make_node("n1").cpu(4).obj(),
        make_pod("young").cpu(2).on("n1").started_ns(START_NS - 1 * HOUR_NS).obj(),
        make_pod("old").cpu(2).on("n1").started_ns(START_NS - 9 * HOUR_NS).obj(),
        make_pod("preemptor").cpu(2).priority(10).obj(),
    )
    run = dry_run(cluster)
    assert [pod.pod.name for pod in run.removed] == ["young", "old"]
    assert [(r.pod.pod.name, r.kept) for r in run.reprieves] == [("old", True), ("young", False)]
    assert [pod.pod.name for pod in run.victims] == ["young"]
    assert run.reprieves[1].rejected_by == "NodeResourcesFit"


def test_higher_priority_is_reprieved_before_longer_running() -> None:
    cluster = Cluster(
        make_node("n1").cpu(4).obj(),
        make_pod("lesser").cpu(2).priority(1).on("n1").started_ns(START_NS - 9 * HOUR_NS).obj(),
        make_pod("greater").cpu(2).priority(5).on("n1").started_ns(START_NS - 1 * HOUR_NS).obj(),
        make_pod("preemptor").cpu(2).priority(10).obj(),
    )
    assert [pod.pod.name for pod in dry_run(cluster).victims] == ["lesser"]


def test_pods_of_equal_priority_are_safe() -> None:
    cluster = Cluster(
        make_node("n1").cpu(4).obj(),
        make_pod("peer").cpu(4).priority(10).on("n1").obj(),
        make_pod("p").cpu(2).priority(10).obj(),
    )
    run = dry_run(cluster)
    assert run.removed == ()
    assert run.status.message == "No preemption victims found for incoming pod"


def test_pods_under_a_budget_are_reprieved_first() -> None:
    cluster = Cluster(
        budget("db", allowed=0),
        make_node("n1").cpu(4).obj(),
        make_pod("plain").cpu(2).priority(5).on("n1").started_ns(START_NS - 9 * HOUR_NS).obj(),
        make_pod("guarded").cpu(2).priority(1).on("n1").label("app", "db").obj(),
        make_pod("preemptor").cpu(2).priority(10).obj(),
    )
    run = dry_run(cluster)
    assert [r.pod.pod.name for r in run.reprieves] == ["guarded", "plain"]
    assert [pod.pod.name for pod in run.victims] == ["plain"]
    assert run.n_pdb_violations == 0


@pytest.mark.parametrize(("allowed", "violations"), [(0, 2), (1, 1), (2, 0)])
def test_a_budget_is_used_up_pod_by_pod(allowed: int, violations: int) -> None:
    cluster = Cluster(
        budget("db", allowed=allowed),
        make_node("n1").cpu(4).obj(),
        make_pod("a").cpu(2).on("n1").label("app", "db").obj(),
        make_pod("b").cpu(2).on("n1").label("app", "db").obj(),
        make_pod("preemptor").cpu(4).priority(10).obj(),
    )
    assert dry_run(cluster).n_pdb_violations == violations


def test_nominated_pods_of_higher_priority_keep_their_room() -> None:
    cluster = Cluster(
        make_node("n1").cpu(4).obj(),
        make_pod("low").cpu(4).on("n1").obj(),
        make_pod("claimant").cpu(3).priority(100).nominated("n1").preemption_policy("Never").obj(),
        make_pod("late").cpu(2).priority(50).obj(),
    )
    cluster.attempt()
    run = dry_run(cluster)
    assert not run.status.is_success
    assert run.status.plugin == "NodeResourcesFit"
