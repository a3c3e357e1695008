import pytest
from msgspec.structs import replace

from scheduler_core.api import Node, NodeCondition, Taint
from scheduler_core.api import Toleration as Tol
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.queue.event_changes import (
    node_scheduling_properties_change,
    pod_scheduling_properties_change,
)
from tests.builders import gates_off, make_node, make_pod
from tests.queue.queue_world import pod_info

TAINT = Taint(key="a", value="b", effect="NoSchedule")


@pytest.mark.parametrize(
    ("old", "new", "labels"),
    [
        (make_node("n").obj(), make_node("n").obj(), []),
        (make_node("n").obj(), make_node("n").label("a", "b").obj(), ["NodeUpdateNodeLabel"]),
        (
            make_node("n").obj(),
            make_node("n").annotations({"a": "b"}).obj(),
            ["NodeUpdateNodeAnnotation"],
        ),
        (make_node("n").obj(), make_node("n").taints(TAINT).obj(), ["NodeUpdateNodeTaint"]),
        (make_node("n").obj(), make_node("n").cordoned().obj(), []),
        (make_node("n").cordoned().obj(), make_node("n").obj(), ["NodeUpdateNodeTaint"]),
        (
            make_node("n").cordoned().taints(TAINT).obj(),
            make_node("n").obj(),
            ["NodeUpdateNodeTaint", "NodeUpdateNodeTaint"],
        ),
        (make_node("n").cpu("1").obj(), make_node("n").cpu("1000m").obj(), []),
        (
            make_node("n").cpu("1").obj(),
            make_node("n").cpu("2").obj(),
            ["NodeUpdateNodeAllocatable"],
        ),
        (
            make_node("n").obj(),
            make_node("n").resource("gpu", "0").obj(),
            ["NodeUpdateNodeAllocatable"],
        ),
        (
            make_node("n").obj(),
            make_node("n").features("X").obj(),
            ["NodeUpdateNodeDeclaredFeature"],
        ),
        (
            make_node("n").obj(),
            make_node("n").conditions(NodeCondition(type="Ready", status="True")).obj(),
            ["NodeUpdateNodeCondition"],
        ),
        (
            make_node("n").conditions(NodeCondition(type="Ready", status="True", reason="x")).obj(),
            make_node("n").conditions(NodeCondition(type="Ready", status="True", reason="y")).obj(),
            [],
        ),
        (
            make_node("n").obj(),
            make_node("n").label("a", "b").taints(TAINT).cpu("1").obj(),
            ["NodeUpdateNodeAllocatable", "NodeUpdateNodeLabel", "NodeUpdateNodeTaint"],
        ),
    ],
)
def test_node_changes(old: Node, new: Node, labels: list[str]) -> None:
    assert [
        event.label for event in node_scheduling_properties_change(old, new, FeatureGates())
    ] == labels


def test_declared_features_need_their_gate() -> None:
    off = gates_off("NodeDeclaredFeatures")
    assert (
        node_scheduling_properties_change(
            make_node("n").obj(), make_node("n").features("X").obj(), off
        )
        == []
    )


PLAIN = pod_info(make_pod("p").cpu("1").memory("1Gi"))
TOLERANT = pod_info(make_pod("p").cpu("1").memory("1Gi").tolerations(Tol(key="a")))


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        (PLAIN, PLAIN, ["Update"]),
        (PLAIN, pod_info(make_pod("p").cpu("2").memory("1Gi")), ["Update"]),
        (PLAIN, pod_info(make_pod("p").cpu("999m").memory("1Gi")), ["UpdatePodScaleDown"]),
        (PLAIN, pod_info(make_pod("p").cpu("1")), ["UpdatePodScaleDown"]),
        (PLAIN, TOLERANT, ["UpdatePodToleration"]),
        (pod_info(make_pod("p")), pod_info(make_pod("p").label("a", "b")), ["UpdatePodLabel"]),
        (pod_info(make_pod("p").gates("a", "b")), pod_info(make_pod("p").gates("b")), ["Update"]),
        (
            pod_info(make_pod("p").gates("a")),
            pod_info(make_pod("p")),
            ["UpdatePodSchedulingGatesEliminated"],
        ),
        (
            pod_info(make_pod("p").gates("a").cpu("2")),
            pod_info(make_pod("p").label("a", "b").cpu("1").tolerations(Tol(key="a"))),
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
