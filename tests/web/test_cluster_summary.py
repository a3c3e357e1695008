"""What the page of a cluster shows before any run."""

from kviz.snapshots.summary import summarise
from tests.builders import PodBuilder, make_node, make_pod


def waiting(name: str) -> PodBuilder:
    return make_pod(name).namespace("shop").cpu(1).memory("1Gi")


NODE = (
    make_node("a")
    .zone("north")
    .allocatable({"cpu": "4", "memory": "8Gi", "pods": "10", "gpu.example/x": "2"})
    .taint("k", "v")
    .cordoned()
    .obj()
)


def test_running_pods_fill_their_node_and_finished_ones_do_not() -> None:
    pods = [
        waiting("one").on("a").obj(),
        waiting("two").on("a").cpu("500m").obj(),
        waiting("done").on("a").phase("Succeeded").obj(),
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
    summary = summarise(
        [waiting("b").obj(), waiting("a").obj(), waiting("urgent").priority(10).obj()]
    )
    assert [row.name for row in summary.pending] == ["urgent", "a", "b"]


def test_nodes_that_are_not_in_the_dump_are_named() -> None:
    assert summarise([NODE, waiting("lost").on("gone").obj()]).missing_nodes == ["gone"]
