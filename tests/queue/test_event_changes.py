import pytest
from msgspec.structs import replace

from scheduler_core.api import Node, NodeCondition, NodeSpec, NodeStatus, ObjectMeta, Taint
from scheduler_core.api import Toleration as Tol
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import feature_gates
from scheduler_core.queue.event_changes import (
    node_scheduling_properties_change,
    pod_scheduling_properties_change,
)
from tests.queue.queue_world import pod_info

TAINT = Taint(key="a", value="b", effect="NoSchedule")


def node(
    *,
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    taints: tuple[Taint, ...] = (),
    unschedulable: bool = False,
    allocatable: dict[str, str] | None = None,
    conditions: tuple[NodeCondition, ...] = (),
    features: tuple[str, ...] = (),
) -> Node:
    return Node(
        metadata=ObjectMeta(name="n", labels=labels or {}, annotations=annotations or {}),
        spec=NodeSpec(taints=taints, unschedulable=unschedulable),
        status=NodeStatus(
            allocatable=allocatable or {}, conditions=conditions, declared_features=features
        ),
    )


@pytest.mark.parametrize(
    ("old", "new", "labels"),
    [
        (node(), node(), []),
        (node(), node(labels={"a": "b"}), ["NodeUpdateNodeLabel"]),
        (node(), node(annotations={"a": "b"}), ["NodeUpdateNodeAnnotation"]),
        (node(), node(taints=(TAINT,)), ["NodeUpdateNodeTaint"]),
        (node(), node(unschedulable=True), []),
        (node(unschedulable=True), node(), ["NodeUpdateNodeTaint"]),
        (
            node(unschedulable=True, taints=(TAINT,)),
            node(),
            ["NodeUpdateNodeTaint", "NodeUpdateNodeTaint"],
        ),
        (node(allocatable={"cpu": "1"}), node(allocatable={"cpu": "1000m"}), []),
        (
            node(allocatable={"cpu": "1"}),
            node(allocatable={"cpu": "2"}),
            ["NodeUpdateNodeAllocatable"],
        ),
        (node(), node(allocatable={"gpu": "0"}), ["NodeUpdateNodeAllocatable"]),
        (node(), node(features=("X",)), ["NodeUpdateNodeDeclaredFeature"]),
        (
            node(),
            node(conditions=(NodeCondition(type="Ready", status="True"),)),
            ["NodeUpdateNodeCondition"],
        ),
        (
            node(conditions=(NodeCondition(type="Ready", status="True", reason="x"),)),
            node(conditions=(NodeCondition(type="Ready", status="True", reason="y"),)),
            [],
        ),
        (
            node(),
            node(labels={"a": "b"}, taints=(TAINT,), allocatable={"cpu": "1"}),
            ["NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel", "NodeUpdateNodeTaint"],
        ),
    ],
)
def test_node_changes(old: Node, new: Node, labels: list[str]) -> None:
    assert [event.label for event in node_scheduling_properties_change(old, new)] == labels


def test_declared_features_need_their_gate() -> None:
    off = feature_gates(
        {"NodeDeclaredFeatures": False, "InPlacePodLevelResourcesVerticalScaling": False}
    )
    assert node_scheduling_properties_change(node(), node(features=("X",)), off) == []


PLAIN = pod_info("p", requests={"cpu": "1", "memory": "1Gi"})
TOLERANT = pod_info("p", requests={"cpu": "1", "memory": "1Gi"}, tolerations=[Tol(key="a")])


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        (PLAIN, PLAIN, ["Update"]),
        (PLAIN, pod_info("p", requests={"cpu": "2", "memory": "1Gi"}), ["Update"]),
        (PLAIN, pod_info("p", requests={"cpu": "999m", "memory": "1Gi"}), ["UpdatePodScaleDown"]),
        (PLAIN, pod_info("p", requests={"cpu": "1"}), ["UpdatePodScaleDown"]),
        (PLAIN, TOLERANT, ["UpdatePodToleration"]),
        (pod_info("p"), pod_info("p", labels={"a": "b"}), ["UpdatePodLabel"]),
        (pod_info("p", gates=["a", "b"]), pod_info("p", gates=["b"]), ["Update"]),
        (pod_info("p", gates=["a"]), pod_info("p"), ["UpdatePodSchedulingGatesEliminated"]),
        (
            pod_info("p", gates=["a"], requests={"cpu": "2"}),
            pod_info("p", labels={"a": "b"}, requests={"cpu": "1"}, tolerations=[Tol(key="a")]),
            [
                "UpdatePodLabel",
                "UpdatePodScaleDown",
                "UpdatePodSchedulingGatesEliminated",
                "UpdatePodToleration",
            ],
        ),
    ],
)
def test_pod_changes(old: PodInfo, new: PodInfo, actions: list[str]) -> None:
    pending = [event.label for event in pod_scheduling_properties_change(old, new)]
    assert pending == [f"UnschedulablePod{action}" for action in actions]
    bound = pod_scheduling_properties_change(old, _bound(new))
    assert [event.label for event in bound] == [f"AssignedPod{action}" for action in actions]


def _bound(pod: PodInfo) -> PodInfo:
    return PodInfo.of(replace(pod.pod, spec=replace(pod.pod.spec, node_name="n")), pod.template)
