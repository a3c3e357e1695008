"""What feature gates change of what wakes pods."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from msgspec.structs import replace

from scheduler_core.api import ResourceRequirements
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import FeatureGates, feature_gates
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
)
from scheduler_core.framework.status import Code, Verdict
from tests.builders import gates_off, make_node, make_pod
from tests.simulated import Cluster

UNDECLARED = gates_off("NodeDeclaredFeatures")
NO_POD_LEVEL = gates_off("PodLevelResources")
NO_POD_LEVEL_RESIZES = feature_gates({"InPlacePodLevelResourcesVerticalScaling": False})


class Never:
    """Rejects every node, and wants to look again at whatever changes about nodes."""

    name = "Never"

    def filter(self, state: None, pod: PodInfo, nodes: Nodes) -> Verdict:
        return Verdict.reject(~nodes.unschedulable, Code.UNSCHEDULABLE, "never")

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        return (ClusterEventWithHint(ClusterEvent(EventResource.NODE, ActionType.UPDATE)),)


@pytest.mark.parametrize(("gates", "wakes"), [(FeatureGates(), True), (UNDECLARED, False)])
def test_declared_features_wake_pods_only_with_their_gate(gates: FeatureGates, wakes: bool) -> None:
    cluster = Cluster(make_node("n").obj(), make_pod("p").obj(), plugins=[Never()], features=gates)
    cluster.attempt()
    cluster.advance(5)
    cluster.server.update(make_node("n").features("Fast").obj())
    assert ("NodeUpdateNodeDeclaredFeature" in cluster.moves("p")) is wakes


def requesting(cpu: str) -> ResourceRequirements:
    return ResourceRequirements(requests={"cpu": cpu})


def test_a_pod_that_shrinks_at_pod_level_wakes_others_even_where_that_does_not_count() -> None:
    """Upstream leaves the gate out where it compares a pod with what it was."""
    cluster = Cluster(
        make_node("n").cpu(4).obj(),
        make_pod("holder").cpu(4).spec(resources=requesting("4")).on("n").obj(),
        make_pod("waiter").cpu(2).obj(),
        features=NO_POD_LEVEL,
    )
    cluster.attempt()
    cluster.advance(5)
    holder = cluster.pod("holder")
    cluster.server.update(replace(holder, spec=replace(holder.spec, resources=requesting("1"))))
    assert "AssignedPodUpdatePodScaleDown" in cluster.moves("waiter")
    assert cluster.active() == ["waiter"]
    cluster.attempt()
    assert cluster.node_of("waiter") == ""


@pytest.mark.parametrize(("gates", "node"), [(FeatureGates(), ""), (NO_POD_LEVEL_RESIZES, "n")])
def test_a_resize_at_pod_level_takes_room_only_with_its_gate(
    gates: FeatureGates, node: str
) -> None:
    holder = make_pod("holder").spec(resources=requesting("1")).on("n").obj()
    resizing = replace(holder, status=replace(holder.status, resources=requesting("3")))
    cluster = Cluster(
        make_node("n").cpu(4).obj(), resizing, make_pod("late").cpu(2).obj(), features=gates
    )
    cluster.settle()
    assert cluster.node_of("late") == node
