import pytest

from scheduler_core.queue.backoff_queue import NO_BACKOFF_NS, BackoffQueue
from scheduler_core.queue.queued_pod import QueuedPodInfo
from tests.builders import make_pod
from tests.queue.queue_world import START_NS, pod_info, sort_key

SECOND = 1_000_000_000
MILLI = 1_000_000


def backoff_queue(*, initial_s: int = 1, max_s: int = 10, pop_early: bool = True) -> BackoffQueue:
    return BackoffQueue(
        initial_backoff_ns=initial_s * SECOND,
        max_backoff_ns=max_s * SECOND,
        sort_key=sort_key,
        pop_early=pop_early,
    )


def queued(
    name: str,
    *,
    at_ms: int = 0,
    priority: int = 0,
    rejected: int = 0,
    errors: int = 0,
) -> QueuedPodInfo:
    return QueuedPodInfo(
        pod_info(make_pod(name).priority(priority)),
        START_NS + at_ms * MILLI,
        unschedulable_count=rejected,
        consecutive_errors_count=errors,
        unschedulable_plugins={"NodeResourcesFit"} if rejected and not errors else set(),
    )


def test_longest_of_zero_turns_backoff_off() -> None:
    bq = backoff_queue(max_s=0)
    pod = queued("p", rejected=3)
    assert bq.until_ns(pod) == NO_BACKOFF_NS
    assert not bq.is_backing_off(pod, START_NS)


def test_errors_count_alone_after_an_error() -> None:
    pod = queued("p", rejected=4, errors=2)
    assert backoff_queue().until_ns(pod) == START_NS + 2 * SECOND


def test_early_pop_takes_rejected_pods_only() -> None:
    bq = backoff_queue()
    bq.add(queued("error", errors=1))
    bq.add(queued("rejected", rejected=5))
    popped = bq.pop_early()
    assert popped is not None
    assert popped.key == "default/rejected"
    assert bq.pop_early() is None
    assert len(bq) == 1


@pytest.mark.parametrize(("pop_early", "at_ms"), [(True, 0), (True, 999), (False, 0), (False, 1)])
def test_next_completion_is_the_first_flush_that_moves_a_pod(pop_early: bool, at_ms: int) -> None:
    bq = backoff_queue(pop_early=pop_early)
    assert bq.next_completion_ns() is None
    pod = queued("p", at_ms=at_ms, rejected=1)
    bq.add(pod)
    due_ns = bq.next_completion_ns()
    assert due_ns is not None
    assert bq.pop_all_completed(due_ns - SECOND) == []
    assert bq.pop_all_completed(due_ns) == [pod]
