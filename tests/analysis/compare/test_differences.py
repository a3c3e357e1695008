"""What a comparison says of small clusters: the point, the plugin, the node and the values."""

from __future__ import annotations

import gzip
from dataclasses import replace

import msgspec
import pytest

from scheduler_core.analysis.compare import Comparison, compare, read_lines
from scheduler_core.analysis.compare.inputs import Setting
from scheduler_core.analysis.compare.words import share_text
from scheduler_core.api import KubeObject
from scheduler_core.config import FeatureGates, default_configuration, load_configuration
from scheduler_core.releases import RELEASES
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.trace.checking import TraceError
from tests.analysis.compare.runs import CONFIGURATION, chunks, run
from tests.builders import make_node, make_pod


def nodes(n: int = 3) -> list[KubeObject]:
    return [make_node(f"n{i}").obj() for i in range(1, n + 1)]


def pods(n: int = 4, cpu: str = "1") -> list[KubeObject]:
    return [make_pod(f"p{i}").cpu(cpu).obj() for i in range(1, n + 1)]


NO_ROOM = ("Filter", "NodeResourcesFit", "verdict", "passes", "Insufficient cpu")


def of(found: Comparison) -> tuple[str, str, str, str, str | int, str | int]:
    assert found.parting is not None
    it = found.parting.difference
    return it.point, it.plugin, it.node, it.what, it.a, it.b


def test_a_node_that_no_longer_has_room() -> None:
    full = [make_node("n1").obj(), make_node("n2").cpu("500m").obj()]
    found = compare(run([*nodes(2), *pods(1)]), run([*full, *pods(1)]))

    assert of(found) == (
        "Filter",
        "NodeResourcesFit",
        "n2",
        "verdict",
        "passes",
        "Insufficient cpu",
    )
    assert found.sentence.startswith(
        "The runs diverge in cycle 1, at default/p1, attempt 1: Filter/NodeResourcesFit on n2: "
        'passes in A, "Insufficient cpu" in B.'
    )
    assert [(each.name, each.what) for each in found.inputs.nodes.changed] == [
        ("n2", ("allocatable",))
    ]
    cpu = next(each for each in found.ends.utilisation if each.resource == "cpu")
    assert (cpu.a.allocatable, cpu.a.requested, cpu.a.largest_free) == (8000, 1000, 4000)
    assert (cpu.b.allocatable, cpu.b.requested, cpu.b.largest_free) == (4500, 1000, 3000)


def test_what_is_free_and_of_no_use() -> None:
    """A has 2 and 1 cores free, B 2 and 4; what a pod finds on nodes too small for it is lost."""
    bound = [make_pod(f"b{i}").cpu(cpu).on(f"n{i}").obj() for i, cpu in ((1, "2"), (2, "3"))]
    room = [make_node(f"n{i}").cpu("4").obj() for i in (1, 2)]
    found = compare(run([*room, *bound]), run([*room, bound[0]]))

    assert found.causes == []
    assert found.parting is None
    cpu = next(each for each in found.ends.utilisation if each.resource == "cpu")
    # Pods of 2, 2 and 3 cores: on A they lose 1, 1 and 3 of 3 free, on B 0, 0 and 2 of 6.
    assert cpu.a.fragmentation == pytest.approx((1 + 1 + 3) / (3 * 3))
    assert cpu.b.fragmentation == pytest.approx(2 / (3 * 6))
    assert share_text(cpu.a.fragmentation) == "56%"
    memory = next(each for each in found.ends.utilisation if each.resource == "memory")
    assert memory.a.fragmentation is None


