"""Ten thousand pods at once must not cost more than ten thousand times one.

Bounds are some twenty times what a slow machine needs; work in squares of the pods breaks them.
"""

from time import perf_counter

import pytest
from queue_world import Gate, Rejector, World, pod_info

from scheduler_core.framework.events import QueueingHint
from scheduler_core.queue.cluster_events import NODE_ADD

N_PODS = 10_000
LIMIT_S = 4.0


@pytest.fixture
def parked() -> World:
    """A world with all pods parked, their backoff over."""
    gate = Gate("Gate", [NODE_ADD])
    world = World(Rejector("Willing", {NODE_ADD: QueueingHint.QUEUE}), gate)
    world.add(*(pod_info(f"p{i}", priority=i % 7) for i in range(N_PODS)))
    for queued in [world.pop() for _ in range(N_PODS)]:
        world.fail(queued, "Willing")
    world.pass_time(60)
    return world


def test_adding_and_popping() -> None:
    world = World()
    pods = [pod_info(f"p{i}", priority=i % 7) for i in range(N_PODS)]
    began = perf_counter()
    world.add(*pods)
    popped = [world.pop() for _ in range(N_PODS)]
    assert perf_counter() - began < LIMIT_S
    assert len({queued.key for queued in popped}) == N_PODS


def test_one_event_wakes_all(parked: World) -> None:
    began = perf_counter()
    parked.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert perf_counter() - began < LIMIT_S
    assert len(parked.queue.active_pods()) == N_PODS


def test_one_flush_moves_all(parked: World) -> None:
    parked.pass_time(301)
    began = perf_counter()
    parked.queue.flush_unschedulable_leftover()
    assert perf_counter() - began < LIMIT_S
    assert len(parked.queue.active_pods()) == N_PODS


def test_one_tick_ends_the_backoff_of_all(parked: World) -> None:
    for queued in parked.queue.unschedulable_pods():
        queued.timestamp_ns, queued.backoff_until_ns = parked.now_ns, None
    parked.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert len(parked.queue.backoff_pods()) == N_PODS
    parked.pass_time(2)
    began = perf_counter()
    parked.queue.flush_backoff_completed()
    assert perf_counter() - began < LIMIT_S
    assert len(parked.queue.active_pods()) == N_PODS
