"""Permit: waiting, allowing, rejecting, running out of time."""

from __future__ import annotations

from msgspec.structs import replace

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.interface import PermitOutcome
from scheduler_core.framework.status import SUCCESS
from scheduler_core.trace.events import (
    CycleFinished,
    EventRecorded,
    PermitResolved,
    PermitWaiting,
    PodEvicted,
)
from scheduler_core.trace.fold import fold
from scheduler_core.trace.records import Queue, Result
from scheduler_core.trace.tables import Cache
from tests.builders import make_pod
from tests.scheduler.steps import WAIT, Steps, holding, one_node, results
from tests.simulated import SECOND_NS, START_NS


def test_a_pod_waits_on_permit_until_its_time_is_up() -> None:
    cluster = one_node(make_pod("p").obj(), plugins=[holding(10)])
    cluster.attempt()
    (waiting,) = cluster.of_type(PermitWaiting)
    assert waiting.until_ns == START_NS + 10 * SECOND_NS
    assert results(cluster) == [Result.WAITING]
    assert cluster.queue.is_in_flight("default/p")
    cluster.advance(9.999)
    assert cluster.of_type(PermitResolved) == []
    cluster.advance(0.001)
    (resolved,) = cluster.of_type(PermitResolved)
    assert resolved.decision == "timeout"
    assert results(cluster) == [Result.WAITING, Result.UNSCHEDULABLE]
    assert cluster.told_of("p")[-1] == (
        "FailedScheduling",
        "0/1 nodes are available: 1 rejected due to timeout after waiting 10s at plugin Steps.",
    )
    assert cluster.parked() == ["p"]
    assert not cluster.queue.is_in_flight("default/p")


def test_everyone_has_to_allow() -> None:
    cluster = one_node(make_pod("p").obj(), plugins=[holding(60, "A"), holding(30, "B")])
    cluster.attempt()
    waiting = cluster.simulation.waiting_pods.get("default/p")
    assert waiting is not None
    assert waiting.pending_plugins == ["A", "B"]
    waiting.allow("B")
    cluster.advance(40)
    assert cluster.node_of("p") == ""
    waiting.allow("A")
    cluster.advance(0)
    cluster.simulation.finish_attempt()
    assert cluster.node_of("p") == "n"
    assert [event.decision for event in cluster.of_type(PermitResolved)] == ["allow"]
    assert cluster.of_type(PermitResolved)[0].plugin == cluster.recorder.plugin("A")


def test_a_cycle_whose_pod_is_allowed_ends_as_one_that_did_not_wait() -> None:
    cluster = one_node(make_pod("p").obj(), plugins=[holding(60)])
    cluster.attempt()
    waiting = cluster.simulation.waiting_pods.get("default/p")
    assert waiting is not None
    waiting.allow("Steps")
    cluster.simulation.finish_attempt()
    held, allowed = cluster.of_type(CycleFinished)
    assert (held.result, allowed.result) == (Result.WAITING, Result.SCHEDULED)
    assert (held.cycle, held.node) == (allowed.cycle, allowed.node)
    state = fold(cluster.trace)
    assert state.results[Result.SCHEDULED] == 1
    assert state.results[Result.WAITING] == 0
    assert state.pods[cluster.recorder.pod("default/p")].cache is Cache.ADDED


def test_one_rejection_is_enough_and_the_first_word_stands() -> None:
    cluster = one_node(make_pod("p").obj(), plugins=[holding(60, "A"), holding(60, "B")])
    cluster.attempt()
    waiting = cluster.simulation.waiting_pods.get("default/p")
    assert waiting is not None
    assert waiting.reject("A", "no")
    assert not waiting.reject("B", "no again")
    waiting.allow("A")
    waiting.allow("B")
    cluster.simulation.finish_attempt()
    assert cluster.told_of("p")[-1][1] == "0/1 nodes are available: 1 no."
    assert cluster.of_type(CycleFinished)[-1].unschedulable_plugins == (
        cluster.recorder.plugin("A"),
    )


def test_the_earliest_timer_decides() -> None:
    cluster = one_node(make_pod("p").obj(), plugins=[holding(60, "A"), holding(30, "B")])
    cluster.attempt()
    cluster.advance(120)
    assert "after waiting 30s at plugin B" in cluster.told_of("p")[-1][1]


