"""The fold: hand-checked moments of the story, and the fixture shared with the browser."""

from __future__ import annotations

import typing
from pathlib import Path

import msgspec
import pytest

from scheduler_core.trace import events as e
from scheduler_core.trace import records as r
from scheduler_core.trace.fold import HANDLERS, TraceState, apply, fold
from scheduler_core.trace.tables import CACHE_AFTER, CHANGES, QUEUE_AFTER, Cache
from tests.trace import story
from tests.trace.story import GIB, SECOND_NS, START_NS

FIXTURE = Path(__file__).with_name("fold_fixture.json")


def after(*parts: list[e.HeaderEvent]) -> TraceState:
    return fold(event for part in parts for event in part)


def test_fixture_is_the_story_of_today() -> None:
    assert story.fixture_text() == FIXTURE.read_text(), (
        "write it again: python -m tests.trace.story > tests/trace/fold_fixture.json"
    )


def test_fixture_decodes_to_the_same_events() -> None:
    raw = msgspec.json.decode(FIXTURE.read_bytes())["events"]
    assert msgspec.convert(raw, list[e.HeaderEvent], strict=False) == story.story()


def test_story_has_every_kind_of_header_event() -> None:
    kinds = {type(event) for event in story.story()}
    assert kinds == set(typing.get_args(e.HeaderEvent))


def test_set_up_places_bound_pods_and_queues_the_others() -> None:
    state = after(story.set_up())
    assert state.usage[story.EAST].requested == [3000, GIB]
    assert state.usage[9].n_pods == 1, "a pod bound to a node that does not exist"
    assert state.pods[story.DB].cache is Cache.ADDED
    assert state.pods[story.WEB].queue is r.Queue.ACTIVE
    assert state.pods[story.GATED].queue is r.Queue.GATED


def test_preemption_nominates_and_evicts() -> None:
    state = after(story.set_up(), story.greedy_preempts())
    greedy, job = state.pods[story.GREEDY], state.pods[story.JOB]
    assert greedy.nominated_node == story.WEST
    assert greedy.queue is r.Queue.GATED
    assert greedy.move is not None
    assert greedy.move.gated_by == story.PREEMPTION
    assert greedy.verdict is not None
    assert greedy.verdict.message == story.NO_ROOM
    assert job.terminating
    assert job.eviction is not None
    assert job.eviction.by_pod == story.GREEDY
    assert state.usage[story.WEST].n_pods == 1, "a victim takes room until it is gone"
    assert state.n_evicted == 1


def test_pod_waits_on_permit_then_binds() -> None:
    events = story.set_up() + story.web_binds()
    allowed = next(i for i, event in enumerate(events) if isinstance(event, e.PermitResolved))
    state = fold(events[:allowed])
    web = state.pods[story.WEB]
    assert (web.queue, web.cache) == (r.Queue.WAITING_ON_PERMIT, Cache.ASSUMED)
    assert web.waiting is not None
    assert web.waiting.until_ns == START_NS + 12 * SECOND_NS
    assert state.usage[story.WEST].requested == [1500, 3 * GIB]

    apply(state, events[allowed])
    assert web.queue is r.Queue.BINDING
    for event in events[allowed + 1 :]:
        apply(state, event)
    assert (web.queue, web.cache) == (r.Queue.NOWHERE, Cache.ADDED)
    assert web.waiting is None
    assert state.usage[story.WEST].n_pods == 2, "binding an assumed pod takes no more room"
    assert state.n_bound == 1


def test_failed_binding_gives_the_room_back() -> None:
    state = after(story.set_up(), story.stray_fails_to_bind()[:-5])
    stray = state.pods[story.STRAY]
    assert (stray.node, stray.cache, stray.queue) == (-1, Cache.ABSENT, r.Queue.BACKOFF)
    assert state.usage[story.EAST].requested == [3000, GIB]
    assert stray.verdict is not None
    assert stray.verdict.result is r.Result.BIND_ERROR
    assert state.results == [0, 0, 0, 1, 0, 0, 0]


