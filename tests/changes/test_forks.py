"""A run with changes at one of its cycles: its parent up to there, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import KubeObject
from scheduler_core.changes import Change, ChangeAt, ChangeError, Rules, plan, read_line
from scheduler_core.changes.vocabulary import StepChange
from scheduler_core.sim import RunOptions, load_scenario, simulate
from scheduler_core.trace.codec import TraceWriter
from scheduler_core.trace.events import (
    AnyEvent,
    CycleFinished,
    CycleStarted,
    RunStarted,
    ScenarioStepped,
)
from tests.builders import make_node, make_pod
from tests.changes.strategies import cluster, object_changes
from tests.effort import examples

SCENARIO = load_scenario(
    """
    steps:
    - {at: 2s, uncordon: n3}
    - {at: 3s, create: {apiVersion: v1, kind: Pod, metadata: {name: late},
       spec: {containers: [{name: c, resources: {requests: {cpu: 500m}}}]}}}
    - {at: 4s, scale: {kind: ReplicaSet, name: web, replicas: 4}}
    - {at: 20s, drain: n2}
    """
)


def trace_of(objects: list[KubeObject], *changes: ChangeAt) -> list[AnyEvent]:
    planned = plan(objects, Rules(), changes)
    options = RunOptions(scenario=SCENARIO, later=planned.later)
    return list(simulate(planned.objects, options))


def before_cycle(trace: list[AnyEvent], cycle: int) -> list[AnyEvent]:
    """What happened until a cycle's pod was about to be taken, without the run's first event."""
    begins = next(
        i for i, e in enumerate(trace) if isinstance(e, CycleStarted) and e.cycle == cycle
    )
    last = max((i for i, e in enumerate(trace[:begins]) if isinstance(e, CycleFinished)), default=0)
    return [e for e in trace[: last + 1] if not isinstance(e, RunStarted)]


def n_cycles(trace: list[AnyEvent]) -> int:
    return sum(1 for event in trace if isinstance(event, CycleStarted))


def trace_hash(trace: list[AnyEvent]) -> str:
    writer = TraceWriter()
    for event in trace:
        writer.add(event)
    writer.cut()
    return writer.trace_hash()


PARENT = trace_of(cluster())


@examples(12)
@given(object_changes, st.integers(1, n_cycles(PARENT)))
def test_a_fork_is_its_parent_up_to_the_cycle(change: Change, cycle: int) -> None:
    assert isinstance(change, StepChange)
    fork = trace_of(cluster(), ChangeAt(change, cycle))
    mine, theirs = before_cycle_of(fork, cycle), before_cycle(PARENT, cycle)
    assert mine[: len(theirs)] == theirs
    steps = [e for e in fork if isinstance(e, ScenarioStepped)]
    assert any(step.index == len(SCENARIO.steps) for step in steps)


def before_cycle_of(trace: list[AnyEvent], cycle: int) -> list[AnyEvent]:
    """The same of a fork, which may end before the cycle."""
    if n_cycles(trace) >= cycle:
        return before_cycle(trace, cycle)
    return [e for e in trace if not isinstance(e, RunStarted)]


def test_a_variant_without_changes_is_its_parent() -> None:
    assert trace_hash(trace_of(cluster())) == trace_hash(PARENT)


def test_a_fork_happens_when_its_cycle_would_begin_and_not_when_the_one_before_is_over() -> None:
    pods = [make_pod("first").cpu("1").obj(), make_pod("second").cpu("9").obj()]
    objects = [make_node("n").cpu(2).obj(), *pods]
    scenario = load_scenario("steps: [{at: 30s, patch: {kind: Pod, name: second, merge: "
                             "{metadata: {labels: {a: b}}}}}, {at: 40s, uncordon: n},"
                             "{at: 50s, create: {apiVersion: v1, kind: Pod, metadata: {name: p},"
                             "spec: {containers: [{name: c}]}}}]")  # fmt: skip
    planned = plan(objects, Rules(), [ChangeAt(read_line("node/n cordon"), 3)])
    events = list(simulate(objects, RunOptions(scenario=scenario, later=planned.later)))
    texts = [event.text for event in events if isinstance(event, ScenarioStepped)]
    assert texts == ["Patch pod default/second: metadata.labels.a", "Uncordon node n",
                     "Create pod default/p", "Cordon node n"]  # fmt: skip


def test_several_changes_of_one_cycle_are_made_together_in_their_order() -> None:
    changes = [ChangeAt(read_line(line), 1) for line in ("pod/a delete", "pod/b delete")]
    texts = [e.text for e in trace_of(cluster(), *changes) if isinstance(e, ScenarioStepped)]
    assert texts[:2] == ["Delete pod default/a", "Delete pod default/b"]


def test_rules_hold_from_the_beginning() -> None:
    with pytest.raises(ChangeError, match=r"changes\[0\]: holds from the beginning of a run"):
        plan(cluster(), Rules(), [ChangeAt(read_line("seed 4"), 2)])
