import pytest
from msgspec.structs import replace

from scheduler_core.api import NodeCondition, Taint
from scheduler_core.api import Toleration as Tol
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.features import FeatureGates
from scheduler_core.queue.event_changes import (
    node_scheduling_properties_change,
    pod_scheduling_properties_change,
)
from tests.builders import NodeBuilder, gates_off, make_node, make_pod
from tests.queue.queue_world import pod_info

TAINT = Taint(key="a", value="b", effect="NoSchedule")


def ready(reason: str = "") -> NodeCondition:
    return NodeCondition(type="Ready", status="True", reason=reason)


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        (make_node("n"), make_node("n"), []),
        (make_node("n"), make_node("n").label("a", "b"), ["Label"]),
        (make_node("n"), make_node("n").annotations({"a": "b"}), ["Annotation"]),
        (make_node("n"), make_node("n").taints(TAINT), ["Taint"]),
        (make_node("n"), make_node("n").cordoned(), []),
        (make_node("n").cordoned(), make_node("n"), ["Taint"]),
        (make_node("n").cordoned().taints(TAINT), make_node("n"), ["Taint", "Taint"]),
        (make_node("n").cpu("1"), make_node("n").cpu("1000m"), []),
        (make_node("n").cpu("1"), make_node("n").cpu("2"), ["Allocatable"]),
        (make_node("n"), make_node("n").resource("gpu", "0"), ["Allocatable"]),
        (make_node("n"), make_node("n").features("X"), ["DeclaredFeature"]),
        (make_node("n"), make_node("n").conditions(ready()), ["Condition"]),
        (make_node("n").conditions(ready("x")), make_node("n").conditions(ready("y")), []),
        (
            make_node("n"),
            make_node("n").label("a", "b").taints(TAINT).cpu("1"),
            ["Allocatable", "Label", "Taint"],
        ),
    ],
)
def test_node_changes(old: NodeBuilder, new: NodeBuilder, actions: list[str]) -> None:
    events = node_scheduling_properties_change(old.obj(), new.obj(), FeatureGates())
    assert [event.label for event in events] == [f"NodeUpdateNode{action}" for action in actions]


def test_declared_features_need_their_gate() -> None:
    off, old, new = gates_off("NodeDeclaredFeatures"), make_node("n"), make_node("n").features("X")
    assert node_scheduling_properties_change(old.obj(), new.obj(), off) == []


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
