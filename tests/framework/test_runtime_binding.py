"""What the runtime makes of answers once a node is chosen. Upstream: runtime/framework.go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.interface import PermitOutcome
from scheduler_core.framework.runtime import CycleState
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from tests.framework.profile import Named, framework, no, some_pod, three_nodes

SECOND_NS = 10**9
MINUTE_NS = 60 * SECOND_NS
FINAL = Code.UNSCHEDULABLE_AND_UNRESOLVABLE


class Step(Named):
    """A plugin of the points after the choice; answers what it is told and keeps the calls."""

    def __init__(
        self, name: str, calls: list[Any], answer: Status | None = SUCCESS, timeout_ns: int = 0
    ) -> None:
        super().__init__(name)
        self.calls = calls
        self.answer = answer
        self.timeout_ns = timeout_ns

    def _told(self, point: str, state: str | None, node_name: str) -> Any:
        self.calls.append((point, self.name, state, node_name))
        return self.answer


class Reserving(Step):
    def reserve(self, state: str | None, pod: PodInfo, node_name: str) -> Any:
        return self._told("reserve", state, node_name)

    def unreserve(self, state: str | None, pod: PodInfo, node_name: str) -> None:
        self._told("unreserve", state, node_name)


class Permitting(Step):
    def permit(self, state: str | None, pod: PodInfo, node_name: str) -> PermitOutcome:
        return PermitOutcome(self._told("permit", state, node_name), self.timeout_ns)


class PreBinding(Step):
    def pre_bind(self, state: str | None, pod: PodInfo, node_name: str) -> Any:
        return self._told("pre_bind", state, node_name)


class Binding(Step):
    def bind(self, state: Any, pod: PodInfo, node_name: str) -> Any:
        return self._told("bind", state, node_name)


def run(point: str, *plugins: Any, state: CycleState | None = None) -> Any:
    world = three_nodes()
    method = getattr(framework(*plugins), f"run_{point}")
    return method(state or CycleState(), some_pod(world), "b")


def names(calls: Sequence[tuple[str, str, None, str]]) -> list[str]:
    return [name for _, name, _, _ in calls]


POINTS = [
    ("reserve", "Reserve", Reserving),
    ("pre_bind", "PreBind", PreBinding),
    ("permit", "Permit", Permitting),
    ("bind", "Bind", Binding),
]


def status_of(outcome: Any) -> Status:
    status: Status = getattr(outcome, "status", outcome)
    return status


@pytest.mark.parametrize(("point", "label", "plugin"), POINTS[:3])
def test_plugins_run_in_order_with_what_they_prepared(
    point: str, label: str, plugin: type[Any]
) -> None:
    calls: list[Any] = []
    plugins = [plugin(name, calls) for name in ("C", "A", "B")]
    outcome = run(point, *plugins, state=CycleState(pre_filter={"A": "of A"}))
    assert status_of(outcome) == SUCCESS
    assert calls == [(point, "C", None, "b"), (point, "A", "of A", "b"), (point, "B", None, "b")]


@pytest.mark.parametrize("code", [Code.UNSCHEDULABLE, FINAL, Code.PENDING])
@pytest.mark.parametrize(("point", "label", "plugin"), POINTS)
def test_a_rejection_ends_the_point_and_is_attributed(
    point: str, label: str, plugin: type[Any], code: Code
) -> None:
    calls: list[Any] = []
    outcome = run(point, plugin("A", calls, no("refused", code)), plugin("B", calls))
    assert status_of(outcome) == Status(code, ("refused",), "A")
    assert names(calls) == ["A"]


@pytest.mark.parametrize(("point", "label", "plugin"), POINTS)
def test_an_error_names_point_and_plugin(point: str, label: str, plugin: type[Any]) -> None:
    calls: list[Any] = []
    outcome = run(point, plugin("A", calls, no("down", Code.ERROR)), plugin("B", calls))
    status = status_of(outcome)
    assert status.code is Code.ERROR
    assert status.message == f'running {label} plugin "A": down'
    assert names(calls) == ["A"]


# ---------------------------------------------------------------- Permit

WAIT = Status(Code.WAIT, ("for the others",))


@pytest.mark.parametrize(
    ("asked_ns", "waits_ns"),
    [
        (SECOND_NS, SECOND_NS),
        (15 * MINUTE_NS, 15 * MINUTE_NS),
        (15 * MINUTE_NS + 1, 15 * MINUTE_NS),
        (24 * 60 * MINUTE_NS, 15 * MINUTE_NS),
        (0, 0),
    ],
)
def test_nobody_waits_longer_than_fifteen_minutes(asked_ns: int, waits_ns: int) -> None:
    outcome = run("permit", Permitting("A", [], WAIT, asked_ns))
    assert outcome.waits_ns == {"A": waits_ns}


def test_waiting_is_over_all_plugins() -> None:
    calls: list[Any] = []
    outcome = run(
        "permit",
        Permitting("A", calls, WAIT, SECOND_NS),
        Permitting("B", calls),
        Permitting("C", calls, WAIT, 2 * SECOND_NS),
    )
    assert outcome.status.code is Code.WAIT
    text = "one or more plugins asked to wait and no plugin rejected pod"
    assert outcome.status.message.endswith(text)
    assert outcome.waits_ns == {"A": SECOND_NS, "C": 2 * SECOND_NS}
    assert names(calls) == ["A", "B", "C"]


def test_a_rejection_goes_before_waiting() -> None:
    outcome = run(
        "permit", Permitting("A", [], WAIT, SECOND_NS), Permitting("B", [], no("refused"))
    )
    assert outcome.status == Status(Code.UNSCHEDULABLE, ("refused",), "B")
    assert outcome.waits_ns == {}


# ---------------------------------------------------------------- Bind and after


def test_nobody_binds() -> None:
    assert run("bind", Binding("A", [], SKIP)).code is Code.SKIP
    assert run("bind").code is Code.SKIP
