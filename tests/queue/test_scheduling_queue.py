"""The queue as a whole, after the tables of upstream's scheduling_queue_test.go."""

import pytest

from scheduler_core.api import Toleration
from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    EventResource,
    QueueingHint,
)
from scheduler_core.queue.cluster_events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    NODE_ADD,
)
from scheduler_core.queue.moves import Hint, Move, Strategy, Via
from scheduler_core.queue.nominator import OVERRIDE
from scheduler_core.queue.scheduling_queue import SECOND_NS, QueueSettings
from scheduler_core.trace.records import Queue
from tests.builders import make_pod
from tests.queue.queue_world import START_NS, Gate, Rejector, World, pod_info, with_nomination

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
POD_DELETE = ClusterEvent(EventResource.POD, ActionType.DELETE)
POD_LABEL = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_LABEL)
POD_TOLERATION = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_TOLERATION)
FIT = "NodeResourcesFit"
LO, MID, HI = (
    pod_info(make_pod(name).priority(p)) for name, p in (("lo", 0), ("mid", 5), ("hi", 10))
)


def fit(hint: QueueingHint = QUEUE) -> Rejector:
    return Rejector(FIT, {NODE_ADD: hint, POD_DELETE: hint})


# ---------------------------------------------------------------- adding and popping


def test_a_popped_pod_is_in_flight_until_done() -> None:
    world = World()
    world.add(MID)
    popped = world.queue.pop()
    assert popped is not None
    assert popped.source is Queue.ACTIVE
    assert popped.queued.attempts == 1
    assert world.places() == {"default/mid": "in flight"}
    assert world.queue.is_in_flight(MID.uid)
    world.queue.done(MID.uid)
    world.queue.done(MID.uid)
    assert world.places() == {}


# ---------------------------------------------------------------- failed attempts


def test_a_pod_in_error_backs_off_and_is_not_popped_early() -> None:
    world = World()
    queued = world.park(MID)
    assert world.places() == {"default/mid": "backoff"}
    assert (queued.unschedulable_count, queued.consecutive_errors_count) == (0, 1)
    assert world.queue.pop() is None
    world.pass_time(2)
    world.queue.flush_backoff_completed()
    assert world.places() == {"default/mid": "active"}
    assert world.moves[-1].via is Via.BACKOFF_COMPLETE


def test_errors_stop_counting_once_the_pod_is_rejected() -> None:
    world = World(fit())
    queued = world.park(MID)
    for _ in range(2):
        world.pass_time(60)
        world.queue.flush_backoff_completed()
        world.fail(world.pop())
    assert (queued.unschedulable_count, queued.consecutive_errors_count) == (0, 3)
    world.pass_time(60)
    world.queue.flush_backoff_completed()
    world.fail(world.pop(), FIT)
    assert (queued.unschedulable_count, queued.consecutive_errors_count) == (1, 0)
    assert queued.attempts == 4


def test_a_pod_cannot_come_back_twice() -> None:
    world = World(fit())
    queued = world.park(MID, FIT)
    with pytest.raises(ValueError, match="already in the queue"):
        world.queue.add_unschedulable_if_not_present(queued)
    assert world.places() == {"default/mid": "unschedulable"}


# ---------------------------------------------------------------- cluster events


@pytest.mark.parametrize(
    ("hint", "seconds", "pop_early", "place"),
    [
        (QUEUE, 0, True, "backoff"),
        (QUEUE, 0, False, "backoff"),
        (QUEUE, 2, True, "active"),
        (QUEUE, 1.001, False, "active"),
        (SKIP, 60, True, "unschedulable"),
    ],
)
def test_an_event_wakes_a_pod_as_its_rejector_says(
    hint: QueueingHint, seconds: float, pop_early: bool, place: str
) -> None:
    world = World(fit(hint), pop_early=pop_early)
    world.park(MID, FIT)
    world.pass_time(seconds)
    gone = pod_info(make_pod("gone").on("n1"))
    world.queue.move_all_to_active_or_backoff_queue(ASSIGNED_POD_DELETE, gone, None)
    assert world.places() == {"default/mid": place}
    told = world.moves[-1]
    assert (told.event, told.cause, told.via) == (
        "AssignedPodDelete",
        "default/gone",
        Via.CLUSTER_EVENT,
    )
    assert told.hints == (Hint(FIT, hint),)
    if place == "backoff":
        queued = world.queue.backoff_pods()[0]
        assert told.backoff_until_ns == world.queue.backoff_until_ns(queued) > START_NS


def test_a_pending_plugin_spares_the_backoff() -> None:
    world = World(Rejector("Pending", {NODE_ADD: QUEUE}))
    world.park(MID, pending=["Pending"])
    world.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert world.places() == {"default/mid": "active"}
    assert world.moves[-1].strategy is Strategy.IMMEDIATELY


def test_a_pre_check_chooses_the_pods() -> None:
    world = World(fit())
    world.park(HI, FIT)
    world.park(LO, FIT)
    world.queue.move_all_to_active_or_backoff_queue(
        ASSIGNED_POD_DELETE, HI, None, lambda pod: pod.priority <= 5
    )
    assert world.places() == {"default/hi": "unschedulable", "default/lo": "backoff"}


