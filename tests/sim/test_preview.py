"""Previews of a held cycle: as recorded where nothing changes, as a run would go where something
does, and the held cycle stays as it was."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from kviz.bench.workloads import WORKLOADS
from scheduler_core.api import KubeObject, Node, Pod, Taint
from scheduler_core.config import load_configuration
from scheduler_core.sim import RunOptions, load_scenario, reenact_cycle, simulate
from scheduler_core.sim.preview import CannotPreview, PreviewedCycle
from scheduler_core.sim.preview_world import Edit
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.trace.events import (
    AnyEvent,
    CycleFinished,
    CycleStarted,
    FilterColumns,
    FilterFinished,
    NodeAdded,
    NodeDeleted,
    NodeOrderChanged,
    NodeSelected,
    PodUpdated,
    PostFilterFinished,
    PreemptionDecided,
    PreemptionDryRun,
    PreemptionIneligible,
    PreemptionStarted,
    PreFilterFinished,
    PreScoreFinished,
    ScoreColumns,
)
from scheduler_core.trace.records import Result
from tests.builders import NodeBuilder, PodBuilder
from tests.effort import examples

SAMPLES = Path(__file__).parents[2] / "kviz" / "runs" / "scenarios"
DECIDING = (
    CycleStarted,
    PreFilterFinished,
    FilterFinished,
    FilterColumns,
    PreScoreFinished,
    ScoreColumns,
    NodeSelected,
    PreemptionStarted,
    PreemptionDryRun,
    PreemptionDecided,
    PreemptionIneligible,
    PostFilterFinished,
    CycleFinished,
)


def recorded(trace: Sequence[AnyEvent], number: int) -> list[AnyEvent]:
    """Return the events of a cycle's decision."""
    starts = [i for i, event in enumerate(trace) if isinstance(event, CycleStarted)]
    begin = starts[number - 1]
    found: list[AnyEvent] = []
    for event in trace[begin:]:
        if isinstance(event, DECIDING):
            found.append(event)
        if isinstance(event, CycleFinished):
            break
    return found


def n_cycles(trace: Sequence[AnyEvent]) -> int:
    return sum(isinstance(event, CycleStarted) for event in trace)


def held_cycle(
    objects: Sequence[KubeObject], number: int, options: RunOptions | None = None
) -> ReenactedCycle:
    held = reenact_cycle(objects, options or RunOptions(), number)
    assert held is not None
    return held


def check_as_recorded(objects: Sequence[KubeObject], options: RunOptions, most: int = 12) -> int:
    """Compare previews of no change with the trace, in a few cycles from first to last."""
    trace = list(simulate(objects, options))
    n = n_cycles(trace)
    for number in sorted({round(1 + i * (n - 1) / most) for i in range(most + 1)} if n else ()):
        held = reenact_cycle(objects, options, number)
        if held is None:
            continue
        found = held.previews.preview()
        expected = recorded(trace, number)
        if expected[-1].result in (Result.SCHEDULED, Result.WAITING):  # type: ignore[union-attr]
            assert list(found.cycle[:-1]) == expected[:-1]
            assert found.cycle[-1].node == expected[-1].node  # type: ignore[union-attr]
        else:
            assert list(found.cycle) == expected
        assert found.as_recorded
        assert found.n_world == 0
    return n


@pytest.mark.parametrize("sample", sorted(SAMPLES.glob("*.yaml")), ids=lambda path: path.stem)
def test_without_a_change_a_preview_is_what_was_recorded(sample: Path) -> None:
    options = RunOptions(scenario=load_scenario(sample.read_text()))
    assert check_as_recorded([], options) > 0


@pytest.mark.parametrize(
    "workload",
    [
        "mixed",
        "preemption",
        "contested",
        "volumes",
        "antiaffinity",
        "preferredspread",
        "podaffinity",
    ],
)
def test_without_a_change_a_preview_of_a_workload_is_what_was_recorded(workload: str) -> None:
    objects = list(WORKLOADS[workload].make(30, 40))
    assert check_as_recorded(objects, RunOptions(), most=5) > 0


