"""What becomes of a cluster when nodes are gone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest

from scheduler_core.analysis.advice.budgets import budgets_over
from scheduler_core.analysis.advice.survival import (
    Aftermath,
    Loss,
    Replicas,
    Standing,
    chosen_loss,
    losses_of_nodes,
    losses_of_zones,
    ranked,
    standing_run,
    workload_of,
)
from scheduler_core.analysis.advice.trial import trial
from scheduler_core.api import (
    KubeObject,
    Node,
)
from scheduler_core.changes import apply
from scheduler_core.sim.run import RunOptions
from tests.builders import HOSTNAME, PodBuilder, budget, make_node, make_pod

OPTIONS = RunOptions()


def node(name: str, zone: str, cpu: int = 4) -> Node:
    return make_node(name).label(HOSTNAME, name).zone(zone).cpu(cpu).memory("32Gi").obj()


def replica(app: str, number: int, kind: str = "ReplicaSet") -> PodBuilder:
    name = f"{app}-h1" if kind == "ReplicaSet" else app
    pod = make_pod(f"{name}-{number}").label("app", app).owner(kind, name).cpu(1)
    return pod.label("pod-template-hash", "h1") if kind == "ReplicaSet" else pod


def lost(objects: Sequence[KubeObject], *losses: Loss) -> list[Aftermath]:
    found = []
    for loss in losses:
        run = standing_run(objects, OPTIONS)
        found.append(Standing.before(run).after(run, loss))
    return found


def names(found: Iterable[Replicas]) -> list[str]:
    return [each.name for each in found]


CLUSTER: list[KubeObject] = [
    node("a1", "a"),
    node("b1", "b"),
    node("b2", "b"),
    replica("web", 1).on("a1").obj(),
    replica("web", 2).on("b1").obj(),
    replica("only", 1).on("b1").obj(),
    replica("db", 0, "StatefulSet").on("b2").obj(),
    replica("agent", 1, "DaemonSet").on("b2").obj(),
    make_pod("alone").cpu(1).on("b2").obj(),
    budget("web", min_available=2),
]
NODES = [each for each in CLUSTER if isinstance(each, Node)]


def test_a_node() -> None:
    (found,) = lost(CLUSTER, chosen_loss(["b1"]))
    assert (found.n_lost, found.pending, found.gone, found.evicted) == (2, (), (), ())
    assert names(found.down_at_once) == ["Deployment default/only"]
    assert names(found.down) == []
    assert found.budgets == (Replicas("default/web", 2, 1, 2, 2),)
    assert (names(found.broken_at_once), names(found.broken)) == (["default/web"], [])


def test_a_zone() -> None:
    (found,) = lost(CLUSTER, losses_of_zones(NODES)[1])
    assert (found.loss.name, found.loss.nodes) == ("b", ("b1", "b2"))
    assert found.n_lost == 4
    assert found.gone == ("default/alone",)
    assert found.pending == ()
    assert {each.name: (each.before, each.at_once, each.after) for each in found.workloads} == {
        "Deployment default/web": (2, 1, 2),
        "Deployment default/only": (1, 0, 1),
        "StatefulSet default/db": (1, 0, 1),
    }


def test_what_finds_no_room_stays_pending_with_the_schedulers_message() -> None:
    (found,) = lost(CLUSTER, chosen_loss(["a1", "b1"]))
    assert (found.n_lost, len(found.pending)) == (3, 2)
    assert {each.message.partition(":")[0] for each in found.pending} == {"0/1 nodes are available"}
    assert set(names(found.down)) <= {each.workload for each in found.pending}


def test_who_comes_back_may_evict_others() -> None:
    objects = [
        *(node("a1", "a", cpu=1), node("b1", "b", cpu=1)),
        replica("low", 1).priority(-5).on("a1").obj(),
        replica("high", 1).priority(5).on("b1").obj(),
    ]
    (found,) = lost(objects, chosen_loss(["b1"]))
    assert found.evicted == ("default/low-h1-1",)
    assert [each.workload for each in found.pending] == ["Deployment default/low"]


def test_what_pends_already_is_not_the_losss_doing() -> None:
    objects = [*CLUSTER, replica("huge", 1).cpu(40).obj()]
    run = standing_run(objects, OPTIONS)
    standing = Standing.before(run)
    assert standing.pending == {"default/huge-h1-1"}
    assert standing.after(run, chosen_loss(["a1"])).pending == ()


def test_the_worst_come_first() -> None:
    found = lost(CLUSTER, *losses_of_nodes(NODES))
    assert [each.loss.name for each in ranked(found)] == ["b2", "b1", "a1"]


@pytest.mark.parametrize("n_pods", [3, 6, 8])
def test_as_many_pend_as_in_a_run_that_begins_without_the_nodes(n_pods: int) -> None:
    nodes = [node(name, name[0]) for name in ("a1", "b1", "c1")]
    pods = [replica("web", i).on(nodes[i % 3].name).obj() for i in range(n_pods)]
    loss = chosen_loss(["a1", "c1"])
    (found,) = lost([*nodes, *pods], loss)
    ends = trial(apply([*nodes, *pods], loss.changes()), OPTIONS)
    assert len(found.pending) == len(ends.keys("pending"))


@pytest.mark.parametrize(
    ("spec", "desired"),
    [
        ({"min_available": 2}, 2),
        ({"min_available": "50%"}, 3),
        ({"max_unavailable": 1}, 4),
        ({"max_unavailable": "30%"}, 3),
        ({"max_unavailable": 9}, 0),
        ({}, 0),
    ],
)
def test_what_a_budget_wants(spec: dict[str, Any], desired: int) -> None:
    pods = [replica("web", i).on("n").obj() for i in range(5)]
    pods.append(replica("web", 5).phase("Succeeded").obj())
    (found,) = budgets_over([budget("web", **spec)], pods)
    assert found.desired == desired


def test_workloads() -> None:
    assert workload_of(replica("web", 1).obj()) == "Deployment default/web"
    assert workload_of(make_pod("x").owner("ReplicaSet", "web-h1").obj()) == (
        "ReplicaSet default/web-h1"
    )
    assert workload_of(replica("agent", 1, "DaemonSet").obj()) == ""
    assert workload_of(make_pod("alone").obj()) == ""