def test_bound_pods_raise_events_of_their_own() -> None:
    plugin = Rejector("A", {ASSIGNED_POD_ADD: SKIP, POD_LABEL: SKIP, POD_TOLERATION: SKIP})
    world = World(plugin)
    world.park(MID, "A")
    bound = pod_info(make_pod("b").on("n1"))
    world.queue.assigned_pod_added(bound)
    changed = pod_info(make_pod("b").on("n1").label("a", "b").tolerations(Toleration(key="x")))
    world.queue.assigned_pod_updated(bound, changed)
    assert [move.event for move in world.moves[-3:]] == [
        "AssignedPodAdd",
        "AssignedPodUpdatePodLabel",
        "AssignedPodUpdatePodToleration",
    ]


def test_without_the_gate_backoff_is_waited_out() -> None:
    world = World(fit(), pop_early=False)
    world.park(MID, FIT)
    world.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert world.queue.pop() is None
    world.pass_time(1)
    world.queue.flush_backoff_completed()
    assert world.queue.pop() is None
    world.pass_time(0.001)
    world.queue.flush_backoff_completed()
    assert world.pop_key() == "default/mid"


def test_pods_parked_for_too_long_are_flushed() -> None:
    world = World(fit(SKIP), settings=QueueSettings(max_in_unschedulable_pods_ns=300 * SECOND_NS))
    early = world.park(MID, FIT)
    world.pass_time(10)
    world.park(LO, FIT)
    world.now_ns = early.timestamp_ns + 300 * SECOND_NS
    world.queue.flush_unschedulable_leftover()
    assert world.places() == {"default/mid": "unschedulable", "default/lo": "unschedulable"}
    world.now_ns += 1
    world.queue.flush_unschedulable_leftover()
    assert world.places() == {"default/mid": "active", "default/lo": "unschedulable"}
    assert early.was_flushed_from_unschedulable
    assert world.moves[-1] == Move(
        MID,
        Queue.ACTIVE,
        "UnschedulableTimeout",
        Via.CLUSTER_EVENT,
        strategy=Strategy.AFTER_BACKOFF,
    )


# ---------------------------------------------------------------- flushes


def test_the_flush_mark_goes_when_the_pod_comes_back() -> None:
    world = World(fit(SKIP))
    queued = world.park(MID, FIT)
    world.pass_time(301)
    world.queue.flush_unschedulable_leftover()
    world.fail(world.pop(), FIT)
    assert not queued.was_flushed_from_unschedulable


def test_next_leftover_flush_is_the_first_that_moves_a_pod() -> None:
    world = World(fit(SKIP))
    assert world.queue.next_leftover_flush_ns() is None
    world.park(MID, FIT)
    due_ns = world.queue.next_leftover_flush_ns()
    assert due_ns is not None
    assert due_ns % (30 * SECOND_NS) == 0
    world.now_ns = due_ns - 30 * SECOND_NS
    world.queue.flush_unschedulable_leftover()
    assert world.places() == {"default/mid": "unschedulable"}
    world.now_ns = due_ns
    world.queue.flush_unschedulable_leftover()
    assert world.places() == {"default/mid": "active"}


# ---------------------------------------------------------------- activation


def test_activate_moves_parked_and_waiting_pods_at_once() -> None:
    world = World(fit())
    world.park(MID, FIT)
    world.park(LO)
    world.queue.activate([MID, LO, pod_info(make_pod("unknown"))])
    assert world.places() == {"default/mid": "active", "default/lo": "active"}
    assert [move.event for move in world.moves[-2:]] == ["ForceActivate", "ForceActivate"]


def test_activate_leaves_a_gated_pod_where_it_is() -> None:
    world = World(Gate("Gate", held={MID.key}))
    world.add(MID)
    world.queue.activate([MID])
    assert world.places() == {"default/mid": "gated"}
    assert world.moves[-1] == Move(
        MID, Queue.GATED, "ForceActivate", Via.ACTIVATED, gated_by="Gate"
    )


def test_activation_in_flight_requeues_only_that_pod() -> None:
    world = World(fit(SKIP))
    world.add(HI, MID)
    hi, mid = world.pop(), world.pop()
    world.queue.activate([MID])
    world.fail(hi, FIT)
    world.fail(mid, FIT)
    assert world.places() == {"default/hi": "unschedulable", "default/mid": "backoff"}


# ---------------------------------------------------------------- nominations


def test_a_nomination_in_memory_survives_an_unaware_update() -> None:
    world = World(fit())
    world.park(MID, FIT)
    world.queue.nominator.add(MID, OVERRIDE, "n1")
    changed = pod_info(make_pod("mid").priority(5).label("a", "b"))
    world.queue.update(MID, changed)
    assert world.queue.nominator.nominations() == {"default/mid": "n1"}
    assert list(world.queue.nominator.nominated_pods_for_node("n1")) == [changed]
    cleared = with_nomination(changed, "")
    world.queue.update(with_nomination(changed, "n1"), cleared)
    assert world.queue.nominator.nominations() == {}