def test_lots_are_drawn_again_as_they_were() -> None:
    objects = list(WORKLOADS["basic"].make(30, 20))
    assert check_as_recorded(objects, RunOptions(tie_break="draw", seed=7), most=6) == 20


def test_batches_are_offered_again_as_they_were() -> None:
    text = """
        apiVersion: kubescheduler.config.k8s.io/v1
        kind: KubeSchedulerConfiguration
        profiles:
          - pluginConfig:
              - name: PodTopologySpread
                args: {defaultingType: List}
        """
    nodes = [NodeBuilder(f"n{i}").cpu("4").obj() for i in range(8)]
    pods = [PodBuilder(f"p{i}").requests({"cpu": "4"}).obj() for i in range(8)]
    options = RunOptions(configuration=load_configuration(text))
    trace = list(simulate([*nodes, *pods], options))
    hints = [event.hint for event in trace if isinstance(event, FilterFinished)]
    assert any(hint >= 0 for hint in hints)
    assert check_as_recorded([*nodes, *pods], options, most=8) == 8


# ---------------------------------------------------------------- changes


def test_a_changed_pod_is_decided_as_in_a_run_with_that_pod() -> None:
    objects = list(WORKLOADS["mixed"].make(40, 1))
    pod = next(item for item in objects if isinstance(item, Pod) and not item.spec.node_name)
    held = held_cycle(objects, 1)
    stored = held.objects.get(Pod, pod.key)
    assert stored is not None
    changed = with_cpu(stored, "3900m")
    found = held.previews.preview([Edit(stored, changed)])
    expected = recorded(list(simulate([*without(objects, pod), with_cpu(pod, "3900m")])), 1)
    assert [type(event) for event in found.events[: found.n_world]] == [PodUpdated]
    assert list(found.cycle[:-1]) == expected[:-1]
    assert not found.as_recorded


TAINTS = st.lists(
    st.builds(
        Taint,
        key=st.sampled_from("ab"),
        value=st.sampled_from(["", "x"]),
        effect=st.sampled_from(["NoSchedule", "PreferNoSchedule", "NoExecute"]),
    ),
    max_size=2,
    unique_by=lambda taint: (taint.key, taint.effect),
).map(tuple)


@st.composite
def changed_nodes(draw: st.DrawFn, nodes: Sequence[Node]) -> list[tuple[Node, Node]]:
    """Return some of the nodes with what became of them."""
    some = draw(st.lists(st.sampled_from(range(len(nodes))), min_size=1, max_size=3, unique=True))
    found = []
    for i in some:
        node = nodes[i]
        spec = replace(node.spec, taints=draw(TAINTS), unschedulable=draw(st.booleans()))
        cpu = draw(st.sampled_from(["100m", "2", "4", "16"]))
        status = replace(node.status, allocatable=node.status.allocatable | {"cpu": cpu})
        labels = node.metadata.labels | {"disk": draw(st.sampled_from(["ssd", "hdd"]))}
        metadata = replace(node.metadata, labels=labels)
        found.append((node, replace(node, spec=spec, status=status, metadata=metadata)))
    return found


@examples(8)
@given(st.data(), st.sampled_from(["mixed", "preemption", "preferredspread", "podaffinity"]))
def test_changed_nodes_are_decided_about_as_in_a_run_with_those_nodes(
    data: st.DataObject, workload: str
) -> None:
    objects = list(WORKLOADS[workload].make(12, 3))
    held = held_cycle(objects, 1)
    before = look(held)
    nodes = list(held.objects.all(Node))
    for _ in range(2):
        changed = data.draw(changed_nodes(nodes))
        found = held.previews.preview([Edit(old, new) for old, new in changed])
        by_name = {new.name: new for _, new in changed}
        there = [
            by_name.get(item.name, item) if isinstance(item, Node) else item for item in objects
        ]
        expected = recorded(list(simulate(there)), 1)
        assert list(found.cycle[:-1]) == expected[:-1]
    assert look(held) == before


def look(held: ReenactedCycle) -> list[object]:
    """Return what a held cycle answers, whatever it is asked."""
    return [
        held.pre_filter,
        dict(held.rejected),
        held.evidence.pod,
        [held.evidence.node(name) for name in held.evidence.node_names[:3]],
        held.previews.preview(),
    ]


