"""What the page of a cluster shows before any run."""

from kviz.snapshots.summary import summarise
from scheduler_core.api import (
    Container,
    Node,
    NodeSpec,
    NodeStatus,
    ObjectMeta,
    Pod,
    PodSpec,
    PodStatus,
    ResourceRequirements,
    Taint,
)


def pod(
    name: str, *, node: str = "", cpu: str = "1", phase: str = "Pending", priority: int = 0
) -> Pod:
    requests = ResourceRequirements(requests={"cpu": cpu, "memory": "1Gi"})
    return Pod(
        metadata=ObjectMeta(name=name, namespace="shop"),
        spec=PodSpec(
            containers=(Container(resources=requests),), node_name=node, priority=priority
        ),
        status=PodStatus(phase=phase),
    )


NODE = Node(
    metadata=ObjectMeta(name="a", labels={"topology.kubernetes.io/zone": "north"}),
    spec=NodeSpec(unschedulable=True, taints=(Taint(key="k", value="v", effect="NoSchedule"),)),
    status=NodeStatus(
        allocatable={"cpu": "4", "memory": "8Gi", "pods": "10", "gpu.example/x": "2"}
    ),
)


def test_running_pods_fill_their_node_and_finished_ones_do_not() -> None:
    pods = [
        pod("one", node="a"),
        pod("two", node="a", cpu="500m"),
        pod("done", node="a", phase="Succeeded"),
    ]
    summary = summarise([NODE, *pods])
    [row] = summary.nodes
    assert (row.cpu.used, row.cpu.whole) == (1500, 4000)
    assert (row.memory.used, row.memory.whole) == (2 << 30, 8 << 30)
    assert (row.n_pods, row.max_pods) == (2, 10)
    assert (summary.n_bound, summary.n_finished) == (2, 1)
    assert [(a.name, a.used, a.whole) for a in row.extended] == [("gpu.example/x", 0, 2)]
    assert (row.zone, row.cordoned, row.taints) == ("north", True, ("k=v:NoSchedule",))


def test_pending_pods_come_most_important_first() -> None:
    summary = summarise([pod("b"), pod("a"), pod("urgent", priority=10)])
    assert [row.name for row in summary.pending] == ["urgent", "a", "b"]


def test_nodes_that_are_not_in_the_dump_are_named() -> None:
    assert summarise([NODE, pod("lost", node="gone")]).missing_nodes == ["gone"]
