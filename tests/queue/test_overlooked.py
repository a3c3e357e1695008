"""Parked pods that no event concerns may go untold: nothing else is different."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.framework.events import QueueingHint
from scheduler_core.queue.cluster_events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    UNSCHEDULABLE_TIMEOUT,
)
from scheduler_core.queue.moves import Move, Strategy, Via
from scheduler_core.queue.scheduling_queue import QueueSettings
from tests.builders import make_pod
from tests.queue.queue_world import Gate, Rejector, World, pod_info

EVENTS = [NODE_ADD, ASSIGNED_POD_ADD, ASSIGNED_POD_DELETE, UNSCHEDULABLE_TIMEOUT]
PLUGINS = ["Willing", "Stubborn", "Deaf"]

rejections = st.tuples(
    st.lists(st.sampled_from(PLUGINS), unique=True), st.sampled_from([(), ("Willing",), ("Deaf",)])
)


def _world(settings: QueueSettings) -> World:
    return World(
        Rejector("Willing", {NODE_ADD: QueueingHint.QUEUE}),
        Rejector("Stubborn", {NODE_ADD: QueueingHint.SKIP, ASSIGNED_POD_ADD: QueueingHint.SKIP}),
        Rejector("Deaf", {}),
        Gate("Gate", [ASSIGNED_POD_DELETE], held={"default/gated"}),
        settings=settings,
    )


def _is_overlooked(move: Move) -> bool:
    return move.via is Via.CLUSTER_EVENT and move.strategy is Strategy.SKIP and not move.hints


@given(st.lists(rejections, max_size=5), st.lists(st.sampled_from(EVENTS), max_size=6))
def test_a_trace_without_them_misses_nothing_else(parked: list[Any], events: list[Any]) -> None:
    telling, silent = _world(QueueSettings()), _world(QueueSettings(emit_overlooked=False))
    for world in (telling, silent):
        for i, (plugins, pending) in enumerate(parked):
            world.park(pod_info(make_pod(f"p{i}")), *plugins, pending=pending)
        world.add(pod_info(make_pod("gated")))
        for event in events:
            world.queue.move_all_to_active_or_backoff_queue(event)
    assert telling.places() == silent.places()
    told = [str(move) for move in telling.moves if not _is_overlooked(move)]
    assert told == [str(move) for move in silent.moves if not _is_overlooked(move)]
    assert not [move for move in silent.moves if _is_overlooked(move)] or any(
        event is UNSCHEDULABLE_TIMEOUT for event in events
    )