def test_a_node_that_comes_and_one_that_goes_are_seen() -> None:
    objects = [NodeBuilder("small").cpu("1").obj(), PodBuilder("p").requests({"cpu": "2"}).obj()]
    held = held_cycle(objects, 1)
    assert result(held.previews.preview()) == Result.UNSCHEDULABLE
    large = NodeBuilder("large").cpu("8").obj()
    found = held.previews.preview([Edit(None, large)])
    assert [type(event) for event in found.events[: found.n_world]] == [NodeAdded, NodeOrderChanged]
    assert (result(found), chosen(found)) == (Result.SCHEDULED, 1)
    small = held.objects.get(Node, "small")
    gone = held.previews.preview([Edit(small, None), Edit(None, large)])
    assert isinstance(gone.events[0], NodeDeleted)
    assert chosen(gone) == 1
    nothing = held.previews.preview([Edit(small, None)])
    assert nothing.cycle[-1].message == "no nodes available to schedule pods"  # type: ignore[union-attr]


def test_a_pod_that_leaves_its_node_makes_room() -> None:
    placed = PodBuilder("there").requests({"cpu": "3"}).on("n").obj()
    objects = [
        NodeBuilder("n").cpu("4").obj(),
        placed,
        PodBuilder("p").requests({"cpu": "2"}).obj(),
    ]
    held = held_cycle(objects, 1)
    assert result(held.previews.preview()) == Result.UNSCHEDULABLE
    stored = held.objects.get(Pod, placed.key)
    assert result(held.previews.preview([Edit(stored, None)])) == Result.SCHEDULED
    assert result(held.previews.preview()) == Result.UNSCHEDULABLE


def test_an_assumed_pod_may_be_changed_and_deleted() -> None:
    pods = [PodBuilder(name).requests({"cpu": "3"}).obj() for name in ("first", "second")]
    held = held_cycle([NodeBuilder("n").cpu("4").obj(), *pods], 2)
    assert result(held.previews.preview()) == Result.UNSCHEDULABLE
    first = held.objects.get(Pod, "default/first")
    assert first is not None
    assert not first.spec.node_name, "its binding is under way"
    assert result(held.previews.preview([Edit(first, with_cpu(first, "1"))])) == Result.SCHEDULED
    assert (
        result(held.previews.preview([Edit(first, with_cpu(first, "2"))])) == Result.UNSCHEDULABLE
    )
    assert result(held.previews.preview([Edit(first, None)])) == Result.SCHEDULED


def test_preemption_is_a_dry_run_and_can_be_repeated() -> None:
    lesser = PodBuilder("lesser").requests({"cpu": "3"}).priority(1).on("n").obj()
    pod = PodBuilder("p").requests({"cpu": "2"}).priority(5).obj()
    held = held_cycle([NodeBuilder("n").cpu("4").obj(), lesser, pod], 1)
    stored = held.objects.get(Pod, "default/p")
    assert stored is not None
    for priority, winner in [(5, 0), (0, -1), (6, 0), (6, 0)]:
        changed = replace(stored, spec=replace(stored.spec, priority=priority))
        found = held.previews.preview([Edit(stored, changed)])
        decided = [event for event in found.events if isinstance(event, PreemptionDecided)]
        assert [event.winner for event in decided] == [winner], priority
    assert held.objects.get(Pod, lesser.key).metadata.deletion_timestamp is None  # type: ignore[union-attr]


def test_a_nominated_pod_may_be_changed_and_deleted() -> None:
    there = PodBuilder("there").requests({"cpu": "4"}).priority(1).on("n").obj()
    rival = PodBuilder("rival").requests({"cpu": "3"}).priority(9).obj()
    pod = PodBuilder("p").requests({"cpu": "2"}).priority(9).preemption_policy("Never").obj()
    held = held_cycle([NodeBuilder("n").cpu("4").obj(), there, rival, pod], 2)
    stored, victim = held.objects.get(Pod, "default/rival"), held.objects.get(Pod, "default/there")
    assert stored is not None
    gone = Edit(victim, None)
    assert result(held.previews.preview([gone])) == Result.UNSCHEDULABLE
    small = Edit(stored, with_cpu(stored, "2"))
    assert result(held.previews.preview([gone, small])) == Result.SCHEDULED
    assert result(held.previews.preview([gone, Edit(stored, None)])) == Result.SCHEDULED
    assert result(held.previews.preview([gone])) == Result.UNSCHEDULABLE