def test_a_late_bind_error_replaces_the_result_of_its_cycle() -> None:
    events = story.set_up() + story.stray_fails_to_bind()
    late = next(i for i, event in enumerate(events) if isinstance(event, e.CycleFinished))
    state = fold(events[:late])
    apply(state, e.CycleFinished(3, r.Result.SCHEDULED, story.EAST))
    assert state.results == [1, 0, 0, 0, 0, 0, 0]
    apply(state, e.CycleStarted(4, story.WEB, 1, 0, r.Queue.ACTIVE, 0, 3))
    apply(state, e.CycleFinished(3, r.Result.BIND_ERROR, -1, "conflict"))
    assert state.results == [0, 0, 0, 1, 0, 0, 0]
    assert state.cycle is not None
    assert state.cycle.finished is None
    assert state.pods[story.STRAY].verdict == e.CycleFinished(
        3, r.Result.BIND_ERROR, -1, "conflict"
    )


def test_cycle_keeps_its_own_steps_only() -> None:
    state = after(story.set_up(), story.greedy_preempts())
    assert state.cycle is not None
    assert state.cycle.started.cycle == 1
    assert state.cycle.finished is not None
    kinds = [type(event).__name__ for event in state.cycle.steps]
    assert kinds[0] == "PreFilterFinished"
    assert kinds[-1] == "QueueMoved"
    assert "PodEvicted" not in kinds, "it happened after the cycle was over"


def test_whole_story_ends_as_expected() -> None:
    state = fold(story.story())
    assert state.finished is not None
    assert state.finished.reason == "nothing left to do"
    assert story.CONTROL not in state.nodes
    assert state.nodes[story.LATE].labels == {"pool": "late"}
    assert state.node_order == (story.EAST, story.WEST, story.LATE)
    assert story.JOB not in state.pods
    assert state.usage[story.LATE].requested == [3500, GIB, 1]
    assert state.usage[story.WEST].requested == [1000, 2 * GIB, 0]
    assert state.results == [2, 1, 0, 1, 1, 0, 0]


def test_every_event_changes_what_the_table_says_and_nothing_else() -> None:
    """The steps of the running cycle aside: every event within it is one."""
    seen: dict[str, set[str]] = {kind: set() for kind in CHANGES}
    state, before = TraceState(), story.plain(TraceState())
    seen_from_outside: list[e.HeaderEvent] = [
        e.Bound(story.GATED, story.EAST),
        e.PodDeleted(story.DB),
    ]
    for event in [*story.story(), *seen_from_outside]:
        apply(state, event)
        kind, now = type(event).__name__, story.plain(state)
        assert _parts_changed(before, now, kind) <= set(CHANGES[kind]), kind
        seen[kind] |= _parts_changed(before, now, kind)
        before = now
    assert {kind: set(parts) for kind, parts in CHANGES.items()} == seen


def _parts_changed(before: dict[str, object], now: dict[str, object], kind: str) -> set[str]:
    changed = {part for part in now if now[part] != before[part]}
    return changed if "Cycle" in kind else changed - {"cycle"}


def test_exactly_the_events_that_change_something_have_a_handler() -> None:
    assert {kind.__name__ for kind in HANDLERS} == {kind for kind in CHANGES if CHANGES[kind]}
    assert set(CHANGES) == {kind.__name__ for kind in typing.get_args(e.HeaderEvent)}


def test_tables_cover_their_enums() -> None:
    assert set(QUEUE_AFTER) == set(r.Result)
    assert {after for after in CACHE_AFTER.values()} == set(Cache)


def test_details_change_nothing() -> None:
    events = story.set_up()
    state = fold(events)
    apply(state, e.PreemptionDryRun(()))
    assert state == fold(events)


def test_an_unknown_pod_is_an_error() -> None:
    with pytest.raises(KeyError):
        apply(TraceState(), e.Assumed(3, story.EAST))


def test_the_queue_hears_of_a_deletion_late() -> None:
    state = fold(story.story())
    apply(state, e.QueueMoved(story.JOB, r.Queue.NOWHERE, "UnschedulablePodDelete"))
    assert story.JOB not in state.pods