def test_a_pod_that_takes_the_room_is_named_by_where_it_shows() -> None:
    """Cycles of a pod that only one run has are no divergence: what they bring about is."""
    cluster = [make_node("n1").obj(), *pods(1, cpu="3")]
    found = compare(run(cluster), run([*cluster, make_pod("big").cpu("3").priority(9).obj()]))

    assert of(found) == (
        "Filter",
        "NodeResourcesFit",
        "n1",
        "verdict",
        "passes",
        "Insufficient cpu",
    )
    assert found.parting is not None
    assert (found.parting.cycle_a, found.parting.cycle_b) == (1, 2)
    assert [(each.pod, each.node) for each in found.ends.newly_pending] == [("default/p1", "n1")]
    assert found.ends.newly_pending[0].message.startswith("0/1 nodes are available")
    assert found.inputs.pods.only_b == ["default/big"]
    assert found.cycles.only_b == 1
    assert "1 pod is pending in B and placed in A" in found.sentence


def test_a_raw_score() -> None:
    more = [make_node("n1").obj(), make_node("n2").cpu("8").obj(), make_node("n3").obj()]
    found = compare(run([*nodes(), *pods(1)]), run([*more, *pods(1)]))

    assert of(found)[:4] == ("Score", "NodeResourcesFit", "n2", "raw")
    a, b = of(found)[4:]
    assert isinstance(a, int)
    assert isinstance(b, int)
    assert a < b


def test_a_plugin_that_no_longer_scores() -> None:
    without = load_configuration(CONFIGURATION.split("      enabled:")[0])
    cluster = [*nodes(2), make_pod("before").cpu("2").on("n1").obj(), *pods(1)]
    found = compare(run(cluster), run(cluster, RunOptions(configuration=without)))

    assert of(found)[:4] == ("Score", "NodeResourcesBalancedAllocation", "n2", "plugin")
    assert of(found)[5] == "does not score"


def test_only_the_tie_is_called_luck() -> None:
    cluster = [*nodes(5), *pods(1)]
    seeds = (run(cluster, RunOptions(tie_break="draw", seed=seed)) for seed in range(20))
    first = next(seeds)
    other = next(each for each in seeds if each.lines[0].node != first.lines[0].node)
    found = compare(first, other)

    assert of(found)[:4] == ("Score", "", "", "tie")
    assert found.parting is not None
    assert found.parting.difference.luck
    assert found.parting.difference.tied == ("n1", "n2", "n3", "n4", "n5")
    assert [each.luck for each in found.ends.moved] == [True]
    assert "only the tie. 5 nodes had the same top score" in found.sentence
    assert [each.name for each in found.inputs.settings] == ["seed"]
    assert found.luck_only
    assert "only how ties are broken was changed" in found.sentence


def test_a_tie_beside_another_change_is_luck_and_the_rest_may_not_be() -> None:
    drawn = RunOptions(tie_break="draw")
    labelled = [make_node(f"n{i}").label("colour", "red").obj() for i in range(1, 6)]
    first = run([*nodes(5), *pods(1)], drawn)
    others = (run([*labelled, *pods(1)], replace(drawn, seed=seed)) for seed in range(1, 20))
    node = first.lines[0].node
    found = compare(first, next(each for each in others if each.lines[0].node != node))

    assert found.parting is not None
    assert found.parting.difference.luck
    assert not found.luck_only


def test_another_release_may_bear_on_what_no_other_difference_names() -> None:
    gates = FeatureGates((), RELEASES["1.37.2"])
    newer = RunOptions(configuration=default_configuration(gates), features=gates)
    cluster = [make_node("n1").cpu("1").obj(), *pods(1, "2")]
    shape = Setting("default-scheduler VolumeBinding shape", "null", "[]")
    found = compare(run(cluster), run(cluster, newer)).with_known([shape], ())

    assert of(found)[:2] == ("PostFilter", "DynamicResources")
    assert found.causes == ["release: 1.36.2 in A, 1.37.2 in B"]


def test_a_move_by_the_change_is_no_luck() -> None:
    more = [make_node("n1").cpu("32").obj(), make_node("n2").obj()]
    less = [make_node("n1").obj(), make_node("n2").cpu("32").obj()]
    found = compare(run([*more, *pods(1)]), run([*less, *pods(1)]))

    assert [(each.pod, each.a, each.b, each.luck) for each in found.ends.moved] == [
        ("default/p1", "n1", "n2", False)
    ]