def test_a_gated_pod_has_no_cycle() -> None:
    held = held_cycle([NodeBuilder("n").cpu("4").obj(), PodBuilder("p").obj()], 1)
    stored = held.objects.get(Pod, "default/p")
    gated = PodBuilder("p").gates("wait").obj()
    assert stored is not None
    changed = replace(
        stored, spec=replace(stored.spec, scheduling_gates=gated.spec.scheduling_gates)
    )
    found = held.previews.preview([Edit(stored, changed)])
    assert found.gated is not None
    assert found.gated.plugin == "SchedulingGates"
    assert list(found.cycle) == []


@pytest.mark.parametrize("fate", ["deleted", "bound"])
def test_a_pod_without_a_cycle_is_refused(fate: str) -> None:
    held = held_cycle([NodeBuilder("n").cpu("4").obj(), PodBuilder("p").obj()], 1)
    stored = held.objects.get(Pod, "default/p")
    assert stored is not None
    bound = replace(stored, spec=replace(stored.spec, node_name="n"))
    with pytest.raises(CannotPreview, match=f"default/p is {fate}, so it has no scheduling cycle"):
        held.previews.preview([Edit(stored, bound if fate == "bound" else None)])


def test_other_rules_are_tried_and_forgotten() -> None:
    objects = [
        NodeBuilder("tainted").cpu("64").taint("soft", "", "PreferNoSchedule").obj(),
        NodeBuilder("busy").cpu("4").obj(),
        PodBuilder("there").requests({"cpu": "3"}).on("busy").obj(),
        PodBuilder("p").requests({"cpu": "1"}).obj(),
    ]
    held = held_cycle(objects, 1)
    before = held.previews.preview()
    light = load_configuration(
        """
        apiVersion: kubescheduler.config.k8s.io/v1
        kind: KubeSchedulerConfiguration
        profiles:
          - plugins:
              score: {disabled: [{name: TaintToleration}]}
        """
    )
    found = held.previews.preview([], light)
    expected = recorded(list(simulate(objects, RunOptions(configuration=light))), 1)
    assert list(found.cycle[:-1]) == expected[:-1]
    assert chosen(found) != chosen(before)
    assert found.profiles is not None
    assert found.plugins is None
    assert held.previews.preview() == before


def test_many_pods_leave_no_trace() -> None:
    objects = [NodeBuilder("n").cpu("4").obj(), PodBuilder("p").requests({"cpu": "1"}).obj()]
    held = held_cycle(objects, 1)
    before = look(held)
    stored = held.objects.get(Pod, "default/p")
    assert stored is not None
    columns = held.previews._cycle.nodes.cluster
    n_templates = len(columns.templates)
    for i in range(600):
        found = held.previews.preview([Edit(stored, with_cpu(stored, f"{i + 1}m"))])
        assert result(found) == Result.SCHEDULED
    assert len(columns.templates) == n_templates
    assert max(len(each.world.cache.columns.templates) for each in held.previews._variants) < 300
    assert look(held) == before


# ---------------------------------------------------------------- parts


def with_cpu(pod: Pod, cpu: str) -> Pod:
    first, *rest = pod.spec.containers
    resources = replace(first.resources, requests=first.resources.requests | {"cpu": cpu})
    containers = (replace(first, resources=resources), *rest)
    return replace(pod, spec=replace(pod.spec, containers=containers))


def without(objects: Sequence[KubeObject], gone: KubeObject) -> Iterator[KubeObject]:
    return (item for item in objects if item is not gone)


def result(found: PreviewedCycle) -> Result:
    last = found.cycle[-1]
    assert isinstance(last, CycleFinished)
    return last.result


def chosen(found: PreviewedCycle) -> int:
    return next(event.node for event in found.cycle if isinstance(event, NodeSelected))
