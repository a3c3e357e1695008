"""From Reserve to Bind: order, cancellation, failure, and the trace of it all."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import feature_gates
from scheduler_core.framework.status import SKIP, SUCCESS, Code, Status
from scheduler_core.sim.simulation import Timing
from scheduler_core.trace.events import (
    Bound,
    CycleFinished,
    Forgotten,
    NominationChanged,
    PodEvicted,
    PointFinished,
    Unreserved,
)
from scheduler_core.trace.records import Result
from tests.builders import make_node, make_pod
from tests.scheduler.steps import (
    FAILED,
    MILLI_NS,
    REFUSED,
    WAIT,
    Binder,
    Steps,
    one_node,
    points,
    results,
)
from tests.simulated import SECOND_NS, Cluster, not_scheduled

# ---------------------------------------------------------------- Reserve


def test_every_point_runs_in_order() -> None:
    diary: list[str] = []
    cluster = one_node(make_pod("p").obj(), plugins=[Steps(diary, "A"), Steps(diary, "B")])
    cluster.attempt()
    assert [entry.removesuffix(" p") for entry in diary] == [
        "A.reserve",
        "B.reserve",
        "A.permit",
        "B.permit",
        "A.pre_flight",
        "B.pre_flight",
        "A.pre_bind",
        "B.pre_bind",
        "A.post_bind",
        "B.post_bind",
    ]
    assert cluster.node_of("p") == "n"
    assert points(cluster) == [
        ("Reserve", "Success"),
        ("Permit", "Success"),
        ("PreBindPreFlight", "Success"),
        ("PreBind", "Success"),
        ("Bind", "Success"),
        ("PostBind", "Success"),
    ]


@pytest.mark.parametrize("point", ["reserve", "permit", "pre_bind"])
@pytest.mark.parametrize("answer", [REFUSED, FAILED])
def test_what_fails_after_reserve_is_undone_in_reverse_order(point: str, answer: Status) -> None:
    diary: list[str] = []
    plugins = [
        Steps(diary, "A"),
        Steps(diary, "B", answers={point: answer}),
        Steps(diary, "C"),
    ]
    cluster = one_node(make_pod("p").obj(), plugins=plugins)
    cluster.attempt()
    undone = [entry for entry in diary if "unreserve" in entry]
    assert undone == ["C.unreserve p", "B.unreserve p", "A.unreserve p"]
    (recorded,) = cluster.of_type(Unreserved)
    names = list(cluster.recorder.plugins)
    assert [names[plugin] for plugin in recorded.plugins if names[plugin] in "ABC"] == list("CBA")
    assert cluster.node_of("p") == ""
    assert cluster.scheduler.cache.n_pods == 0
    assert len(cluster.of_type(Forgotten)) == 1
    assert "C.reserve p" not in diary if point == "reserve" else "C.reserve p" in diary


@pytest.mark.parametrize("point", ["reserve", "permit"])
def test_a_refusal_at_reserve_or_permit_blames_the_plugin(point: str) -> None:
    plugin = Steps([], answers={point: REFUSED})
    cluster = one_node(make_node("m").obj(), make_pod("p").obj(), plugins=[plugin])
    attempt = cluster.attempt()
    failure = not_scheduled(attempt)
    assert failure.message == "0/1 nodes are available: 1 refused."
    assert failure.unschedulable_plugins == {"Steps"}
    assert cluster.parked() == ["p"]
    assert results(cluster) == [Result.UNSCHEDULABLE]


@pytest.mark.parametrize(
    ("point", "message"),
    [
        ("reserve", 'running Reserve plugin "Steps": failed'),
        ("permit", 'running Permit plugin "Steps": failed'),
        ("pre_flight", 'running PreBindPreFlight "Steps": failed'),
        ("pre_bind", 'running PreBind plugin "Steps": failed'),
    ],
)
def test_an_error_blames_nobody_and_is_tried_again(point: str, message: str) -> None:
    cluster = one_node(make_pod("p").obj(), plugins=[Steps([], answers={point: FAILED})])
    cluster.attempt()
    assert cluster.told_of("p") == [("FailedScheduling", message)]
    assert cluster.backing_off() == ["p"]
    assert cluster.pod("p").status.conditions[0].reason == "SchedulerError"


def test_a_pending_plugin_is_remembered_as_such() -> None:
    plugin = Steps([], answers={"reserve": Status(Code.PENDING, ("soon",))})
    cluster = one_node(make_pod("p").obj(), plugins=[plugin])
    attempt = cluster.attempt()
    failure = not_scheduled(attempt)
    assert failure.pending_plugins == {"Steps"}


# ---------------------------------------------------------------- PreBind and expectation


SLOW = Timing(pre_bind_ns=2 * SECOND_NS, binding_ns=100 * MILLI_NS, kubelet_start_ns=None)


def test_pre_bind_and_bind_take_their_time_beside_other_cycles() -> None:
    cluster = one_node(make_pod("p").obj(), make_pod("q").obj(), plugins=[Steps([])], timing=SLOW)
    cluster.attempt_all()
    assert len(cluster.of_type(CycleFinished)) == 2
    assert cluster.of_type(Bound) == []
    cluster.advance(2.09)
    assert cluster.node_of("p") == ""
    cluster.advance(0.01)
    assert cluster.node_of("p") == "n"
    assert cluster.node_of("q") == "n"


def test_a_pod_with_pre_bind_work_names_its_node_meanwhile() -> None:
    cluster = one_node(make_pod("p").obj(), plugins=[Steps([])], timing=SLOW)
    cluster.attempt()
    assert cluster.pod("p").status.nominated_node_name == "n"
    assert [event.node for event in cluster.of_type(NominationChanged)] == [0]
    cluster.settle()
    assert cluster.pod("p").status.nominated_node_name == ""
    assert cluster.node_of("p") == "n"


def test_a_pod_that_waits_on_permit_names_its_node_meanwhile() -> None:
    plugin = Steps([], answers={"permit": WAIT, "pre_flight": SKIP}, timeout_seconds=5)
    cluster = one_node(make_pod("p").obj(), plugins=[plugin], timing=SLOW)
    cluster.attempt()
    assert cluster.pod("p").status.nominated_node_name == "n"
    cluster.advance(5)
    assert cluster.pod("p").status.nominated_node_name == ""
    assert [event.node for event in cluster.of_type(NominationChanged)] == [0, -1]


@pytest.mark.parametrize("answers", [{"pre_flight": SKIP}, {}])
def test_without_pre_bind_work_or_the_gate_no_node_is_named(answers: dict[str, Status]) -> None:
    gates = {} if answers else {"NominatedNodeNameForExpectation": False}
    diary: list[str] = []
    cluster = one_node(
        make_pod("p").obj(),
        plugins=[Steps(diary, answers=answers)],
        timing=SLOW,
        features=feature_gates(gates),
    )
    cluster.attempt()
    assert cluster.pod("p").status.nominated_node_name == ""
    cluster.settle()
    assert ("Steps.pre_bind p" in diary) is not bool(answers), "skipped by its pre-flight"
    assert ("Steps.pre_flight p" in diary) is bool(answers)


def test_a_pre_flight_must_not_refuse() -> None:
    cluster = one_node(make_pod("p").obj(), plugins=[Steps([], answers={"pre_flight": REFUSED})])
    cluster.attempt()
    assert cluster.told_of("p")[-1][1] == (
        'PreBindPreFlight Steps returned "Unschedulable", which is unsupported. It is supposed to '
        "return Success, Skip, or Error status"
    )


def test_a_pre_flight_error_ends_the_waiting_on_permit() -> None:
    plugin = Steps([], answers={"permit": WAIT, "pre_flight": FAILED}, timeout_seconds=60)
    cluster = one_node(make_pod("p").obj(), plugins=[plugin])
    cluster.attempt()
    assert cluster.simulation.waiting_pods.get("default/p") is None
    assert cluster.backing_off() == ["p"]


def preempted_in_pre_bind() -> Cluster:
    """A victim in PreBind, and a preemptor that has just had its attempt."""
    cluster = one_node(make_pod("victim").cpu(4).obj(), plugins=[Steps([])], timing=SLOW)
    cluster.attempt()
    cluster.advance(1)
    cluster.create(make_pod("boss").cpu(4).priority(10).obj())
    cluster.attempt()
    return cluster


def test_a_preemptor_stops_pre_bind() -> None:
    cluster = preempted_in_pre_bind()
    cluster.advance_ms(1)
    assert cluster.exists("victim")
    assert cluster.of_type(PodEvicted) == []
    assert cluster.told_of("victim")[-1] == (
        "FailedScheduling",
        'running PreBind plugin "Steps": preempted by DefaultPreemption',
    )
    assert points(cluster)[-1] == ("PreBind", "Error")
    assert cluster.backing_off() == ["boss", "victim"]
    cluster.settle()
    assert cluster.node_of("boss") == "n"
    assert ("Bind", "Success") in points(cluster)


def test_after_pre_bind_a_preemptor_deletes() -> None:
    cluster = one_node(make_pod("victim").cpu(4).obj(), plugins=[Steps([])], timing=SLOW)
    cluster.attempt()
    cluster.advance(2.05)
    cluster.create(make_pod("boss").cpu(4).priority(10).obj())
    cluster.attempt()
    assert not cluster.exists("victim")
    assert len(cluster.of_type(PodEvicted)) == 1
    cluster.settle()
    assert cluster.node_of("boss") == "n"
    assert cluster.scheduler.cache.n_pods == 1


def test_a_refusal_at_pre_bind_reads_as_such_but_blames_nobody() -> None:
    cluster = one_node(make_pod("p").obj(), plugins=[Steps([], answers={"pre_bind": REFUSED})])
    cluster.attempt()
    assert cluster.pod("p").status.conditions[0].reason == "Unschedulable"
    assert cluster.told_of("p")[-1][1] == "refused"
    assert cluster.of_type(CycleFinished)[-1].unschedulable_plugins == ()
    assert cluster.backing_off() == ["p"]


# ---------------------------------------------------------------- Bind


def binding(*names: str) -> str:
    """Return a profile with just these Bind plugins."""
    enabled = ", ".join(f"{{name: {name}}}" for name in names)
    return f"  plugins:\n    bind:\n      disabled: [{{name: '*'}}]\n      enabled: [{enabled}]\n"


@pytest.mark.parametrize(
    ("order", "asked"),
    [(("A", "B", "DefaultBinder"), ["A", "B"]), (("A", "DefaultBinder", "B"), ["A"])],
)
def test_the_first_bind_plugin_that_does_not_skip_binds(
    order: tuple[str, ...], asked: list[str]
) -> None:
    diary: list[str] = []
    binders = [Binder(diary, "A", SKIP), Binder(diary, "B", SUCCESS)]
    cluster = one_node(make_pod("p").obj(), plugins=binders, profile=binding(*order))
    cluster.attempt()
    assert diary == [f"{name}.bind p" for name in asked]
    bound_by_default = "B" not in asked
    assert cluster.node_of("p") == ("n" if bound_by_default else "")
    assert points(cluster)[-2:] == [("Bind", "Success"), ("PostBind", "Success")]


def test_a_failed_bind_wakes_pods_that_wanted_the_room() -> None:
    class FailsOnce(Binder):
        def bind(self, state: None, pod: PodInfo, node_name: str) -> Status:
            super().bind(state, pod, node_name)
            return FAILED if len(self._diary) == 1 else SKIP

    cluster = one_node(
        make_pod("p").cpu(4).obj(),
        make_pod("q").cpu(4).obj(),
        plugins=[FailsOnce([], "A", SKIP)],
        profile=binding("A", "DefaultBinder"),
        timing=Timing(binding_ns=100 * MILLI_NS, kubelet_start_ns=None),
    )
    cluster.attempt_all()
    assert cluster.parked() == ["q"]
    cluster.advance_ms(100)
    assert cluster.moves("q")[-1] == "AssignedPodDelete"
    assert cluster.backing_off() == ["q", "p"]
    cluster.settle()
    assert cluster.places() == {"p": "", "q": "n"}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("delete", 'running Bind plugin "DefaultBinder": pods "p" not found'),
        (
            "recreate",
            'running Bind plugin "DefaultBinder": Operation cannot be fulfilled on pods/binding '
            '"p": UID in precondition: default/p, UID in object meta: other',
        ),
        (
            "bind",
            'running Bind plugin "DefaultBinder": Operation cannot be fulfilled on pods/binding '
            '"p": pod p is already assigned to node "m"',
        ),
    ],
)
def test_the_api_server_refuses_what_it_must(change: str, message: str) -> None:
    timing = Timing(binding_ns=100 * MILLI_NS, kubelet_start_ns=None)
    cluster = one_node(make_node("m").obj(), make_pod("p").obj(), timing=timing)
    cluster.attempt()
    pod = cluster.pod("p")
    if change == "bind":
        cluster.server.update(replace(pod, spec=replace(pod.spec, node_name="m")))
    else:
        cluster.server.delete(pod)
    if change == "recreate":
        cluster.create(make_pod("p").uid("other").obj())
    cluster.advance_ms(100)
    bind = next(event for event in cluster.of_type(PointFinished) if event.point == "Bind")
    assert bind.status.reasons == (message,)
    assert cluster.queue.in_flight_pods() == []
    assert cluster.active() == (["p"] if change == "recreate" else [])
    assert cluster.scheduler.cache.n_pods == (1 if change == "bind" else 0)
