"""What may be chosen for a run beside its configuration: gates, the rule for ties, queue order."""

from __future__ import annotations

import pytest

from scheduler_core.api import KubeObject
from scheduler_core.config import ConfigError, feature_gates
from scheduler_core.releases import UNNAMED
from scheduler_core.sim import RunOptions, ScenarioError, gates_of_run, load_scenario, simulate
from scheduler_core.trace.events import CycleStarted, PodAdded, RunStarted
from scheduler_core.trace.records import GateRecord, QueueOrder
from tests.builders import make_node, make_pod

HOUR_NS = 3_600_000_000_000


def started(options: RunOptions) -> RunStarted:
    first = next(simulate([make_node("n").obj()], options))
    assert isinstance(first, RunStarted)
    return first


def test_a_trace_begins_with_release_and_options() -> None:
    first = started(RunOptions())
    assert (first.release, first.gates) == (UNNAMED.name, ())
    assert (first.tie_break, first.queue_order) == ("heap", "listed")
    gates = feature_gates({"VolumeLimitScaling": True, "PodLevelResources": True})
    changed = started(RunOptions(features=gates, tie_break="draw", queue_order="name"))
    assert changed.gates == (GateRecord("VolumeLimitScaling", True),)
    assert (changed.tie_break, changed.queue_order) == ("draw", "name")


# ---------------------------------------------------------------- queue order

PENDING: list[KubeObject] = [
    make_node("n").obj(),
    make_pod("b").namespace("shop").created_ns(3 * HOUR_NS).obj(),
    make_pod("unborn").namespace("shop-eu").obj(),
    make_pod("a").namespace("shop").created_ns(2 * HOUR_NS).obj(),
    make_pod("c").namespace("back").created_ns(2 * HOUR_NS).obj(),
]


def tried(order: QueueOrder) -> list[str]:
    """The names of the pods in the order in which they are attempted."""
    names: dict[int, str] = {}
    attempted = []
    for event in simulate(PENDING, RunOptions(queue_order=order)):
        if isinstance(event, PodAdded):
            names[event.pod] = event.name
        elif isinstance(event, CycleStarted):
            attempted.append(names[event.pod])
    return attempted


def test_pending_pods_are_queued_as_listed_unless_the_option_says_otherwise() -> None:
    assert tried("listed") == ["b", "unborn", "a", "c"]


def test_a_scheduler_that_has_just_started_lists_by_namespace_and_name() -> None:
    """By the keys of the store, where a dash sorts before the slash after the namespace."""
    assert tried("name") == ["c", "unborn", "a", "b"]


def test_a_scheduler_that_ran_all_along_saw_the_oldest_first() -> None:
    assert tried("created") == ["a", "c", "b", "unborn"]


# ---------------------------------------------------------------- gates of a scenario

SCENARIO = load_scenario(
    "featureGates: {SchedulerAsyncPreemption: false, SchedulerPopFromBackoffQ: false}"
)


def test_what_is_asked_for_goes_before_the_scenario() -> None:
    assert gates_of_run({}, SCENARIO).changed == {
        "SchedulerAsyncPreemption": False,
        "SchedulerPopFromBackoffQ": False,
    }
    asked = {"SchedulerAsyncPreemption": True, "VolumeLimitScaling": True}
    assert gates_of_run(asked, SCENARIO).changed == {
        "SchedulerPopFromBackoffQ": False,
        "VolumeLimitScaling": True,
    }


@pytest.mark.parametrize(
    ("asked", "header", "kind", "paths"),
    [
        ({"Nope": True}, "{Nah: true}", ConfigError, ["Nope"]),
        ({"VolumeLimitScaling": True}, "{Nah: true}", ScenarioError, ["Nah"]),
        ({}, "{GangScheduling: true}", ScenarioError, ["GangScheduling"]),
        (
            {},
            "{PodLevelResources: false}",
            ScenarioError,
            ["InPlacePodLevelResourcesVerticalScaling"],
        ),
        (
            {"PodLevelResources": False},
            "{}",
            ConfigError,
            ["InPlacePodLevelResourcesVerticalScaling"],
        ),
        (
            {"InPlacePodLevelResourcesVerticalScaling": True},
            "{PodLevelResources: false}",
            ConfigError,
            ["InPlacePodLevelResourcesVerticalScaling"],
        ),
    ],
)
def test_a_refusal_blames_who_asked(
    asked: dict[str, bool], header: str, kind: type[ConfigError], paths: list[str]
) -> None:
    with pytest.raises(ConfigError) as caught:
        gates_of_run(asked, load_scenario(f"featureGates: {header}"))
    assert type(caught.value) is kind
    assert [problem.path for problem in caught.value.problems] == [
        ("featureGates", name) for name in paths
    ]


def test_a_gate_that_is_neither_true_nor_false_is_refused_where_it_stands() -> None:
    with pytest.raises(ScenarioError) as caught:
        load_scenario("steps: []\nfeatureGates:\n  VolumeLimitScaling: maybe\n")
    (problem,) = caught.value.problems
    assert (problem.field, problem.line) == ("featureGates.VolumeLimitScaling", 3)