def test_other_pods_are_scheduled_while_one_waits() -> None:
    class HoldsFirst(Steps):
        def permit(self, state: None, pod: PodInfo, node_name: str) -> PermitOutcome:
            return PermitOutcome(WAIT if pod.pod.name == "p" else SUCCESS, 60 * SECOND_NS)

    pods = [make_pod("p").cpu(3).obj(), make_pod("q").cpu(1).obj(), make_pod("r").cpu(1).obj()]
    cluster = one_node(*pods, plugins=[HoldsFirst([])])
    cluster.attempt_all()
    assert cluster.places() == {"p": "", "q": "n", "r": ""}
    assert cluster.parked() == ["r"], "the waiting pod's room is taken"


def test_room_that_a_timed_out_pod_gives_back_wakes_others() -> None:
    class HoldsFirst(Steps):
        def permit(self, state: None, pod: PodInfo, node_name: str) -> PermitOutcome:
            return PermitOutcome(WAIT if pod.pod.name == "p" else SUCCESS, 5 * SECOND_NS)

    pods = [make_pod("p").cpu(4).obj(), make_pod("q").cpu(4).obj()]
    cluster = one_node(*pods, plugins=[HoldsFirst([])])
    cluster.settle()
    assert cluster.places() == {"p": "", "q": "n"}
    assert cluster.moves("q")[-1] == "AssignedPodDelete"
    assert "AssignedPodDelete" not in cluster.moves("p"), "its own end must not wake it"


def test_deleting_a_waiting_pod_rejects_it() -> None:
    diary: list[str] = []
    pods = [make_pod("p").cpu(4).obj(), make_pod("q").cpu(4).obj()]
    cluster = one_node(*pods, plugins=[holding(600, diary=diary)])
    cluster.attempt_all()
    cluster.server.delete(cluster.pod("p"))
    cluster.simulation.finish_attempt()
    assert [event.decision for event in cluster.of_type(PermitResolved)] == ["reject"]
    assert diary[-1] == "Steps.unreserve p"
    assert cluster.backing_off() == ["q"]
    assert [pod.key for pod in cluster.queue.in_flight_pods()] == []
    assert [pod.name for pod in fold(cluster.trace).pods.values()] == ["q"]


def test_a_waiting_pod_that_ends_is_not_tried_again() -> None:
    cluster = one_node(make_pod("p").obj(), plugins=[holding(60)])
    cluster.attempt()
    pod = cluster.pod("p")
    cluster.server.update(replace(pod, status=replace(pod.status, phase="Failed")))
    cluster.simulation.finish_attempt()
    assert results(cluster) == [Result.WAITING, Result.UNSCHEDULABLE]
    assert cluster.queue.get("default/p") is None
    state = fold(cluster.trace)
    assert state.pods[cluster.recorder.pod("default/p")].queue is Queue.NOWHERE


def test_a_preemptor_sends_a_waiting_pod_back_instead_of_deleting_it() -> None:
    victim, preemptor = make_pod("victim").cpu(4), make_pod("boss").cpu(4).priority(10)

    class HoldsVictim(Steps):
        def permit(self, state: None, pod: PodInfo, node_name: str) -> PermitOutcome:
            return PermitOutcome(WAIT if pod.pod.name == "victim" else SUCCESS, 600 * SECOND_NS)

    cluster = one_node(victim.obj(), plugins=[HoldsVictim([])])
    cluster.attempt()
    cluster.create(preemptor.obj())
    cluster.attempt()
    assert cluster.exists("victim")
    assert cluster.of_type(PodEvicted) == []
    assert [event.decision for event in cluster.of_type(PermitResolved)] == ["reject"]
    told = [e.message for e in cluster.of_type(EventRecorded) if e.reason == "Preempted"]
    assert told == ["Preempted by pod default/boss on node n (in kube-scheduler memory)."]
    assert cluster.told_of("victim")[-1] == (
        "FailedScheduling",
        "waiting on permit for pod: preempted",
    )
    assert results(cluster)[-1] is Result.BIND_ERROR
    assert cluster.backing_off() == ["boss", "victim"], "an error: it backs off, not parked"
    cluster.settle()
    assert cluster.node_of("boss") == "n"
