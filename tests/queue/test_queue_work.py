"""A thousand pods at once cost a thousand times one: work is counted, not timed.

`kviz bench --flush` takes the time.
"""

from __future__ import annotations

import pytest

from scheduler_core.framework.events import QueueingHint
from scheduler_core.queue.cluster_events import NODE_ADD
from tests.builders import make_pod
from tests.queue.queue_world import Gate, Rejector, World, pod_info

N_PODS = 1_000


class CountedWorld(World):
    """A world that counts how often plugins are asked and decisions are told."""

    def __init__(self) -> None:
        self.willing = Rejector("Willing", {NODE_ADD: QueueingHint.QUEUE})
        self.gate = Gate("Gate", [NODE_ADD])
        super().__init__(self.willing, self.gate)
        self.add(*(pod_info(make_pod(f"p{i}").priority(i % 7)) for i in range(N_PODS)))
        for queued in [self.pop() for _ in range(N_PODS)]:
            self.fail(queued, "Willing")
        self.pass_time(60)
        self.forget()

    def forget(self) -> None:
        self.told.clear()
        self.gate.asked.clear()
        self.willing.asked.clear()


@pytest.fixture
def parked() -> CountedWorld:
    """A world with all pods parked, their backoff over."""
    return CountedWorld()


def test_one_event_asks_about_each_pod_once(parked: CountedWorld) -> None:
    parked.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert len(parked.queue.active_pods()) == N_PODS
    asked = (len(parked.willing.asked), len(parked.gate.asked), len(parked.told))
    assert asked == (N_PODS, N_PODS, N_PODS)


def test_the_five_minute_flush_asks_about_each_pod_once(parked: CountedWorld) -> None:
    parked.pass_time(301)
    parked.queue.flush_unschedulable_leftover()
    assert len(parked.queue.active_pods()) == N_PODS
    assert (len(parked.gate.asked), len(parked.told)) == (N_PODS, N_PODS)


def test_the_end_of_backoff_asks_nobody_and_tells_each_pod_once(parked: CountedWorld) -> None:
    for queued in parked.queue.unschedulable_pods():
        queued.timestamp_ns, queued.backoff_until_ns = parked.now_ns, None
    parked.queue.move_all_to_active_or_backoff_queue(NODE_ADD)
    assert len(parked.queue.backoff_pods()) == N_PODS
    parked.forget()
    parked.pass_time(2)
    parked.queue.flush_backoff_completed()
    assert len(parked.queue.active_pods()) == N_PODS
    assert (len(parked.gate.asked), len(parked.told)) == (0, N_PODS)
