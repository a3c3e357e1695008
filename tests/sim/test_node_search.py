"""Filtering nodes block by block finds what filtering all of them at once finds."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from kviz.bench.workloads import WORKLOADS
from scheduler_core.api import KubeObject, Node, Taint
from scheduler_core.scheduler import algorithm
from scheduler_core.sim.run import Run, RunOptions
from scheduler_core.sim.simulation import Timing
from scheduler_core.trace.events import (
    AnyEvent,
    CycleFinished,
    CycleStarted,
    FilterColumns,
    FilterFinished,
    NodeSelected,
    ScoreColumns,
)
from scheduler_core.trace.records import StatusRecord
from tests.effort import examples

DECISIONS = (CycleStarted, FilterFinished, ScoreColumns, NodeSelected, CycleFinished)
ALL_AT_ONCE = 1_000_000


def decisions(objects: list[KubeObject], block: int) -> list[AnyEvent | list[StatusRecord]]:
    """Run with a smallest block; return what was decided, and every examined node's status."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(algorithm, "MIN_BLOCK", block)
        run = Run(objects, RunOptions(timing=Timing(kubelet_start_ns=None)))
        found: list[AnyEvent | list[StatusRecord]] = []
        for event in run.events():
            if isinstance(event, DECISIONS):
                found.append(event)
            elif isinstance(event, FilterColumns):
                found.append([event.statuses[i] for i in event.status.array()])
        return found


def with_bad_nodes(objects: list[KubeObject], every: int, offset: int) -> list[KubeObject]:
    """Taint one node in `every`, beginning with the one at `offset`."""
    taint = Taint(key="maintenance", effect="NoSchedule")
    return [
        replace(item, spec=replace(item.spec, taints=(taint,)))
        if isinstance(item, Node) and i % every == offset % every
        else item
        for i, item in enumerate(objects)
    ]


@examples(10)
@given(
    workload=st.sampled_from(["basic", "antiaffinity", "mixed", "preemption", "unschedulable"]),
    n_nodes=st.integers(100, 260),
    every=st.integers(2, 12),
    offset=st.integers(0, 11),
    block=st.integers(1, 40),
)
# The first block, of 112 nodes, holds exactly the 100 feasible ones that are looked for.
@example(workload="basic", n_nodes=200, every=9, offset=4, block=1)
def test_blocks_change_nothing(
    workload: str, n_nodes: int, every: int, offset: int, block: int
) -> None:
    objects = with_bad_nodes(list(WORKLOADS[workload].make(n_nodes, 12)), every, offset)
    assert decisions(objects, block) == decisions(objects, ALL_AT_ONCE)
