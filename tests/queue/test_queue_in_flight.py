"""What arrives while a pod's attempt is under way is weighed when the attempt fails."""

import pytest

from scheduler_core.framework.events import (
    ActionType,
    ClusterEvent,
    EventResource,
    QueueingHint,
)
from scheduler_core.queue.cluster_events import ASSIGNED_POD_ADD, NODE_ADD
from scheduler_core.queue.in_flight import InFlight
from scheduler_core.queue.moves import Hint, Move, Strategy, Via
from scheduler_core.trace.records import Queue
from tests.builders import make_pod
from tests.queue.queue_world import Rejector, World, pod_info

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
NODE_LABEL = ClusterEvent(EventResource.NODE, ActionType.UPDATE_NODE_LABEL)
POD_LABEL = ClusterEvent(EventResource.POD, ActionType.UPDATE_POD_LABEL)

YES = Rejector("Yes", {NODE_ADD: QUEUE, POD_LABEL: QUEUE})
NO = Rejector("No", {NODE_ADD: SKIP, NODE_LABEL: SKIP})
P, Q = pod_info(make_pod("p")), pod_info(make_pod("q"))


@pytest.mark.parametrize(
    ("rejectors", "pending", "events", "place"),
    [
        (["Yes"], [], [], "unschedulable"),
        (["Yes"], [], [NODE_ADD], "backoff"),
        (["Yes"], [], [NODE_LABEL, NODE_ADD], "backoff"),
        (["No"], [], [NODE_ADD, NODE_LABEL], "unschedulable"),
        ([], ["Yes"], [NODE_ADD], "active"),
        (["Yes"], ["No"], [NODE_ADD, NODE_LABEL], "backoff"),
        (["No"], ["Yes"], [NODE_LABEL, NODE_ADD], "active"),
        ([], [], [], "backoff"),
    ],
)
def test_events_during_the_attempt(
    rejectors: list[str], pending: list[str], events: list[ClusterEvent], place: str
) -> None:
    world = World(YES, NO)
    world.add(P)
    queued = world.pop()
    for event in events:
        world.queue.move_all_to_active_or_backoff_queue(event)
    world.fail(queued, *rejectors, pending=pending)
    assert world.places() == {"default/p": place}


def test_hints_stop_at_the_first_event_that_queues_and_are_recorded() -> None:
    world = World(YES, NO)
    world.add(P)
    queued = world.pop()
    for event in (NODE_LABEL, NODE_ADD, NODE_ADD):
        world.queue.move_all_to_active_or_backoff_queue(event, None, Q)
    told = len(world.told)
    world.fail(queued, "Yes")
    assert world.told[told:] == [
        Move(
            P,
            Queue.IN_FLIGHT,
            "NodeUpdateNodeLabel",
            Via.IN_FLIGHT_EVENT,
            "default/q",
            strategy=Strategy.SKIP,
        ),
        Move(
            P,
            Queue.IN_FLIGHT,
            "NodeAdd",
            Via.IN_FLIGHT_EVENT,
            "default/q",
            (Hint("Yes", QUEUE),),
            Strategy.AFTER_BACKOFF,
        ),
        Move(
            P,
            Queue.BACKOFF,
            "ScheduleAttemptFailure",
            Via.ATTEMPT_FAILURE,
            strategy=Strategy.AFTER_BACKOFF,
            backoff_until_ns=world.queue.backoff_until_ns(queued),
        ),
    ]


def test_an_update_of_the_pod_itself_is_kept() -> None:
    world = World(YES)
    world.add(P)
    queued = world.pop()
    changed = pod_info(make_pod("p").label("a", "b"))
    world.queue.update(P, changed)
    assert world.places() == {"default/p": "in flight"}
    queued.pod = changed
    world.fail(queued, "Yes")
    assert world.places() == {"default/p": "backoff"}
    assert [move.event for move in world.moves[-2:]] == [
        "UnschedulablePodUpdatePodLabel",
        "ScheduleAttemptFailure",
    ]


def test_a_pod_refused_after_its_flight_is_tried_again() -> None:
    world = World(NO)
    world.add(P)
    queued = world.pop()
    world.queue.done(P.uid)
    world.fail(queued, "No")
    assert world.places() == {"default/p": "backoff"}


def test_events_are_kept_only_as_long_as_a_pod_needs_them() -> None:
    flight = InFlight()
    flight.record(NODE_ADD, None, None)
    assert flight.n_events == 0
    flight.start(P)
    flight.record(NODE_ADD, None, None)
    flight.start(Q)
    flight.record(NODE_LABEL, None, None)
    flight.record(ASSIGNED_POD_ADD, None, None)
    assert [e.event for e in flight.events_since_start(P.uid)] == [
        NODE_ADD,
        NODE_LABEL,
        ASSIGNED_POD_ADD,
    ]
    flight.done(P.uid)
    assert flight.n_events == 2
    assert [e.event for e in flight.events_since_start(Q.uid)] == [NODE_LABEL, ASSIGNED_POD_ADD]
    flight.start(P)
    flight.done(Q.uid)
    assert flight.n_events == 0
    assert list(flight.events_since_start(P.uid)) == []
    flight.done(P.uid)
    flight.done(P.uid)
    assert len(flight) == 0
