"""TeachingGang: a gang waits on Permit, is released, times out, or is rejected as a whole."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from scheduler_core.api import Node, Pod
from scheduler_core.config import ConfigError, load_configuration
from scheduler_core.registry import in_tree_registry
from scheduler_core.sim import RunOptions, load_scenario, simulate
from scheduler_core.teaching.gang import MIN_AVAILABLE_LABEL, NAME_LABEL, TeachingGang
from scheduler_core.trace.events import (
    Bound,
    ClockAdvanced,
    CycleStarted,
    EventRecorded,
    PermitResolved,
    PermitWaiting,
    PodAdded,
    RunStarted,
)
from tests.builders import make_node, make_pod

SECOND_NS = 1_000_000_000


@dataclass
class Story:
    """What became of pods on Permit: `(whole seconds of the run, pod, what)`."""

    permits: list[tuple[int, str, str]] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    messages: dict[str, list[str]] = field(default_factory=dict)
    attempts: dict[str, int] = field(default_factory=dict)


def options(args: str = "permitWaitingTimeSeconds: 10", scenario: str = "") -> RunOptions:
    registry = in_tree_registry()
    registry.register_out_of_tree(TeachingGang.name, TeachingGang)
    configuration = load_configuration(
        "apiVersion: kubescheduler.config.k8s.io/v1\n"
        "kind: KubeSchedulerConfiguration\n"
        "profiles:\n"
        "- plugins: {multiPoint: {enabled: [{name: TeachingGang}]}}\n"
        f"  pluginConfig: [{{name: TeachingGang, args: {{{args}}}}}]\n"
    )
    steps = load_scenario(f"steps:\n{scenario}" if scenario else "steps: []")
    return RunOptions(configuration=configuration, registry=registry, scenario=steps)


def play(*objects: Node | Pod, scenario: str = "") -> Story:
    story, names, start_ns, now_ns = Story(), dict[int, str](), 0, 0
    for event in simulate(list(objects), options(scenario=scenario)):
        seconds = (now_ns - start_ns) // SECOND_NS
        match event:
            case RunStarted():
                start_ns = now_ns = event.now_ns
            case ClockAdvanced():
                now_ns = event.now_ns
            case PodAdded():
                names[event.pod] = event.name
            case CycleStarted():
                story.attempts[names[event.pod]] = event.attempt
            case PermitWaiting():
                story.permits.append((seconds, names[event.pod], "wait"))
            case PermitResolved():
                story.permits.append((seconds, names[event.pod], event.decision))
            case EventRecorded(reason="FailedScheduling"):
                story.messages.setdefault(names[event.pod], []).append(event.message)
            case Bound():
                story.bound.add(names[event.pod])
            case _:
                pass
    return story


def nodes(*names: str) -> list[Node]:
    return [make_node(name).cpu(4).memory("8Gi").pods(10).obj() for name in names]


def member(name: str, gang: str, of: int, cpu: str = "3") -> Pod:
    return make_pod(name).cpu(cpu).labels({NAME_LABEL: gang, MIN_AVAILABLE_LABEL: str(of)}).obj()


def arrival(at: str, name: str, gang: str, of: int, cpu: str = "3") -> str:
    labels = f'{{{NAME_LABEL}: {gang}, {MIN_AVAILABLE_LABEL}: "{of}"}}'
    resources = f'{{requests: {{cpu: "{cpu}"}}}}'
    return (
        f"- at: {at}\n  create: {{apiVersion: v1, kind: Pod, metadata: {{name: {name}, "
        f"labels: {labels}}}, spec: {{containers: [{{name: c, resources: {resources}}}]}}}}\n"
    )


def test_the_pod_that_completes_the_gang_releases_all() -> None:
    gang = [member(f"g-{i}", "g", 3, "1") for i in range(3)]
    story = play(*nodes("a"), *gang)
    assert story.permits == [
        (0, "g-0", "wait"),
        (0, "g-1", "wait"),
        (0, "g-0", "allow"),
        (0, "g-1", "allow"),
    ]
    assert story.bound == {"g-0", "g-1", "g-2"}


def test_a_pod_waits_for_one_that_comes_later() -> None:
    story = play(*nodes("a", "b"), member("g-0", "g", 2), scenario=arrival("4s", "g-1", "g", 2))
    assert story.permits == [(0, "g-0", "wait"), (4, "g-0", "allow")]
    assert story.bound == {"g-0", "g-1"}


def test_time_runs_out_and_the_others_are_rejected_with_it() -> None:
    waiting = [member("g-0", "g", 3, "1"), member("g-1", "g", 3, "1")]
    story = play(*nodes("a"), *waiting)
    assert story.permits[2:] == [(10, "g-0", "timeout"), (10, "g-1", "reject")]
    assert story.messages == {
        "g-0": [
            "0/1 nodes are available: "
            "1 rejected due to timeout after waiting 10s at plugin TeachingGang."
        ],
        "g-1": ['0/1 nodes are available: 1 gang "g" rejected: default/g-0 lost its place.'],
    }
    assert story.bound == set()


def test_a_pod_that_finds_no_node_rejects_the_gang_at_once() -> None:
    gang = [member(f"g-{i}", "g", 3) for i in range(3)]
    story = play(*nodes("a", "b"), *gang)
    assert (0, "g-0", "reject") in story.permits
    assert (0, "g-1", "reject") in story.permits
    assert story.messages["g-2"][0].endswith(', gang "g" rejected')
    assert story.messages["g-0"] == [
        '0/1 nodes are available: 1 gang "g" rejected: default/g-2 found no node.'
    ]


def test_a_gang_that_is_complete_is_not_rejected_by_one_more() -> None:
    gang = [member(f"g-{i}", "g", 2) for i in range(3)]
    story = play(*nodes("a", "b"), *gang)
    assert story.bound == {"g-0", "g-1"}
    assert "gang" not in story.messages["g-2"][0]


def test_a_waiting_pod_that_is_deleted_rejects_the_others() -> None:
    waiting = [member("g-0", "g", 3, "1"), member("g-1", "g", 3, "1")]
    deletion = "- at: 2s\n  delete: {kind: Pod, name: g-0, namespace: default}\n"
    story = play(*nodes("a"), *waiting, scenario=deletion)
    assert (2, "g-1", "reject") in story.permits
    assert story.messages["g-1"][0] == (
        '0/1 nodes are available: 1 gang "g" rejected: default/g-0 lost its place.'
    )


@pytest.mark.parametrize(
    "labels",
    [{}, {NAME_LABEL: "g"}, {NAME_LABEL: "g", MIN_AVAILABLE_LABEL: "two"}],
    ids=["no labels", "no number", "a word"],
)
def test_a_pod_without_a_gang_passes(labels: dict[str, str]) -> None:
    story = play(*nodes("a"), make_pod("p").labels(labels).obj())
    assert (story.permits, story.bound) == ([], {"p"})


def test_gangs_of_one_name_in_two_namespaces_are_two() -> None:
    here, there = member("g-0", "g", 2, "1"), make_pod("g-1").namespace("other").cpu(1)
    labels = {NAME_LABEL: "g", MIN_AVAILABLE_LABEL: "2"}
    story = play(*nodes("a"), here, there.labels(labels).obj())
    assert [what for _, _, what in story.permits] == ["wait", "wait", "timeout", "timeout"]


def test_a_rejected_gang_tries_again_when_a_node_comes() -> None:
    gang = [member(f"g-{i}", "g", 3) for i in range(3)]
    node = (
        "- at: 30s\n  create: {apiVersion: v1, kind: Node, metadata: {name: c}, "
        'status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}}\n'
    )
    story = play(*nodes("a", "b"), *gang, scenario=node)
    assert story.bound == {"g-0", "g-1", "g-2"}


def test_a_rejected_gang_tries_again_when_a_pod_has_left() -> None:
    gang = [member(f"g-{i}", "g", 2) for i in range(2)]
    holder = make_pod("holder").cpu(3).on("b").obj()
    leaves = "- at: 30s\n  delete: {kind: Pod, name: holder, namespace: default}\n"
    story = play(*nodes("a", "b"), *gang, holder, scenario=leaves)
    assert story.bound == {"g-0", "g-1"}


def test_one_of_two_gangs_that_hold_what_the_other_needs_gives_way() -> None:
    gangs = [member(f"{gang}-{i}", gang, 2) for i in range(2) for gang in "gh"]
    assert play(*nodes("a", "b"), *gangs).bound == {"h-0", "h-1"}


def test_two_gangs_that_can_never_fit_come_to_rest() -> None:
    gangs = [member(f"{gang}-{i}", gang, 3) for i in range(3) for gang in "gh"]
    story = play(*nodes("a", "b"), *gangs)
    assert story.bound == set()
    assert max(story.attempts.values()) <= 5


def test_a_straggler_of_a_gang_that_runs_is_tried_when_another_is_bound() -> None:
    """A pod that was rejected alone has its place in a gang that is complete without it."""
    late = [arrival("20s", f"g-{i}", "g", 2, "1") for i in (1, 2)]
    story = play(*nodes("a"), member("g-0", "g", 2, "1"), scenario="".join(late))
    assert story.permits[:2] == [(0, "g-0", "wait"), (10, "g-0", "timeout")]
    assert story.bound == {"g-0", "g-1", "g-2"}


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("seconds: 3", "TeachingGang takes one argument, permitWaitingTimeSeconds"),
        (
            "permitWaitingTimeSeconds: 0",
            "permitWaitingTimeSeconds must be a whole number of seconds, at least 1",
        ),
        (
            "permitWaitingTimeSeconds: true",
            "permitWaitingTimeSeconds must be a whole number of seconds, at least 1",
        ),
    ],
)
def test_wrong_arguments(args: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        simulate([], options(args))
    (problem,) = caught.value.problems
    assert problem.message == f'initializing plugin "TeachingGang": {message}'


def test_without_arguments_a_pod_waits_a_minute() -> None:
    events = simulate([*nodes("a"), member("g-0", "g", 2)], options(args=""))
    started, waiting = (
        next(event for event in events if isinstance(event, kind))
        for kind in (RunStarted, PermitWaiting)
    )
    assert isinstance(started, RunStarted)
    assert isinstance(waiting, PermitWaiting)
    assert waiting.until_ns - started.now_ns == 60 * SECOND_NS