def test_the_order_of_the_queue() -> None:
    first, second = pods(2)
    raised = make_pod("p2").cpu("1").priority(10).obj()
    found = compare(run([*nodes(), first, second]), run([*nodes(), first, raised]))

    assert of(found)[:4] == ("QueueSort", "PrioritySort", "", "pod")
    assert of(found)[4:] == ("default/p1, attempt 1", "default/p2, attempt 1")


def test_victims_and_who_was_evicted() -> None:
    low = make_pod("low").cpu("3").on("n1").priority(0).obj()
    high = make_pod("high").cpu("3").priority(100).obj()
    polite = make_pod("high").cpu("3").priority(100).preemption_policy("Never").obj()
    found = compare(run([*nodes(1), low, high]), run([*nodes(1), low, polite]))

    assert of(found) == ("PostFilter", "DefaultPreemption", "", "nominated_node", "n1", "none")
    assert (found.evicted_a, found.evicted_b) == (["default/low"], [])
    assert not found.identical


def test_a_difference_without_an_effect_is_none() -> None:
    labelled = [make_node(f"n{i}").label("colour", "red").obj() for i in range(1, 4)]
    found = compare(run([*nodes(), *pods()]), run([*labelled, *pods()]))

    assert found.identical
    assert found.inputs.differ
    assert "What they started from differs." in found.sentence


def test_what_differs_though_nothing_was_decided_differently() -> None:
    more = [*nodes(), make_node("huge").cordoned().cpu("64").obj()]
    none = compare(run(nodes()), run(more))
    bound = make_pod("before").cpu("1").on("n1").obj()
    apart = compare(run([*nodes(), bound, *pods(1)]), run([*nodes(), make_pod("other").obj()]))

    assert not none.identical
    assert "different amounts of cpu, memory, pods are left" in none.sentence
    assert apart.sentence.startswith("The runs try no pod in common.")


def test_nodes_in_another_order_are_the_same_nodes() -> None:
    """Numbers of a trace follow the input; a single fitting node leaves no tie to them."""
    cluster = [make_node("n1").cpu("2").obj(), make_node("n2").cpu("8").obj()]
    a, b = run([*cluster, *pods(2)]), run([*cluster[::-1], *pods(2)])

    assert compare(a, b).identical


def test_runs_in_which_nothing_was_tried() -> None:
    assert compare(run(nodes()), run(nodes())).sentence == (
        "The runs are identical: no pod was tried."
    )
    assert compare(read_lines([]), read_lines([])).identical


def test_where_chunks_are_cut_does_not_matter() -> None:
    events = list(simulate([*nodes(), *pods(9)], RunOptions()))

    assert compare(read_lines(chunks(events, 2)), read_lines(chunks(events, 5))).identical


@pytest.mark.parametrize(
    "headers", [b"nonsense", gzip.compress(b"\x93", mtime=0), gzip.compress(b"", mtime=0)]
)
def test_a_damaged_trace_is_refused(headers: bytes) -> None:
    chunk = chunks(simulate([*nodes(), *pods()], RunOptions()))[0]

    with pytest.raises(TraceError, match="after event -1 it is damaged"):
        read_lines([msgspec.structs.replace(chunk, headers=headers)])


def test_a_trace_that_contradicts_itself_is_refused() -> None:
    whole = chunks(simulate([*nodes(), *pods(9)], RunOptions()))

    with pytest.raises(TraceError, match="contradicts itself"):
        read_lines(whole[1:])


def test_damaged_columns_are_refused() -> None:
    whole = chunks(simulate([*nodes(), *pods(9)], RunOptions()))
    damaged = [msgspec.structs.replace(each, details=b"nonsense") for each in whole]

    with pytest.raises(TraceError, match="columns of cycle 1 are damaged"):
        compare(read_lines(whole), read_lines(damaged))
