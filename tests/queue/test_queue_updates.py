"""Updates of pending pods, by where the pod is."""

import pytest

from scheduler_core.api import Toleration
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    EventResource,
    QueueingHint,
)
from scheduler_core.queue.cluster_events import NODE_ADD
from scheduler_core.queue.moves import Hint, Strategy, Via
from scheduler_core.trace.records import Queue
from tests.builders import make_pod
from tests.queue.queue_world import Gate, Rejector, World, pod_info

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
POD_LABEL = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_LABEL)
POD_TOLERATION = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)
GATES_GONE = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)

A = "A"
OLD, NEW = (
    pod_info(make_pod("p").nominated("n1")),
    pod_info(make_pod("p").label("a", "b").nominated("n2")),
)


@pytest.mark.parametrize(
    ("hint", "seconds", "place"),
    [(QUEUE, 0, "backoff"), (QUEUE, 60, "active"), (SKIP, 60, "unschedulable")],
)
def test_a_parked_pod_moves_as_its_rejector_says(
    hint: QueueingHint, seconds: float, place: str
) -> None:
    world = World(Rejector(A, {POD_LABEL: hint}))
    queued = world.park(OLD, A)
    world.pass_time(seconds)
    world.queue.update(OLD, NEW)
    assert world.places() == {"default/p": place}
    assert queued.pod is NEW
    told = world.moves[-1]
    assert (told.event, told.via, told.cause) == (
        "UnschedulablePodUpdatePodLabel",
        Via.SELF_UPDATE,
        "default/p",
    )
    assert told.hints == (Hint(A, hint),)


def test_the_first_change_that_helps_decides() -> None:
    world = World(Rejector(A, {POD_LABEL: SKIP, POD_TOLERATION: QUEUE, GATES_GONE: QUEUE}))
    old = pod_info(make_pod("p").gates("x"))
    world.park(old, A)
    new = pod_info(make_pod("p").label("a", "b").tolerations(Toleration(key="k")))
    world.queue.update(old, new)
    assert [(move.event, move.strategy) for move in world.moves[-2:]] == [
        ("UnschedulablePodUpdatePodLabel", Strategy.SKIP),
        ("UnschedulablePodUpdatePodSchedulingGatesEliminated", Strategy.AFTER_BACKOFF),
    ]
    assert world.places() == {"default/p": "backoff"}


# ---------------------------------------------------------------- gates


def backing_off_and_parked() -> World:
    """A pod two of whose changes were weighed: the first is worth a try, the second is not."""
    world = World(
        Rejector("A", {POD_LABEL: QUEUE, POD_TOLERATION: SKIP, NODE_ADD: QUEUE}), pop_early=False
    )
    world.park(OLD, "A")
    toleration = Toleration(key="a", operator="Exists")
    new = pod_info(make_pod("p").label("a", "b").tolerations(toleration))
    world.live[new.key] = new.pod
    world.queue.update(OLD, new)
    return world


def test_when_backoff_must_end_a_later_change_parks_the_pod_as_well() -> None:
    """Upstream goes on to the next change unless the pod may be tried now."""
    world = backing_off_and_parked()
    parked = [queued.key for queued in world.queue.unschedulable_pods()]
    assert [queued.key for queued in world.queue.backoff_pods()] == parked == ["default/p"]
    assert [(move.event, move.queue) for move in world.moves[-2:]] == [
        ("UnschedulablePodUpdatePodLabel", Queue.BACKOFF),
        ("UnschedulablePodUpdatePodToleration", Queue.UNSCHEDULABLE),
    ]
    world.pass_time(2)
    world.queue.flush_backoff_completed()
    assert world.places() == {"default/p": "active"}


def test_an_event_may_let_such_a_pod_go_before_the_flush_of_its_backoff() -> None:
    world = backing_off_and_parked()
    world.pass_time(1.5)
    world.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert world.places() == {"default/p": "active"}


def test_such_a_pod_that_is_deleted_is_gone_from_both_places() -> None:
    """Upstream forgets one of them, and schedules what is no longer there."""
    world = backing_off_and_parked()
    world.queue.delete(OLD)
    assert world.places() == {}
    assert [move.via for move in world.moves].count(Via.DELETED) == 1


def test_the_gate_asks_again_and_may_hold_the_pod() -> None:
    gate = Gate("SchedulingGates", [GATES_GONE], held={"default/p"})
    world = World(gate)
    old = pod_info(make_pod("p").gates("x"))
    world.add(old)
    world.queue.update(old, pod_info(make_pod("p")))
    assert world.places() == {"default/p": "gated"}
    assert gate.asked == ["default/p", "default/p"]
    told = world.moves[-1]
    assert (told.strategy, told.queue) == (Strategy.AFTER_BACKOFF, Queue.GATED)


def test_events_that_do_not_interest_the_gate_are_not_weighed() -> None:
    rejector = Rejector(A, {NODE_ADD: QUEUE})
    world = World(Gate("Gate", [POD_LABEL], held={"default/p"}), rejector)
    world.add(OLD)
    told = len(world.told)
    world.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert len(world.told) == told
    assert rejector.asked == []


@pytest.mark.parametrize(("pop_early", "backoff"), [(True, "gated"), (False, "backoff")])
def test_a_woken_pod_may_be_gated_again(pop_early: bool, backoff: str) -> None:
    """PreEnqueue guards backoffQ only when pods may be popped from there."""
    gate = Gate("DefaultPreemption", [POD_LABEL, NODE_ADD], hint=SKIP)
    world = World(gate, Rejector(A, {NODE_ADD: QUEUE}), pop_early=pop_early)
    world.park(OLD, A)
    gate.held.add("default/p")
    world.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert world.places() == {"default/p": backoff}
    world.pass_time(2)
    world.queue.flush_backoff_completed()
    assert world.places() == {"default/p": "gated"}
    world.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert world.moves[-1].hints == (Hint("DefaultPreemption", SKIP), Hint(A, QUEUE))
    assert world.places() == {"default/p": "gated"}
    gate.held.clear()
    world.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert world.places() == {"default/p": "active"}


def test_the_plugin_that_held_the_pod_is_asked_first() -> None:
    first, second = Gate("First"), Gate("Second", [NODE_ADD], held={"default/p"})
    world = World(first, second)
    world.add(OLD)
    assert (len(first.asked), len(second.asked)) == (1, 1)
    world.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert (len(first.asked), len(second.asked)) == (1, 2)
    first.held.add("default/p")
    second.held.clear()
    world.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert [queued.gating_plugin for queued in world.queue.gated_pods()] == ["First"]


def test_a_gated_pod_is_not_nominated_before_it_enters() -> None:
    gate = Gate("Gate", [POD_LABEL], held={"default/p"})
    world = World(gate)
    world.add(OLD)
    assert world.nominations == []
    gate.held.clear()
    world.queue.update(OLD, NEW)
    assert world.nominations == [("default/p", "n2")]
