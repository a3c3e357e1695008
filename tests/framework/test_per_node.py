"""Plugins written per node do what the same plugin in columns does."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import ExtensionPoint
from scheduler_core.framework.dependence import DependsOn, NodeFacts, dependence_of
from scheduler_core.framework.interface import (
    EnqueueExtensions,
    FilterPlugin,
    NormalizeScorePlugin,
    PermitPlugin,
    PreFilterPlugin,
    Prepared,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from scheduler_core.framework.per_node import NodeView, NodeViews, PerNode, is_per_node
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.framework.runtime import CycleState
from scheduler_core.framework.scoring import default_normalize_score
from scheduler_core.framework.status import SKIP, SUCCESS, Code, ListedVerdict, Status, Verdict
from scheduler_core.registry import points_of
from tests.builders import HOSTNAME, make_node, make_pod
from tests.effort import examples
from tests.framework.profile import Named, framework, some_pod
from tests.plugins.harness import World

RESOLVABLE = Status(Code.UNSCHEDULABLE, ("too small",))
FINAL = Status(Code.UNSCHEDULABLE_AND_UNRESOLVABLE, ("no rack", "no power"))

A_STRING: Any = "no"
"""What a plugin without types may return for reasons."""


class ByRoom:
    """Judges and scores by the free cpu of each node."""

    name = "ByRoom"

    def filter_node(self, state: Any, pod: PodInfo, node: NodeView) -> Status | bool:
        if "rack" not in node.labels:
            return FINAL
        asked = pod.template.requests.asked.get("cpu", 0)
        free = node.allocatable("cpu") - node.requested("cpu")
        return SUCCESS if asked <= free and node.n_pods < node.allowed_pods else RESOLVABLE

    def score_node(self, state: Any, pod: PodInfo, node: NodeView) -> float | int | np.int32:
        return node.allocatable("cpu") - node.requested("cpu")

    def normalize_score(
        self, state: Any, pod: PodInfo, nodes: NodeViews | Nodes, scores: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        assert len(nodes) == scores.size
        return default_normalize_score(scores)


class ByRoomInColumns:
    name = "ByRoom"

    def filter(self, state: Any, pod: PodInfo, nodes: Nodes) -> Verdict:
        homeless = ~nodes.label("rack").present
        asked = pod.template.requests.asked.get("cpu", 0)
        full = asked > nodes.allocatable("cpu") - nodes.requested("cpu")
        full |= nodes.n_pods >= nodes.allowed_pods
        code = np.where(homeless, FINAL.code, np.where(full, RESOLVABLE.code, 0)).astype(np.int8)
        reasons = np.where(homeless, 3, np.where(full, 4, 0)).astype(np.uint64)
        return Verdict(code, reasons, ("no rack", "no power", "too small"))

    def score(self, state: Any, pod: PodInfo, nodes: Nodes) -> npt.NDArray[np.int64]:
        return nodes.allocatable("cpu") - nodes.requested("cpu")

    def normalize_score(
        self, state: Any, pod: PodInfo, nodes: NodeViews | Nodes, scores: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        return default_normalize_score(scores)


racks = st.sampled_from([{}, {"rack": "r1"}, {"rack": "r2"}])


@st.composite
def worlds(draw: st.DrawFn) -> Any:
    nodes = [
        make_node(f"n{i}").labels(draw(racks)).cpu(str(draw(st.integers(2, 9)))).pods("3").obj()
        for i in range(draw(st.integers(1, 5)))
    ]
    pods = [
        make_pod(f"p{i}").on(f"n{draw(st.integers(0, len(nodes) - 1))}").cpu("1").obj()
        for i in range(draw(st.integers(0, 8)))
    ]
    return World(*nodes, *pods)


def each_status(verdict: ListedVerdict | Verdict) -> list[Status]:
    return [verdict.status(i) for i in range(verdict.code.size)]


@examples(60)
@given(world=worlds(), asked=st.integers(0, 5), data=st.data())
def test_the_adapter_answers_as_columns_do(world: World, asked: int, data: st.DataObject) -> None:
    info = some_pod(world, requests={"cpu": str(asked)})
    nodes = world.all_nodes()
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, nodes.n - 1))
        gone = tuple(one for one in nodes.pods(at) if data.draw(st.booleans()))
        rival = some_pod(world, "rival", requests={"cpu": "2"})
        nodes = nodes.what_if({at: Change(added=(rival,), removed=gone)})
    lifted, columns = PerNode(ByRoom()), ByRoomInColumns()

    expected = columns.filter(None, info, nodes)
    verdict = lifted.filter(None, info, nodes)
    assert each_status(verdict) == each_status(expected)
    assert verdict.code.dtype == np.dtype(np.int8)
    assert verdict.reasons.dtype == np.dtype(np.uint64)
    scores = lifted.score(None, info, nodes)
    assert scores.tolist() == columns.score(None, info, nodes).tolist()
    assert lifted.normalize_score(None, info, nodes, scores).max(initial=0) <= 100


def test_a_profile_cannot_tell_the_two_apart() -> None:
    world = World(
        make_node("a").cpu("4").obj(),
        make_node("b").label("rack", "r").cpu("1").obj(),
        make_node("c").label("rack", "r").cpu("4").obj(),
        make_node("d").label("rack", "r").cpu("8").obj(),
    )
    info, nodes = some_pod(world, requests={"cpu": "2"}), world.all_nodes()
    outcomes = []
    for plugin in (PerNode(ByRoom()), ByRoomInColumns()):
        profile = framework(plugin)
        verdicts = profile.run_filter(CycleState(), info, nodes)
        feasible = nodes.take(verdicts.fits)
        (scores,) = profile.run_score(CycleState(), info, feasible)
        outcomes.append(
            (
                [verdicts.status(i) for i in range(nodes.n)],
                feasible.names,
                scores.raw.tolist(),
                scores.normalized.tolist(),
            )
        )
    assert outcomes[0] == outcomes[1]
    assert outcomes[0][1:] == (["c", "d"], [4000, 8000], [50, 100])


def test_any_number_of_reasons() -> None:
    class Wordy(Named):
        def filter_node(self, state: Any, pod: PodInfo, node: NodeView) -> Status | bool:
            return Status(Code.UNSCHEDULABLE, (f"{node.name} is not for you", "sorry"))

    world = World(*(make_node(f"n{i}").obj() for i in range(100)))
    profile = framework(PerNode(Wordy("Wordy")))
    verdicts = profile.run_filter(CycleState(), some_pod(world), world.all_nodes())
    assert verdicts.status(99) == Status(
        Code.UNSCHEDULABLE, ("n99 is not for you", "sorry"), "Wordy"
    )
    assert len(verdicts.statuses) == 101


@pytest.mark.parametrize("code", [Code.SKIP, Code.WAIT, Code.ERROR])
def test_a_filter_may_only_pass_or_reject(code: Code) -> None:
    """Upstream turns any other status into an error of the cycle."""

    class Confused(Named):
        def filter_node(self, state: Any, pod: PodInfo, node: NodeView) -> Status | bool:
            return Status(code, ("what now?",))

    world = World(make_node("a").obj())
    profile = framework(PerNode(Confused("Confused")))
    verdicts = profile.run_filter(CycleState(), some_pod(world), world.all_nodes())
    text = 'running "Confused" filter plugin: what now?'
    assert verdicts.status(0) == Status(Code.ERROR, (text,), "Confused")


def test_pending_is_told_from_unschedulable() -> None:
    class Mixed(Named):
        def filter_node(self, state: Any, pod: PodInfo, node: NodeView) -> Status | bool:
            code = Code.PENDING if node.name == "a" else Code.UNSCHEDULABLE
            return Status(code, ("wait",))

    world = World(make_node("a").obj(), make_node("b").obj())
    profile = framework(PerNode(Mixed("Mixed")))
    verdicts = profile.run_filter(CycleState(), some_pod(world), world.all_nodes())
    assert [verdicts.status(i).code for i in (0, 1)] == [Code.PENDING, Code.UNSCHEDULABLE]


# ---------------------------------------------------------------- state and skip


class Remembering(Named):
    """Hands states from point to point."""

    def pre_filter(self, pod: PodInfo, nodes: NodeViews) -> Prepared[Any] | Status:
        return Prepared({node.name: len(node.pods) for node in nodes})

    def filter_node(self, state: Any, pod: PodInfo, node: NodeView) -> Status | bool:
        return SUCCESS if state[node.name] < 1 else RESOLVABLE

    def pre_score(self, state: Any, pod: PodInfo, nodes: NodeViews) -> Prepared[Any] | Status:
        return Prepared([*state, *(node.name for node in nodes)])

    def score_node(self, state: Any, pod: PodInfo, node: NodeView) -> float | int | np.int32:
        return int(state.count(node.name))


def test_states_come_back() -> None:
    world = World(
        make_node("a").obj(),
        make_node("b").obj(),
        make_node("c").obj(),
        make_pod("old").on("b").obj(),
    )
    info, nodes, state = some_pod(world), world.all_nodes(), CycleState()
    profile = framework(PerNode(Remembering("Remembering")))
    assert profile.run_pre_filter(state, info, nodes).status.is_success
    fits = profile.run_filter(state, info, nodes).fits
    assert fits.tolist() == [True, False, True]
    assert profile.run_pre_score(state, info, nodes.take(fits)).is_success
    (scores,) = profile.run_score(state, info, nodes)
    assert scores.raw.tolist() == [2, 1, 2]


class Idle(Named):
    """Takes no part: Skip before either point."""

    def pre_filter(self, pod: PodInfo, nodes: NodeViews) -> Prepared[Any] | Status:
        return SKIP

    def filter_node(self, state: Any, pod: PodInfo, node: NodeView) -> None:
        raise AssertionError("skipped")

    def pre_score(self, state: Any, pod: PodInfo, nodes: NodeViews) -> Prepared[Any] | Status:
        return SKIP

    def score_node(self, state: Any, pod: PodInfo, node: NodeView) -> None:
        raise AssertionError("skipped")


def test_skip_keeps_the_later_point_from_being_asked() -> None:
    world = World(make_node("a").obj(), make_node("b").obj())
    info, nodes, state = some_pod(world), world.all_nodes(), CycleState()
    profile = framework(PerNode(Idle("Idle")))
    assert profile.run_pre_filter(state, info, nodes).status.is_success
    assert profile.run_filter(state, info, nodes).fits.all()
    assert profile.run_pre_score(state, info, nodes).is_success
    assert profile.run_score(state, info, nodes) == []


# ---------------------------------------------------------------- what is passed on


class Everything(Named):
    depends_on = DependsOn(per_node=NodeFacts.NODE)

    def filter_node(self, state: Any, pod: PodInfo, node: NodeView) -> Status | bool:
        return SUCCESS

    def events_to_register(self) -> Any:
        return []

    def reserve(self, state: Any, pod: PodInfo, node_name: str) -> Any:
        return SUCCESS

    def unreserve(self, state: Any, pod: PodInfo, node_name: str) -> None:
        pass


def test_only_the_points_a_plugin_has() -> None:
    lifted = PerNode(Everything("Everything"))
    for protocol in (FilterPlugin, EnqueueExtensions, ReservePlugin):
        assert isinstance(lifted, protocol)
    for absent in (
        PreFilterPlugin,
        PreScorePlugin,
        ScorePlugin,
        NormalizeScorePlugin,
        PermitPlugin,
    ):
        assert not isinstance(lifted, absent)
    assert dependence_of(lifted).per_node is NodeFacts.NODE
    assert lifted.name == "Everything"
    assert points_of(Everything) == {ExtensionPoint.FILTER, ExtensionPoint.RESERVE}


def test_what_is_written_per_node() -> None:
    assert is_per_node(ByRoom)
    assert not is_per_node(ByRoomInColumns)


def test_a_declaration_spares_calls() -> None:
    """A plugin that depends on node objects is called once per template, from its second pod."""

    class Labels(Named):
        depends_on = DependsOn(per_node=NodeFacts.OBJECT)
        n_asked = 0

        def filter_node(self, state: Any, pod: PodInfo, node: NodeView) -> Status | bool:
            self.n_asked += 1
            return SUCCESS if "rack" in node.labels else FINAL

    world = World(make_node("a").label("rack", "r").obj(), make_node("b").obj())
    plugin = Labels("Labels")
    profile, nodes = framework(PerNode(plugin)), world.all_nodes()
    for i in range(5):
        verdicts = profile.run_filter(CycleState(), some_pod(world, f"web-{i}"), nodes)
        assert [verdicts.status(k) for k in range(2)] == [SUCCESS, FINAL.by("Labels")]
    assert plugin.n_asked == 4


# ---------------------------------------------------------------- views


def test_a_view_of_a_node() -> None:
    world = World(
        make_node("a").cpu("4").label("rack", "r").without_label(HOSTNAME).obj(),
        make_node("b").cpu("8").pods("7").without_label(HOSTNAME).obj(),
        make_pod("one").on("b").cpu("500m").obj(),
    )
    views = NodeViews(world.all_nodes())
    assert [view.name for view in views] == ["a", "b"]
    assert len(views) == 2
    a, b = views
    assert views[1].name == "b"
    assert repr(a) == "<node a>"
    assert (a.labels, b.labels) == ({"rack": "r"}, {})
    assert (a.allocatable("cpu"), b.allocatable("cpu"), b.allocatable("gpu")) == (4000, 8000, 0)
    assert (a.requested("cpu"), b.requested("cpu")) == (0, 500)
    assert (b.n_pods, b.allowed_pods) == (1, 7)
    assert b.node.name == "b"
    for at in (2, -1):
        with pytest.raises(IndexError):
            views[at]


def test_a_view_of_what_might_be() -> None:
    world = World(
        make_node("a").obj(), make_node("b").obj(), make_pod("one").on("b").cpu("1").obj()
    )
    nodes = world.all_nodes()
    old, rival = nodes.pods(1)[0], some_pod(world, "rival", requests={"cpu": "3"})
    a, b = NodeViews(nodes.what_if({1: Change(added=(rival,), removed=(old,))}))
    assert (b.added, b.removed) == ((rival,), (old,))
    assert b.pods == [rival]
    assert b.requested("cpu") == 3000
    assert (a.added, a.removed) == ((), ())


# ---------------------------------------------------------------- failures


class Clumsy(Named):
    def __init__(self, answer: Callable[..., Any]) -> None:
        super().__init__("Clumsy")
        self.answer = answer

    def filter_node(self, state: Any, pod: PodInfo, node: NodeView) -> Any:
        return self.answer(node)

    def score_node(self, state: Any, pod: PodInfo, node: NodeView) -> Any:
        return self.answer(node)


@pytest.mark.parametrize(
    ("point", "answer", "what"),
    [
        (
            "Filter",
            lambda node: node.labels["rack"] and SUCCESS,
            "on node b: KeyError: 'rack' (test_per_node.py:",
        ),
        ("Filter", lambda node: node.name == "a" and SUCCESS, "on node b: returned bool, not Stat"),
        (
            "Filter",
            lambda node: Status(Code.UNSCHEDULABLE, A_STRING),
            "on node a: returned the reaso",
        ),
        ("Score", lambda node: 0.5, "on node a: returned float, not int or integer"),
        ("Score", lambda node: 10**30, ": OverflowError"),
    ],
)
def test_a_failure_names_the_node(point: str, answer: Callable[..., Any], what: str) -> None:
    world = World(make_node("a").label("rack", "r").obj(), make_node("b").obj())
    profile = framework(PerNode(Clumsy(answer)))
    run = profile.run_filter if point == "Filter" else profile.run_score
    with pytest.raises(PluginFailure) as caught:
        run(CycleState(), some_pod(world), world.all_nodes())
    start = f'plugin "Clumsy" failed at {point} for pod default/incoming'
    assert str(caught.value).startswith(start)
    assert what in str(caught.value)


def test_numbers_of_numpy_are_scores() -> None:
    world = World(make_node("a").obj(), make_node("b").obj())
    profile = framework(PerNode(Clumsy(lambda node: np.int32(7))))
    (scores,) = profile.run_score(CycleState(), some_pod(world), world.all_nodes())
    assert scores.raw.tolist() == [7, 7]
    assert scores.raw.dtype == np.int64
