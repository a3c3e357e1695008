"""PodTopologySpread's scores, and the constraints it takes when a pod has none."""

from collections.abc import Sequence
from typing import Any

import pytest

from scheduler_core.api import (
    KubeObject,
    OwnerReference,
    ReplicaSet,
    ReplicaSetSpec,
    ReplicationController,
    ReplicationControllerSpec,
    Service,
    ServiceSpec,
    StatefulSet,
    StatefulSetSpec,
    TopologySpreadConstraint,
)
from scheduler_core.api.meta import ObjectMeta
from scheduler_core.plugins.pod_topology_spread import PodTopologySpread
from tests.builders import make_node, make_pod
from tests.plugins.harness import World
from tests.plugins.placement import HOST, ZONE, Cycle, soft
from tests.plugins.spread_clusters import FOO, IS_FOO, SYSTEM, cycle, foos, hosts


@pytest.mark.parametrize(
    ("spread", "constraints", "feasible", "normalized"),
    [
        ("00", [soft(HOST, IS_FOO)], "ab", [100, 100]),
        ("10", [soft(HOST, IS_FOO)], "a", [100]),
        ("11", [soft(HOST, IS_FOO)], "ab", [100, 100]),
        ("2103", [soft(HOST, IS_FOO)], "abxy", [20, 60, 100, 0]),
        ("2103", [soft(HOST, None)], "abxy", [100, 100, 100, 100]),
        ("2103", [soft(HOST, IS_FOO, 2)], "abxy", [33, 66, 100, 16]),
        ("4321", [soft(HOST, IS_FOO, 3)], "abxy", [44, 66, 77, 100]),
        ("2103", [soft(ZONE, IS_FOO)], "abx", [100, 100, 100]),
        ("4103", [soft(ZONE, IS_FOO)], "abx", [57, 57, 100]),
        ("4103", [soft(ZONE, IS_FOO), soft(HOST, IS_FOO)], "ax", [33, 100]),
    ],
)
def test_fewer_pods_around_score_higher(
    spread: str,
    constraints: Sequence[TopologySpreadConstraint],
    feasible: str,
    normalized: Sequence[int],
) -> None:
    names = "abxy"[: len(spread)]
    world = World(*hosts("1122"[: len(spread)], names), *foos(spread, names))
    wanted = [f"node-{name}" for name in feasible]
    _, scores = cycle(world, *constraints).scored(*wanted)
    assert scores == dict(zip(wanted, normalized, strict=True))


def test_system_defaults_spread_nodes_without_a_zone_too() -> None:
    service = Service(
        metadata=ObjectMeta(name="s", namespace="default"), spec=ServiceSpec(selector=FOO)
    )
    zoneless = [make_node(f"node-{name}").obj() for name in "abxy"]
    world = World(*zoneless, service, *foos("4321"))
    _, normalized = cycle(world).scored()
    assert normalized == {"node-a": 44, "node-b": 66, "node-x": 77, "node-y": 100}


def named(kind: type[Any], name: str, spec: object) -> Any:
    return kind(metadata=ObjectMeta(name=name, namespace="default"), spec=spec)


def owned_by(kind: str, name: str = "owner", version: str = "apps/v1") -> OwnerReference:
    return OwnerReference(api_version=version, kind=kind, name=name, uid="u", controller=True)


@pytest.mark.parametrize(
    ("objects", "owner", "spreads"),
    [
        ([], None, False),
        ([named(Service, "s", ServiceSpec(selector=FOO))], None, True),
        ([named(Service, "s", ServiceSpec(selector={"other": ""}))], None, False),
        ([named(Service, "s", ServiceSpec())], None, False),
        ([named(ReplicaSet, "owner", ReplicaSetSpec(selector=IS_FOO))], "ReplicaSet", True),
        ([named(ReplicaSet, "else", ReplicaSetSpec(selector=IS_FOO))], "ReplicaSet", False),
        ([named(StatefulSet, "owner", StatefulSetSpec(selector=IS_FOO))], "StatefulSet", True),
        ([named(ReplicaSet, "owner", ReplicaSetSpec(selector=IS_FOO))], "Job", False),
    ],
)
def test_default_constraints_follow_services_and_controllers(
    objects: Sequence[KubeObject], owner: str | None, spreads: bool
) -> None:
    world = World(*hosts(), *objects, *foos("2103"))
    incoming = make_pod("p").labels(FOO).owned_by(*([owned_by(owner)] if owner else [])).obj()
    found = Cycle(world, PodTopologySpread(SYSTEM, world), incoming).scores()
    assert (found is not None) == spreads
    if found is not None:
        assert found[1]["node-x"] == 100


def test_default_constraints_follow_a_replication_controller() -> None:
    controller = named(ReplicationController, "rc", ReplicationControllerSpec(selector=FOO))
    world = World(*hosts(), controller)
    owner = owned_by("ReplicationController", "rc", "v1")
    incoming = make_pod("p").labels(FOO).owned_by(owner).obj()
    assert Cycle(world, PodTopologySpread(SYSTEM, world), incoming).scores() is not None


def test_services_that_come_later_are_noticed() -> None:
    world = World(*hosts())
    plugin = PodTopologySpread(SYSTEM, world)
    incoming = make_pod("p").labels(FOO).obj()
    assert Cycle(world, plugin, incoming).scores() is None
    world.add(named(Service, "s", ServiceSpec(selector=FOO)))
    assert Cycle(world, plugin, incoming).scores() is not None
