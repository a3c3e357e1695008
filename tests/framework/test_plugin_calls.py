"""A plugin that breaks its contract is named: which, where, for which pod, and what it did."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from scheduler_core.api import Node
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import ConfigError, load_configuration
from scheduler_core.framework.events import QueueingHint
from scheduler_core.framework.interface import PermitOutcome, PostFilterOutcome, Prepared
from scheduler_core.framework.plugin_calls import ANSWERS, PluginFailure, call
from scheduler_core.framework.runtime import CycleState
from scheduler_core.framework.status import SUCCESS, Code, Status, Verdict
from scheduler_core.queue.queueing_hints import QueueingHints
from scheduler_core.registry import in_tree_registry
from scheduler_core.sim import RunOptions, simulate
from tests.builders import make_node, make_pod
from tests.framework.profile import Named, framework, some_pod, three_nodes
from tests.plugins.harness import World


def wrong(value: Any) -> Any:
    """Return what a plugin without types may put where something else belongs."""
    return value


class Broken(Named):
    """Answers every call with the result of `answer`."""

    def __init__(self, answer: Callable[..., Any]) -> None:
        super().__init__("Broken")
        self.answer = answer


class BrokenFilter(Broken):
    def filter(self, state: Any, pod: PodInfo, nodes: Nodes) -> Any:
        return self.answer(nodes)


class BrokenScore(Broken):
    def score(self, state: Any, pod: PodInfo, nodes: Nodes) -> Any:
        return self.answer(nodes)


class BrokenNormalize(Broken):
    def score(self, state: Any, pod: PodInfo, nodes: Nodes) -> Any:
        return np.zeros(nodes.n, np.int64)

    def normalize_score(
        self, state: Any, pod: PodInfo, nodes: Nodes, scores: npt.NDArray[np.int64]
    ) -> Any:
        return self.answer(nodes)


class BrokenPreFilter(Broken):
    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Any:
        return self.answer(nodes)


def failing(run: Callable[..., Any]) -> PluginFailure:
    with pytest.raises(PluginFailure) as caught:
        run()
    return caught.value


def failure_of_filter(answer: Callable[..., Any]) -> PluginFailure:
    world = three_nodes()
    run = framework(BrokenFilter(answer)).run_filter
    return failing(lambda: run(CycleState(), some_pod(world), world.all_nodes()))


def verdict(code: Any, reasons: Any, texts: Any = ("no",)) -> Verdict:
    return Verdict(code, reasons, texts)


def test_a_plugin_that_raises() -> None:
    failure = failure_of_filter(lambda nodes: dict[str, int]()["rack"])
    assert (failure.plugin, failure.point, failure.pod) == ("Broken", "Filter", "default/incoming")
    text = 'plugin "Broken" failed at Filter for pod default/incoming: KeyError: '
    assert str(failure).startswith(text + "'rack' (test_plugin_calls.py:")
    assert isinstance(failure.__cause__, KeyError)


def test_the_place_named_is_in_the_plugin_not_in_what_it_calls() -> None:
    failure = failure_of_filter(lambda nodes: np.zeros(3).reshape(2, 2))
    assert "ValueError: cannot reshape" in str(failure)
    assert "(test_plugin_calls.py:" in str(failure)


ZEROS = np.zeros(3, np.int8)
NO_REASONS = np.zeros(3, np.uint64)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (None, "returned None, not Verdict"),
        ([True, True, True], "returned list, not Verdict"),
        (verdict(ZEROS[:2], NO_REASONS), "returned code int8 (2,), not int8 (3,)"),
        (verdict(ZEROS, NO_REASONS[:1]), "returned reasons uint64 (1,), not uint64 (3,)"),
        (verdict(ZEROS.astype(np.int64), NO_REASONS), "returned code int64 (3,), not int8 (3,)"),
        (verdict([0, 0, 0], NO_REASONS), "returned code of type list, not an array int8 (3,)"),
        (verdict(ZEROS + np.int8(9), NO_REASONS), "returned codes [9], not all of which there are"),
        (
            verdict(ZEROS - np.int8(1), NO_REASONS),
            "returned codes [-1], not all of which there are",
        ),
        (verdict(ZEROS, NO_REASONS, "no"), "returned texts that are no tuple of strings"),
    ],
)
def test_a_verdict_of_the_wrong_kind(answer: Sequence[bool] | Verdict | None, what: str) -> None:
    text = f'plugin "Broken" failed at Filter for pod default/incoming: {what}'
    assert str(failure_of_filter(lambda nodes: answer)) == text


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (None, "returned None, not ndarray"),
        (np.zeros(3), "returned scores float64 (3,), not int64 (3,)"),
        (np.zeros((3, 1), np.int64), "returned scores int64 (3, 1), not int64 (3,)"),
        (np.zeros(0, np.int64), "returned scores int64 (0,), not int64 (3,)"),
    ],
)
@pytest.mark.parametrize(
    ("plugin", "point"), [(BrokenScore, "Score"), (BrokenNormalize, "NormalizeScore")]
)
def test_scores_of_the_wrong_kind(
    plugin: type[Any],
    point: str,
    answer: npt.NDArray[np.float64] | npt.NDArray[np.int64] | None,
    what: str,
) -> None:
    world = three_nodes()
    run = framework(plugin(lambda nodes: answer)).run_score
    failure = failing(lambda: run(CycleState(), some_pod(world), world.all_nodes()))
    assert str(failure) == f'plugin "Broken" failed at {point} for pod default/incoming: {what}'


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (None, "returned None, not Prepared or Status"),
        (Status(wrong(2), ("no",)), "returned the code 2, which is no Code"),
        (
            Status(Code.UNSCHEDULABLE, wrong("no")),
            "returned the reasons 'no', which are no tuple of str",
        ),
        (
            Status(Code.UNSCHEDULABLE, wrong(["no"])),
            "returned the reasons ['no'], which are no tuple",
        ),
        (Prepared(None, node_names=wrong(["a"])), "returned node_names as list, not frozenset"),
    ],
)
def test_an_answer_that_is_wrong_inside(answer: Prepared[Any] | Status | None, what: str) -> None:
    world = three_nodes()
    run = framework(BrokenPreFilter(lambda nodes: answer)).run_pre_filter
    failure = failing(lambda: run(CycleState(), some_pod(world), world.all_nodes()))
    assert what in str(failure)


@pytest.mark.parametrize("point", sorted(ANSWERS))
def test_every_point_expects_something(point: str) -> None:
    world = three_nodes()
    failure = failing(lambda: call(point, "Broken", some_pod(world), lambda: object()))
    assert f"failed at {point} for pod default/incoming: returned object, not " in str(failure)


@pytest.mark.parametrize("answer", [PermitOutcome(wrong("wait")), PostFilterOutcome(wrong(None))])
def test_the_status_inside_an_outcome(answer: PermitOutcome | PostFilterOutcome) -> None:
    point = "Permit" if isinstance(answer, PermitOutcome) else "PostFilter"
    failure = failing(lambda: call(point, "Broken", None, lambda: answer))
    assert str(failure).startswith(f'plugin "Broken" failed at {point}: returned a status of type')


def test_a_failure_inside_a_call_keeps_its_name() -> None:
    """Preemption filters: the plugin that fails there is to blame, not DefaultPreemption."""

    def outer() -> Any:
        return call("Filter", "Inner", None, lambda: 1 / 0)

    assert failing(lambda: call("PostFilter", "Outer", None, outer)).plugin == "Inner"


def test_the_end_of_the_process_is_no_failure_of_a_plugin() -> None:
    def leave() -> None:
        raise SystemExit(0)

    with pytest.raises(SystemExit):
        call("Filter", "Plugin", None, leave)


# ---------------------------------------------------------------- whole runs


class AtEveryPoint(Named):
    """Takes part everywhere; breaks at one point."""

    def __init__(self, breaks_at: str) -> None:
        super().__init__("Fragile")
        self.breaks_at = breaks_at

    def _at(self, point: str, answer: Any) -> Any:
        if point == self.breaks_at:
            raise RuntimeError("out of order")
        return answer

    def pre_enqueue(self, pod: PodInfo) -> Any:
        return self._at("PreEnqueue", SUCCESS)

    def events_to_register(self) -> Any:
        return self._at("EventsToRegister", [])

    def sign_pod(self, pod: PodInfo) -> Any:
        return self._at("SignPod", ())

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Any:
        return self._at("PreFilter", Prepared(None))

    def filter(self, state: Any, pod: PodInfo, nodes: Nodes) -> Any:
        return self._at("Filter", Verdict.passed(nodes.n))

    def pre_score(self, state: Any, pod: PodInfo, nodes: Nodes) -> Any:
        return self._at("PreScore", Prepared(None))

    def score(self, state: Any, pod: PodInfo, nodes: Nodes) -> Any:
        return self._at("Score", np.zeros(nodes.n, np.int64))

    def normalize_score(
        self, state: Any, pod: PodInfo, nodes: Nodes, scores: npt.NDArray[np.int64]
    ) -> Any:
        return self._at("NormalizeScore", scores)

    def reserve(self, state: Any, pod: PodInfo, node_name: str) -> Any:
        return self._at("Reserve", SUCCESS)

    def unreserve(self, state: Any, pod: PodInfo, node_name: str) -> None:
        self._at("Unreserve", None)

    def permit(self, state: Any, pod: PodInfo, node_name: str) -> Any:
        refuses = self.breaks_at == "Unreserve"
        return self._at("Permit", PermitOutcome(Status(Code.UNSCHEDULABLE) if refuses else SUCCESS))

    def pre_bind(self, state: Any, pod: PodInfo, node_name: str) -> Any:
        return self._at("PreBind", SUCCESS)

    def bind(self, state: Any, pod: PodInfo, node_name: str) -> Any:
        return self._at("Bind", Status(Code.SKIP))

    def post_bind(self, state: Any, pod: PodInfo, node_name: str) -> None:
        self._at("PostBind", None)


CONFIG = load_configuration("""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint: {enabled: [{name: Fragile}], disabled: [{name: PodTopologySpread}]}
    bind: {disabled: [{name: DefaultBinder}], enabled: [{name: Fragile}, {name: DefaultBinder}]}
