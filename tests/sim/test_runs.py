"""Whole runs: how they end, and that the same inputs give the same bytes."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from scheduler_core.api import KubeObject
from scheduler_core.sim import RunOptions, load_scenario, simulate
from scheduler_core.sim.run import in_sync_order, start_ns
from scheduler_core.trace.codec import TraceWriter, read_headers, starts_cycle
from scheduler_core.trace.events import (
    AnyEvent,
    DetailEvent,
    FilterColumns,
    HeaderEvent,
    NodeSelected,
    PodAdded,
    RunFinished,
    RunStarted,
)
from tests.builders import make_node, make_pod
from tests.effort import examples

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted((ROOT / "kviz" / "runs" / "scenarios").glob("*.yaml"))
START_NS = 1_767_225_600_000_000_000


def cluster(n_nodes: int, n_pods: int) -> list[KubeObject]:
    nodes = [make_node(f"n{i}").zone(f"z{i % 2}").cpu(2 + i % 3).obj() for i in range(n_nodes)]
    pods = [
        make_pod(f"p{i}").cpu(1 + i % 2).priority(i % 4).label("app", f"a{i % 3}").obj()
        for i in range(n_pods)
    ]
    return [*nodes, *pods]


def written(events: list[AnyEvent], cuts: list[bool]) -> tuple[str, list[HeaderEvent]]:
    """Return the trace's hash, and its header events read back from chunks cut here and there."""
    writer = TraceWriter()
    chunks = []
    for i, event in enumerate(events):
        if starts_cycle(event) and cuts[i % len(cuts)]:
            chunks.append(writer.cut())
        writer.add(event)
    chunks.append(writer.cut())
    headers = [event for chunk in chunks if chunk for event in read_headers(chunk.headers)[1]]
    return writer.trace_hash(), headers


def test_the_run_begins_with_the_cluster_and_ends_with_its_counts() -> None:
    trace = list(simulate(cluster(3, 5)))
    assert isinstance(trace[0], RunStarted)
    assert trace[0].now_ns == START_NS
    assert "NodeResourcesFit" in trace[0].plugins
    last = trace[-1]
    assert isinstance(last, RunFinished)
    assert (last.n_bound, last.n_pending) == (5, 0)
    assert last.n_cycles == 5


def test_bound_pods_come_before_pending_ones_whatever_their_order() -> None:
    pending, bound, node = make_pod("a").obj(), make_pod("b").on("n").obj(), make_node("n").obj()
    assert [item.name for item in in_sync_order([pending, bound, node])] == ["n", "b", "a"]
    trace = simulate([pending, bound, node])
    added = [event.name for event in trace if isinstance(event, PodAdded)]
    assert added == ["b", "a"]


def test_a_run_starts_after_everything_its_objects_know_of() -> None:
    late = START_NS + 10**9 * 3600 + 1
    assert start_ns([make_pod("p").created_ns(late).obj()]) == START_NS + 10**9 * 3601
    assert start_ns([make_pod("p").obj()]) == START_NS
    never = replace(make_pod("p").obj().metadata, deletion_grace_period_seconds=-(2**62))
    assert start_ns([replace(make_pod("p").obj(), metadata=never)]) == START_NS


def test_a_limit_on_cycles() -> None:
    *_, last = simulate(cluster(3, 5), RunOptions(max_cycles=2))
    assert isinstance(last, RunFinished)
    assert (last.n_cycles, last.reason) == (2, "stopped after 2 cycles")


def test_details_can_be_left_out_and_nothing_else_changes() -> None:
    objects = cluster(4, 9)
    whole = list(simulate(objects))
    slim = list(simulate(objects, RunOptions(details=False)))
    assert any(isinstance(event, FilterColumns) for event in whole)
    assert slim == [event for event in whole if not isinstance(event, DetailEvent)]


def test_a_draw_depends_on_the_seed_alone() -> None:
    objects = [*(make_node(f"n{i}").obj() for i in range(20)), make_pod("p").obj()]

    def drawn(seed: int) -> NodeSelected:
        trace = simulate(objects, RunOptions(tie_break="draw", seed=seed))
        return next(event for event in trace if isinstance(event, NodeSelected))

    assert drawn(1) == drawn(1)
    assert drawn(1).rule == "draw"
    assert len({drawn(seed).node for seed in range(12)}) > 3


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda path: path.stem)
def test_the_same_inputs_give_the_same_trace(scenario: Path) -> None:
    options = RunOptions(scenario=load_scenario(scenario.read_text()))
    objects = cluster(3, 8)
    assert list(simulate(objects, options)) == list(simulate(objects, options))


@examples(10)
@given(
    st.integers(1, 4),
    st.integers(0, 12),
    st.integers(0, 3),
    st.lists(st.booleans(), min_size=1, max_size=6),
    st.lists(st.booleans(), min_size=1, max_size=6),
)
def test_same_seed_same_bytes_whatever_the_chunks(
    n_nodes: int, n_pods: int, seed: int, cuts: list[bool], other_cuts: list[bool]
) -> None:
    objects = cluster(n_nodes, n_pods)
    options = RunOptions(tie_break="draw" if seed else "heap", seed=seed)
    first = written(list(simulate(objects, options)), cuts)
    again = written(list(simulate(objects, options)), other_cuts)
    assert first == again
