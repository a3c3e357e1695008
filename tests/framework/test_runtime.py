"""What the runtime makes of answers before a node is chosen. Upstream: runtime/framework.go."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.diagnosis import Diagnosis
from scheduler_core.framework.interface import PostFilterOutcome, Prepared
from scheduler_core.framework.runtime import CycleState, PreFilterResult, _Refilter
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status, Verdict
from scheduler_core.trace.records import Nominating
from tests.framework.profile import (
    Answering,
    Named,
    Turnstile,
    framework,
    no,
    some_pod,
    three_nodes,
)
from tests.plugins.harness import World

FINAL = Code.UNSCHEDULABLE_AND_UNRESOLVABLE


def pre_filter(
    *plugins: Answering, world: World | None = None
) -> tuple[PreFilterResult, CycleState]:
    world = world or three_nodes()
    state = CycleState()
    result = framework(*plugins).run_pre_filter(state, some_pod(world), world.all_nodes())
    return result, state


def only(*names: str) -> Prepared[Any]:
    return Prepared(None, node_names=frozenset(names))


# ---------------------------------------------------------------- PreFilter


def test_each_plugin_gets_its_own_state() -> None:
    first, second = Answering("A", Prepared("of A")), Answering("B", Prepared("of B"))
    without = Turnstile("C")
    world, state = three_nodes(), CycleState()
    profile = framework(first, second, without)
    profile.run_pre_filter(state, some_pod(world), world.all_nodes())
    profile.run_filter(state, some_pod(world), world.all_nodes())
    assert (first.states, second.states) == (["of A"], ["of B"])
    assert state.pre_filter == {"A": "of A", "B": "of B"}


@pytest.mark.parametrize("answer", [SKIP, Prepared("kept", skip=True)])
def test_skip_spares_filter(answer: Prepared[Any] | Status) -> None:
    skipping, other = Answering("A", answer), Answering("B", Prepared(None))
    world, state = three_nodes(), CycleState()
    profile = framework(skipping, other)
    result = profile.run_pre_filter(state, some_pod(world), world.all_nodes())
    profile.run_filter(state, some_pod(world), world.all_nodes())
    assert result.status == SUCCESS
    assert state.skip_filter == {"A"}
    assert (skipping.states, other.states) == ([], [None])
    assert state.pre_filter.get("A") == ("kept" if isinstance(answer, Prepared) else None)


def test_an_unschedulable_pod_is_shown_to_all_plugins() -> None:
    """Preemption may come later in the cycle, and needs what the others prepare."""
    first, second, third = (
        Answering("A", no("first")),
        Answering("B", Prepared("state")),
        Answering("C", no("last")),
    )
    result, state = pre_filter(first, second, third)
    assert result.status == Status(Code.UNSCHEDULABLE, ("last",), "C")
    assert state.pre_filter == {"B": "state"}
    assert third.n_asked == 1


def test_an_impossible_pod_is_shown_to_no_further_plugin() -> None:
    second = Answering("B", Prepared(None))
    result, _ = pre_filter(Answering("A", no("never", FINAL)), second)
    assert result.status == Status(FINAL, ("never",), "A")
    assert result.node_names is None
    assert second.n_asked == 0


def test_an_impossible_pod_goes_before_an_unschedulable_one() -> None:
    result, _ = pre_filter(Answering("A", no("soon")), Answering("B", no("never", FINAL)))
    assert result.status == Status(FINAL, ("never",), "B")


@pytest.mark.parametrize("code", [Code.ERROR, Code.WAIT, Code.PENDING])
def test_any_other_status_is_an_error(code: Code) -> None:
    second = Answering("B", Prepared(None))
    result, _ = pre_filter(Answering("A", no("out of order", code)), second)
    text = 'running PreFilter plugin "A": out of order'
    assert result.status == Status(Code.ERROR, (text,), "A")
    assert second.n_asked == 0


def test_narrowing_is_merged() -> None:
    result, _ = pre_filter(
        Answering("A", Prepared(None)),
        Answering("B", only("a", "b")),
        Answering("C", only("b", "c")),
    )
    assert result.status == SUCCESS
    assert result.node_names == frozenset({"b"})
    assert result.narrowed_by == {"B", "C"}


@pytest.mark.parametrize(
    ("plugins", "message"),
    [
        ([Answering("B", only())], "node(s) didn't satisfy plugin B"),
        (
            [Answering("B", only("a")), Answering("A", only("b"))],
            "node(s) didn't satisfy plugin(s) [A B] simultaneously",
        ),
    ],
)
def test_plugins_that_leave_no_node(plugins: Sequence[Answering], message: str) -> None:
    later = Answering("C", Prepared(None))
    result, _ = pre_filter(*plugins, later)
    assert result.status == Status(FINAL, (message,))
    assert result.node_names == frozenset()
    assert result.narrowed_by == {plugin.name for plugin in plugins}
    assert later.n_asked == 0


def test_a_rejection_survives_a_narrowing() -> None:
    result, _ = pre_filter(Answering("A", no("soon")), Answering("B", only("a")))
    assert result.status == Status(Code.UNSCHEDULABLE, ("soon",), "A")
    assert result.node_names == frozenset({"a"})


# ---------------------------------------------------------------- Filter


def test_the_first_rejection_counts() -> None:
    world = three_nodes()
    first, second, third = Turnstile("A", "a"), Turnstile("B", "ab", FINAL), Turnstile("C", "ab")
    profile = framework(first, second, third)
    verdicts = profile.run_filter(CycleState(), some_pod(world), world.all_nodes())
    assert [verdicts.status(i) for i in range(3)] == [
        Status(Code.UNSCHEDULABLE, ("A says no",), "A"),
        Status(FINAL, ("B says no",), "B"),
        SUCCESS,
    ]
    assert [first.asked, second.asked, third.asked] == [[["a", "b", "c"]], [["b", "c"]], [["c"]]]


class Company(Named):
    """Wants at least and at most so many pods on a node."""

    def __init__(self, name: str, at_least: int = 0, at_most: int = 9) -> None:
        super().__init__(name)
        self.at_least, self.at_most = at_least, at_most

    def filter(self, state: Any, pod: PodInfo, nodes: Nodes) -> Verdict:
        lonely, crowded = nodes.n_pods < self.at_least, nodes.n_pods > self.at_most
        return Verdict.of(
            nodes.n,
            [(lonely, Code.UNSCHEDULABLE, "lonely"), (crowded, Code.UNSCHEDULABLE, "crowded")],
        )


def test_the_verdict_with_nominated_pods_comes_first() -> None:
    """Upstream filters the crowded node first, and reports what it finds there."""
    world = three_nodes()
    rival = some_pod(world, "rival", priority=1)

    class Either(Named):
        def filter(self, state: Any, pod: PodInfo, nodes: Nodes) -> Verdict:
            crowded = nodes.n_pods > 0
            return Verdict.of(
                nodes.n,
                [(crowded, Code.UNSCHEDULABLE, "crowded"), (~crowded, FINAL, "lonely")],
            )

    profile = framework(Either("A"), nominated={"a": [rival]})
    verdicts = profile.run_filter_with_nominated_pods(
        CycleState(), some_pod(world), world.all_nodes()
    )
    assert [verdicts.status(i).message for i in range(3)] == ["crowded", "lonely", "lonely"]


@pytest.mark.parametrize(
    ("plugin", "at", "without"),
    [
        pytest.param(Company("A", at_most=0), [0, 2], ["", ""], id="rejected with them"),
        pytest.param(Company("A", at_least=1), [0, 2], ["lonely", "lonely"], id="relied on"),
        pytest.param(Company("A", at_least=1, at_most=0), [0, 2], ["lonely", "lonely"], id="both"),
        pytest.param(Company("A", at_least=2), None, None, id="the same either way"),
        pytest.param(Company("A", at_most=1), None, None, id="passes either way"),
    ],
)
def test_where_nominated_pods_make_a_difference_is_noted(
    plugin: Any, at: list[int] | None, without: list[str] | None
) -> None:
    world = three_nodes()
    rivals = {name: [some_pod(world, f"rival-{name}", priority=1)] for name in ("a", "c")}
    verdicts = framework(plugin, nominated=rivals).run_filter_with_nominated_pods(
        CycleState(), some_pod(world), world.all_nodes()
    )
    crowded = verdicts.crowded
    if at is None:
        assert crowded is None
        return
    assert crowded is not None
    assert crowded.at.tolist() == at
    assert [verdicts.statuses[i].message for i in crowded.without] == without
    assert [change.added for change in crowded.added] == [tuple(rivals[n]) for n in ("a", "c")]


# ---------------------------------------------------------------- PostFilter


class Rescue(Named):
    """A PostFilter that answers what it is told."""

    def __init__(self, name: str, outcome: PostFilterOutcome) -> None:
        super().__init__(name)
        self.outcome = outcome
        self.n_asked = 0

    def post_filter(
        self, state: Any, pod: PodInfo, statuses: Diagnosis, refilter: _Refilter
    ) -> PostFilterOutcome:
        self.n_asked += 1
        return self.outcome


def post_filter(*plugins: Rescue) -> PostFilterOutcome:
    world = three_nodes()
    diagnosis = Diagnosis(world.all_nodes())
    return framework(*plugins).run_post_filter(CycleState(), some_pod(world), diagnosis)


def rejects(
    text: str, nominating: Nominating = "", node_name: str = "", report: str | None = None
) -> PostFilterOutcome:
    return PostFilterOutcome(no(text), nominating, node_name, report=report)


def test_the_first_success_ends_post_filter() -> None:
    saved = PostFilterOutcome(SUCCESS, "override", "b")
    later = Rescue("C", saved)
    outcome = post_filter(Rescue("A", rejects("no use")), Rescue("B", saved), later)
    assert outcome is saved
    assert later.n_asked == 0


def test_a_final_refusal_ends_post_filter() -> None:
    final = PostFilterOutcome(no("hopeless", FINAL), "override")
    later = Rescue("C", PostFilterOutcome(SUCCESS, "override", "b"))
    outcome = post_filter(Rescue("A", rejects("no use")), Rescue("B", final), later)
    assert outcome.status == Status(FINAL, ("hopeless",), "B")
    assert outcome.nominating == "override"
    assert later.n_asked == 0


def test_an_error_ends_post_filter_without_a_nomination() -> None:
    broken = PostFilterOutcome(no("out of order", Code.ERROR), "override", "b")
    later = Rescue("C", PostFilterOutcome(SUCCESS, "override", "b"))
    outcome = post_filter(Rescue("B", broken), later)
    assert outcome.status == Status(Code.ERROR, ("out of order",), "B")
    assert outcome.nominating == ""
    assert later.n_asked == 0


def test_refusals_are_collected_and_the_first_is_to_blame() -> None:
    outcome = post_filter(
        Rescue("A", rejects("one", report="told")),
        Rescue("B", rejects("two", "override", report="ignored")),
        Rescue("C", rejects("three", "noop", "x")),
    )
    assert outcome.status == Status(Code.UNSCHEDULABLE, ("one", "two", "three"), "A")
    assert (outcome.nominating, outcome.node_name) == ("override", "")
    assert outcome.report == "told"


def test_the_last_nomination_that_means_something_counts() -> None:
    outcome = post_filter(
        Rescue("A", rejects("one", "override", "a")), Rescue("B", rejects("two", "override", "b"))
    )
    assert outcome.node_name == "b"


# ---------------------------------------------------------------- PreScore and Score


class Scoring(Named):
    """Prepares what it is told, and scores nodes by what it is told about them."""

    def __init__(self, name: str, scores: Mapping[str, int], answer: Status | None = None) -> None:
        super().__init__(name)
        self.scores = scores
        self.answer = answer or Prepared(name)
        self.seen: list[object] = []

    def pre_score(self, state: str | None, pod: PodInfo, nodes: Nodes) -> Prepared[Any] | Status:
        self.seen.append(state)
        return self.answer

    def score(self, state: str | None, pod: PodInfo, nodes: Nodes) -> npt.NDArray[np.int64]:
        self.seen.append(state)
        return np.array([self.scores[name] for name in nodes.names], np.int64)


class Doubling(Scoring):
    def normalize_score(
        self, state: str, pod: PodInfo, nodes: Nodes, scores: npt.NDArray[np.int64]
    ) -> npt.NDArray[np.int64]:
        self.seen.append(state)
        return 2 * scores


def test_scores_with_weights_and_states() -> None:
    world, state = three_nodes(), CycleState(pre_filter={"A": "from PreFilter"})
    plain = Scoring("A", {"a": 0, "b": 50, "c": 100})
    doubled = Doubling("B", {"a": 10, "b": 20, "c": 50})
    profile = framework(plain, doubled, weights={"A": 1, "B": 7})
    assert profile.run_pre_score(state, some_pod(world), world.all_nodes()) == SUCCESS
    scores = profile.run_score(state, some_pod(world), world.all_nodes())
    assert [(each.plugin, each.weight) for each in scores] == [("A", 1), ("B", 7)]
    assert [each.raw.tolist() for each in scores] == [[0, 50, 100], [10, 20, 50]]
    assert [each.normalized.tolist() for each in scores] == [[0, 50, 100], [20, 40, 100]]
    assert plain.seen == ["from PreFilter", "A"]
    assert doubled.seen == [None, "B", "B"]


def test_a_plugin_that_skips_before_scoring_takes_no_part() -> None:
    world, state = three_nodes(), CycleState()
    profile = framework(Scoring("A", {}, SKIP), Scoring("B", {"a": 1, "b": 2, "c": 3}))
    assert profile.run_pre_score(state, some_pod(world), world.all_nodes()) == SUCCESS
    scores = profile.run_score(state, some_pod(world), world.all_nodes())
    assert [each.plugin for each in scores] == ["B"]
    assert state.skip_score == {"A"}


def test_skip_in_pre_filter_says_nothing_about_scores() -> None:
    class Both(Scoring):
        def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Status:
            return SKIP

    world, state = three_nodes(), CycleState()
    profile = framework(Both("A", {"a": 1, "b": 2, "c": 3}))
    profile.run_pre_filter(state, some_pod(world), world.all_nodes())
    profile.run_pre_score(state, some_pod(world), world.all_nodes())
    assert [s.plugin for s in profile.run_score(state, some_pod(world), world.all_nodes())] == ["A"]


@pytest.mark.parametrize("code", [Code.ERROR, Code.UNSCHEDULABLE, Code.WAIT])
def test_pre_score_may_not_reject(code: Code) -> None:
    world = three_nodes()
    later = Scoring("B", {})
    profile = framework(Scoring("A", {}, no("out of order", code)), later)
    status = profile.run_pre_score(CycleState(), some_pod(world), world.all_nodes())
    assert status.code is Code.ERROR
    assert status.message == 'running PreScore plugin "A": out of order'
    assert later.seen == []


@pytest.mark.parametrize("wrong", [-1, 101, 2**62])
def test_a_score_off_the_scale(wrong: int) -> None:
    world = three_nodes()
    profile = framework(Scoring("A", {"a": 0, "b": wrong, "c": 100}))
    (score,) = profile.run_score(CycleState(), some_pod(world), world.all_nodes())
    assert score.fault == (
        f'applying score defaultWeights on Score plugins: plugin "A" returns an invalid score '
        f"{wrong}, it should in the range of [0, 100] after normalizing"
    )


def test_raw_scores_may_be_off_the_scale() -> None:
    class Clipped(Scoring):
        def normalize_score(
            self, state: str, pod: PodInfo, nodes: Nodes, scores: npt.NDArray[np.int64]
        ) -> npt.NDArray[np.int64]:
            return scores.clip(0, 100)

    world = three_nodes()
    (scores,) = framework(Clipped("A", {"a": -7, "b": 0, "c": 4000})).run_score(
        CycleState(), some_pod(world), world.all_nodes()
    )
    assert scores.raw.tolist() == [-7, 0, 4000]
    assert scores.normalized.tolist() == [0, 0, 100]