""")


def run(breaks_at: str) -> list[Any]:
    registry = in_tree_registry()
    registry.register("Fragile", AtEveryPoint, lambda args, handle: AtEveryPoint(breaks_at))
    options = RunOptions(configuration=CONFIG, registry=registry)
    return list(
        simulate([make_node("a").obj(), make_node("b").obj(), make_pod("web").obj()], options)
    )


@pytest.mark.parametrize(
    "point",
    [
        *("PreEnqueue", "SignPod", "PreFilter", "Filter", "PreScore", "Score", "NormalizeScore"),
        *("Reserve", "Unreserve", "Permit", "PreBind", "Bind", "PostBind"),
    ],
)
def test_a_run_ends_with_the_name_of_what_broke(point: str) -> None:
    text = f'plugin "Fragile" failed at {point} for pod default/web: RuntimeError: out of order'
    assert str(failing(lambda: run(point))).startswith(text)


def test_a_run_in_which_nothing_breaks() -> None:
    assert run("nowhere")[-1].n_bound == 1


def test_a_plugin_that_cannot_say_which_events_it_wants() -> None:
    text = 'plugin "Fragile" failed at EventsToRegister: RuntimeError: out of order'
    assert str(failing(lambda: run("EventsToRegister"))).startswith(text)

    class Vague(Named):
        def pre_enqueue(self, pod: PodInfo) -> Any:
            return SUCCESS

        def events_to_register(self) -> Any:
            return [Node()]

    failure = failing(lambda: QueueingHints.of([Vague("Vague")]))
    assert str(failure).endswith("returned Node, not ClusterEventWithHint")


def test_a_hint_that_is_none() -> None:
    world = World(make_node("a").obj())
    pod_info = some_pod(world)
    hint = lambda pod, old, new: "Queue"  # noqa: E731
    failure = failing(lambda: call("QueueingHint", "Hasty", pod_info, hint, pod_info, None, None))
    assert str(failure).endswith("returned str, not QueueingHint")
    wanted = call("QueueingHint", "Calm", pod_info, lambda *_: QueueingHint.SKIP, 1, 2, 3)
    assert wanted is QueueingHint.SKIP


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ValueError("rack must be a label"), 'initializing plugin "Fragile": rack must be a label'),
        (KeyError("rack"), "initializing plugin \"Fragile\": KeyError: 'rack' (test_plugin_calls"),
    ],
)
def test_a_plugin_that_refuses_its_arguments(error: KeyError | ValueError, text: str) -> None:
    def make(args: Any, handle: Any) -> AtEveryPoint:
        raise error

    registry = in_tree_registry()
    registry.register("Fragile", AtEveryPoint, make)
    with pytest.raises(ConfigError) as caught:
        simulate([], RunOptions(configuration=CONFIG, registry=registry))
    (problem,) = caught.value.problems
    assert problem.field == "profiles[0].pluginConfig[name=Fragile]"
    assert problem.message.startswith(text)
