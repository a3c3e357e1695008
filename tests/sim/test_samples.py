"""The sample scenarios, played: each tells the story it promises."""

from __future__ import annotations

from pathlib import Path

import pytest

from scheduler_core.sim import RunOptions, load_scenario, simulate
from scheduler_core.trace.events import (
    AnyEvent,
    Bound,
    ClockAdvanced,
    CycleFinished,
    CycleStarted,
    NodeAdded,
    PodAdded,
    PodEvicted,
    QueueMoved,
    RunFinished,
    RunStarted,
    ScenarioStepped,
)
from scheduler_core.trace.fold import fold
from scheduler_core.trace.records import Queue, Result

ROOT = Path(__file__).parents[2]
SAMPLES = sorted((ROOT / "kviz" / "runs" / "scenarios").glob("*.yaml"))
SECOND_NS = 1_000_000_000


def play(name: str) -> list[AnyEvent]:
    text = (ROOT / "kviz" / "runs" / "scenarios" / f"{name}.yaml").read_text()
    return list(simulate([], RunOptions(scenario=load_scenario(text))))


def numbers(trace: list[AnyEvent]) -> dict[str, int]:
    return {event.name: event.pod for event in trace if isinstance(event, PodAdded)}


def finished(trace: list[AnyEvent]) -> RunFinished:
    last = trace[-1]
    assert isinstance(last, RunFinished)
    return last


def test_there_are_six() -> None:
    assert len(SAMPLES) == 6


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda path: path.stem)
def test_every_step_of_every_sample_is_carried_out(sample: Path) -> None:
    scenario = load_scenario(sample.read_text())
    assert scenario.description
    trace = list(simulate([], RunOptions(scenario=scenario)))
    flags = [event.text for event in trace if isinstance(event, ScenarioStepped)]
    assert len(flags) == len(scenario.steps)
    assert [text for text in flags if "refused" in text or "there is none" in text] == []
    assert finished(trace).reason == ""


def test_a_rolling_update_replaces_every_pod_and_never_runs_out() -> None:
    trace = play("rolling-update")
    state = fold(trace)
    assert sorted(pod.owner for pod in state.pods.values()) == ["ReplicaSet/shop-v2"] * 5
    assert finished(trace).n_pending == 0
    before_the_last_goes = fold(trace[: trace.index(flags(trace)[-1])])
    assert len(before_the_last_goes.pods) == 6


def flags(trace: list[AnyEvent]) -> list[ScenarioStepped]:
    return [event for event in trace if isinstance(event, ScenarioStepped)]


def test_a_failed_node_loses_its_pods_and_a_new_one_takes_them() -> None:
    trace = play("node-failure")
    assert len([event for event in trace if isinstance(event, PodEvicted)]) == 2
    state = fold(trace)
    assert {state.nodes[pod.node].name for pod in state.pods.values()} == {
        "rack-1",
        "rack-3",
        "rack-4",
    }
    assert len(state.pods) == 5


def test_the_ladder_has_its_rungs() -> None:
    trace = play("backoff-ladder")
    climber = numbers(trace)["climber"]
    now_ns, rungs, waits_s = 0, [], []
    for event in trace:
        if isinstance(event, RunStarted | ClockAdvanced):
            now_ns = event.now_ns
        elif isinstance(event, CycleStarted) and event.pod == climber:
            rungs.append(now_ns)
        elif (
            isinstance(event, QueueMoved) and event.pod == climber and event.queue is Queue.BACKOFF
        ):
            waits_s.append(round((event.backoff_until_ns - rungs[-1]) / SECOND_NS))
    assert waits_s == [2, 4, 8, 10, 10]
    assert finished(trace).n_pending == 0


def test_gated_pods_are_not_tried_before_their_last_gate_is_lifted() -> None:
    trace = play("gates-lifted")
    cycles = [event.pod for event in trace if isinstance(event, CycleStarted)]
    known = numbers(trace)
    assert cycles == [known["guest-1"], known["guest-2"]]


def test_a_gated_gang_is_bound_together() -> None:
    trace = play("gang-by-gates")
    first = next(i for i, event in enumerate(trace) if isinstance(event, Bound))
    assert len(flags(trace[:first])) == len(flags(trace))
    assert finished(trace).n_bound == 4


def test_a_pod_that_another_scheduler_binds_leaves_its_assumed_place_at_once() -> None:
    trace = play("another-scheduler")
    nodes = {event.node: event.name for event in trace if isinstance(event, NodeAdded)}
    known = numbers(trace)
    ends = [(e.cycle, e.result) for e in trace if isinstance(e, CycleFinished)]
    assert ends == [(1, Result.SCHEDULED), (2, Result.SCHEDULED), (1, Result.BIND_ERROR)]
    bound = {event.pod: nodes[event.node] for event in trace if isinstance(event, Bound)}
    assert bound == {known["ferry"]: "berth-2", known["cargo"]: "berth-1"}
