"""Which other plugins would have turned a node down, and that the run is not disturbed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.individual import IndividualVerdicts, evaluate_individually
from scheduler_core.framework.interface import Prepared
from scheduler_core.framework.runtime import CycleState
from scheduler_core.framework.status import SKIP, Code, Status, Verdict
from scheduler_core.sim import RunOptions, reenact_cycle, simulate
from scheduler_core.trace.events import CycleStarted, FilterColumns, RunStarted
from tests.builders import make_node, make_pod
from tests.framework.profile import (
    Answering,
    Named,
    Turnstile,
    framework,
    no,
    some_pod,
    three_nodes,
)
from tests.plugins.harness import affinity, expression, named, taint, term


def said(found: IndividualVerdicts) -> dict[str, list[str]]:
    """Rejections by node as `plugin: reason`."""
    return {
        name: [f"{status.plugin}: {status.message}" for status in statuses]
        for name, statuses in found.nodes.items()
    }


def test_every_plugin_is_asked_about_every_node() -> None:
    world = three_nodes()
    first, second, third = Turnstile("A", "ab"), Turnstile("B", "b"), Turnstile("C", "bc")
    found = evaluate_individually(
        framework(first, second, third), some_pod(world), world.all_nodes()
    )
    assert said(found) == {
        "a": ["A: A says no"],
        "b": ["A: A says no", "B: B says no", "C: C says no"],
        "c": ["C: C says no"],
    }
    assert found.pod == ()
    assert first.asked == second.asked == third.asked == [["a", "b", "c"]]


def test_the_statuses_are_whole() -> None:
    world = three_nodes()
    plugin = Turnstile("A", "a", Code.UNSCHEDULABLE_AND_UNRESOLVABLE, "never")
    found = evaluate_individually(framework(plugin), some_pod(world), world.all_nodes())
    never = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("never",), "A")
    assert found.nodes == {"a": (never,)}


NOT_TODAY = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("not today",))


@pytest.mark.parametrize(
    "answer",
    [no("not today"), NOT_TODAY, Prepared("state", rejection=NOT_TODAY)],
    ids=["unschedulable", "unresolvable", "with a state"],
)
def test_plugins_that_turn_the_pod_down_do_not_silence_the_others(answer: Any) -> None:
    world = three_nodes()
    refusing, idle = Answering("Refusing", answer), Answering("Idle", SKIP)
    later = Answering("Later", no("nor tomorrow"))
    asked = Turnstile("Filter", "c")
    profile = framework(refusing, idle, later, asked)
    found = evaluate_individually(profile, some_pod(world), world.all_nodes())
    assert found.pod == (
        Status(getattr(answer, "code", NOT_TODAY.code), ("not today",), "Refusing"),
        Status(Code.UNSCHEDULABLE, ("nor tomorrow",), "Later"),
    )
    assert said(found) == {"c": ["Filter: Filter says no"]}
    assert refusing.states == idle.states == later.states == []


def test_states_and_narrowing() -> None:
    world = three_nodes()
    narrowing = Answering("Narrowing", Prepared("state", node_names=frozenset("b")))
    found = evaluate_individually(framework(narrowing), some_pod(world), world.all_nodes())
    text = "Narrowing: node(s) didn't satisfy plugin(s) [Narrowing]"
    assert said(found) == {"a": [text], "c": [text]}
    assert narrowing.states == ["state"]


def test_a_plugin_that_narrowed_and_says_why_is_heard_once() -> None:
    class Both(Turnstile):
        def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Any:
            return Prepared(None, node_names=frozenset("b"))

    world = three_nodes()
    found = evaluate_individually(framework(Both("Both", "a")), some_pod(world), world.all_nodes())
    assert said(found) == {
        "a": ["Both: Both says no"],
        "c": ["Both: node(s) didn't satisfy plugin(s) [Both]"],
    }


def test_nominated_pods_count_as_in_the_cycle() -> None:
    class Lonely(Named):
        def filter(self, state: Any, pod: PodInfo, nodes: Nodes) -> Verdict:
            crowded = np.array([bool(nodes.pods(i)) for i in range(nodes.n)])
            return Verdict.reject(crowded, Code.UNSCHEDULABLE, "not alone")

    world = three_nodes()
    rival, lesser = some_pod(world, "rival", priority=5), some_pod(world, "lesser", priority=-5)
    profile = framework(Lonely("Lonely"), nominated={"b": [rival], "c": [lesser], "gone": [rival]})
    found = evaluate_individually(profile, some_pod(world), world.all_nodes())
    assert said(found) == {"b": ["Lonely: not alone"]}
    verdicts = profile.run_filter_with_nominated_pods(
        CycleState(), some_pod(world), world.all_nodes()
    )
    assert verdicts.fits.tolist() == [True, False, True]


# ---------------------------------------------------------------- in whole runs

CLUSTER = [
    make_node("plain").cpu("4").obj(),
    make_node("tainted").cpu("1").taints(taint("only=gpu:NoSchedule")).obj(),
    make_node("labelled").cpu("4").label("disk", "ssd").obj(),
]
PODS = [make_pod(f"web-{i}").cpu("1").obj() for i in range(4)]
PICKY = (
    make_pod("picky")
    .cpu("3")
    .priority(-1)
    .affinity(affinity(term(expression("disk", "In", "ssd"))))
    .obj()
)


def test_a_cycle_again() -> None:
    found = reenact_cycle([*CLUSTER, *PODS, PICKY], RunOptions(), 5)
    assert found is not None
    assert found.pod == "default/picky"
    assert {name: status.plugin for name, status in found.rejected.items()} == {
        "plain": "NodeAffinity",
        "tainted": "TaintToleration",
        "labelled": "NodeResourcesFit",
    }
    plugins = {
        name: [status.plugin for status in statuses]
        for name, statuses in found.individually.nodes.items()
    }
    assert plugins == {
        "plain": ["NodeAffinity", "NodeResourcesFit"],
        "tainted": ["TaintToleration", "NodeAffinity", "NodeResourcesFit"],
        "labelled": ["NodeResourcesFit"],
    }


def test_the_cluster_is_that_of_the_cycle() -> None:
    """In cycle 1 the nodes are empty: four pods have yet to come."""
    found = reenact_cycle([*CLUSTER, *PODS, PICKY], RunOptions(), 1)
    assert found is not None
    assert found.pod == "default/web-0"
    assert {name: [s.plugin for s in each] for name, each in found.individually.nodes.items()} == {
        "tainted": ["TaintToleration"]
    }


def test_nodes_that_pre_filter_left_out() -> None:
    lost = make_pod("lost").affinity(affinity(named("nowhere"))).cpu("64").obj()
    found = reenact_cycle([*CLUSTER, lost], RunOptions(), 1)
    assert found is not None
    assert found.rejected == {}
    assert {name: [s.plugin for s in each] for name, each in found.individually.nodes.items()} == {
        "plain": ["NodeAffinity", "NodeResourcesFit"],
        "tainted": ["NodeAffinity", "TaintToleration", "NodeResourcesFit"],
        "labelled": ["NodeAffinity", "NodeResourcesFit"],
    }


@pytest.mark.parametrize("cycle", [0, 6, 99])
def test_a_cycle_that_is_not_there(cycle: int) -> None:
    assert reenact_cycle([*CLUSTER, *PODS], RunOptions(), cycle) is None


def test_a_cycle_without_nodes() -> None:
    assert reenact_cycle(PODS, RunOptions(), 1) is None


def test_the_first_to_reject_is_the_one_of_the_trace() -> None:
    events = list(simulate([*CLUSTER, *PODS, PICKY], RunOptions()))
    started = events[0]
    assert isinstance(started, RunStarted)
    plugins = started.plugins
    cycle = 0
    for event in events:
        if isinstance(event, CycleStarted):
            cycle = event.cycle
        if isinstance(event, FilterColumns):
            found = reenact_cycle([*CLUSTER, *PODS, PICKY], RunOptions(), cycle)
            assert found is not None
            in_trace = [
                plugins[event.statuses[i].plugin] for i in event.status.array().tolist() if i
            ]
            assert sorted(in_trace) == sorted(s.plugin for s in found.rejected.values())
            for name, status in found.rejected.items():
                assert status in found.individually.nodes[name]
