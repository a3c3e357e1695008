"""A recording of a real cluster, followed: the run that comes out, and that it does not depend on
how changes of different kinds arrive, nor on restarts."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kviz.following.changes import Listed, UnreadableChange, change_of
from kviz.following.follower import SETTLE_S, Follower, Journal, Ordering, Told
from kviz.following.recording import Line, list_of, take_line
from kviz.following.recording import followed as is_followed
from scheduler_core.trace.events import (
    AnyEvent,
    CycleFinished,
    CycleStarted,
    EventRecorded,
    NodeAdded,
    PodEvicted,
)
from scheduler_core.trace.fold import fold
from scheduler_core.trace.records import Result
from tests.following.recorded import followed, lines, outcome

ENCODER = msgspec.msgpack.Encoder()


def encoded(events: Sequence[AnyEvent]) -> bytes:
    return b"".join(map(ENCODER.encode, events))


def lists() -> list[Listed]:
    return [list_of(line) for line in lines() if line.type == "LIST" and is_followed(line.resource)]


def later_lines() -> list[Line]:
    begin = next(i for i, line in enumerate(lines()) if line.type == "SYNCED")
    return [line for line in lines()[begin + 1 :] if is_followed(line.resource)]


def test_the_end_of_the_run_is_where_every_pod_was() -> None:
    state = fold(followed().events)
    found = {
        f"{p.namespace}/{p.name}": state.names.node(p.node) or None for p in state.pods.values()
    }
    assert found == {each["pod"]: each["node"] for each in outcome() if not each["deleted"]}


def test_every_message_is_a_cycle_and_verbatim() -> None:
    told: dict[str, list[str]] = defaultdict(list)
    for decision in followed().decisions:
        if decision.message:
            told[decision.pod.uid].append(decision.message)
    expected = [each["messages"] for each in outcome() if each["messages"]]
    assert sorted(told.values()) == sorted(expected)
    finished = [e for e in followed().events if isinstance(e, CycleFinished)]
    assert [e.message for e in finished] == [d.message for d in followed().decisions]


def test_bindings_are_cycles_with_their_node() -> None:
    state = fold(followed().events)
    results = Counter(e.result for e in followed().events if isinstance(e, CycleFinished))
    assert results == {Result.SCHEDULED: 151, Result.UNSCHEDULABLE: 26}
    assert state.n_bound == 151
    assert state.results[Result.SCHEDULED] == 151


def test_what_a_scheduler_does_not_write_is_not_in_the_trace() -> None:
    kinds = {type(event).__name__ for event in followed().events}
    assert not kinds & {
        "FilterFinished",
        "FilterColumns",
        "ScoreColumns",
        "QueueMoved",
        "NodeSelected",
    }


def test_its_own_events_are_there_in_its_words() -> None:
    recorded = [e for e in followed().events if isinstance(e, EventRecorded)]
    assert {e.reason for e in recorded} == {"Scheduled", "FailedScheduling", "Preempted"}
    text = next(e.message for e in recorded if e.reason == "Scheduled")
    assert text.startswith("Successfully assigned ")


def test_victims_say_why_they_go() -> None:
    evicted = [e for e in followed().events if isinstance(e, PodEvicted)]
    assert evicted
    assert all(e.reason.startswith("PreemptionByScheduler: ") for e in evicted)


def test_nodes_that_come_are_there_when_a_cycle_counts_them() -> None:
    n_nodes = 0
    for event in followed().events:
        if isinstance(event, NodeAdded):
            n_nodes += 1
        if isinstance(event, CycleStarted):
            assert event.n_nodes == n_nodes


# ---------------------------------------------------------------- order and restarts


def shuffled(remaining: Sequence[Line], random: Random) -> Iterator[Line]:
    """Yield lines so that kinds overtake each other, each kind in its own order."""
    keys = {id(line): line.t + random.random() * 0.4 for line in remaining}
    latest: dict[str, float] = {}
    for line in remaining:
        latest[line.resource] = keys[id(line)] = max(keys[id(line)], latest.get(line.resource, 0.0))
    for line in sorted(remaining, key=lambda each: keys[id(each)]):
        yield msgspec.structs.replace(line, t=keys[id(line)])


def again_from(versions: dict[str, int]) -> list[Line]:
    """What watches send that begin behind these versions."""
    return [line for line in later_lines() if _version(line) > versions[line.resource]]


def _version(line: Line) -> int:
    return int(msgspec.json.decode(line.object)["metadata"]["resourceVersion"])


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(1, 700), max_size=3))
def test_restarts_and_arrival_change_nothing(seed: int, stops: list[int]) -> None:
    random = Random(seed)
    journal = Journal(lists())
    follower = Follower(journal.lists)
    events = list(follower.beginning)

    def store(told: Told) -> None:
        journal.changes += told.changes
        events.extend(told.events)

    coming = list(shuffled(later_lines(), random))
    n_heard = 0
    while coming:
        line = coming.pop(0)
        store(follower.tell(line.t))
        take_line(follower, line)
        n_heard += 1
        if stops and n_heard == stops[0]:
            stops, n_heard = stops[1:], 0
            follower = Follower.resume(Journal(journal.lists, list(journal.changes)))
            missed = again_from(journal.versions)
            # What had come before the stop comes at once.
            at_once = [msgspec.structs.replace(each, t=max(each.t, line.t)) for each in missed]
            coming = list(shuffled(at_once, random))
    store(follower.tell_all())
    assert encoded(events) == encoded(followed().events)
    assert follower.ordering.n_late == 0


def test_a_change_waits_for_other_kinds_but_not_for_ever() -> None:
    raw = b'{"metadata":{"name":"n1","resourceVersion":"%d"}}'
    ordering = Ordering({"nodes": 10, "pods": 10})
    changes = [change_of("nodes", "MODIFIED", raw % version) for version in (12, 15)]
    for change in changes:
        assert change is not None
        ordering.take(change, now_s=100.0)
    assert ordering.ready(100.1) == []
    ordering.reach("pods", 13)
    assert ordering.ready(100.2) == changes[:1]
    assert ordering.ready(100.0 + SETTLE_S) == changes[1:]


def test_what_comes_twice_is_told_once() -> None:
    follower = Follower(lists())
    for line in later_lines()[:50]:
        take_line(follower, line)
        take_line(follower, line)
    told = follower.tell_all()
    versions = [(each.resource, each.version) for each in told.changes]
    assert len(versions) == len(set(versions))


def test_a_new_list_tells_what_became_of_a_kind() -> None:
    follower = Follower(lists())
    pods = next(found for found in lists() if found.resource == "pods")
    gone, *left = pods.items
    follower.take_list(Listed("pods", pods.version + 1000, tuple(left)), 1.0)
    told = follower.tell_all()
    assert [(each.what, each.item) for each in told.changes] == [("DELETED", gone)]
    assert follower.versions["pods"] == pods.version + 1000


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(UnreadableChange, match="pods"):
        change_of("pods", "ADDED", b'{"metadata": {"resourceVersion": "3"}, "spec": 4}')
    with pytest.raises(UnreadableChange, match="not a number"):
        change_of("pods", "ADDED", b'{"metadata": {"resourceVersion": "x3"}}')
