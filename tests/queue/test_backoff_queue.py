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


@pytest.mark.parametrize(
    ("initial_s", "max_s", "count", "seconds"),
    [
        (1, 10, 1, 1),
        (1, 10, 2, 2),
        (1, 10, 4, 8),
        (1, 10, 5, 10),
        (1, 10, 16, 10),
        (1, 32, 6, 32),
        (1, 100, 64, 100),
        (1, 100, 65, 100),
        (20, 10, 1, 10),
        (0, 10, 3, 0),
    ],
)
def test_duration_doubles_up_to_the_longest(
    initial_s: int, max_s: int, count: int, seconds: int
) -> None:
    bq = backoff_queue(initial_s=initial_s, max_s=max_s)
    assert bq.duration_ns(count) == seconds * SECOND


def test_no_attempt_means_no_backoff() -> None:
    assert backoff_queue().until_ns(queued("p")) == NO_BACKOFF_NS


def test_longest_of_zero_turns_backoff_off() -> None:
    bq = backoff_queue(max_s=0)
    pod = queued("p", rejected=3)
    assert bq.until_ns(pod) == NO_BACKOFF_NS
    assert not bq.is_backing_off(pod, START_NS)


def test_errors_count_alone_after_an_error() -> None:
    pod = queued("p", rejected=4, errors=2)
    assert backoff_queue().until_ns(pod) == START_NS + 2 * SECOND


@pytest.mark.parametrize(
    ("pop_early", "at_ms", "now_ms", "backing_off"),
    [
        (False, 250, 1249, True),
        (False, 250, 1250, True),
        (False, 250, 1251, False),
        # Ends and clock are cut to whole seconds; equal means still backing off.
        (True, 250, 1000, True),
        (True, 250, 1999, True),
        (True, 250, 2000, False),
        (True, 0, 1000, True),
        (True, 0, 2000, False),
    ],
)
def test_backing_off(pop_early: bool, at_ms: int, now_ms: int, backing_off: bool) -> None:
    bq = backoff_queue(pop_early=pop_early)
    pod = queued("p", at_ms=at_ms, rejected=1)
    assert bq.is_backing_off(pod, START_NS + now_ms * MILLI) is backing_off


def test_completed_pods_come_rejected_first_then_those_in_error() -> None:
    bq = backoff_queue()
    for pod in (
        queued("error", errors=1),
        queued("late", at_ms=5000, rejected=1),
        queued("second", at_ms=10, rejected=1),
        queued("first", at_ms=400, priority=7, rejected=1),
    ):
        bq.add(pod)
    done = bq.pop_all_completed(START_NS + 2 * SECOND)
    assert [q.pod.pod.name for q in done] == ["first", "second", "error"]
    assert [q.pod.pod.name for q in bq.in_order()] == ["late"]


def test_within_a_window_priority_decides_only_when_popping_early() -> None:
    pods = [
        queued("early", at_ms=100, rejected=1),
        queued("important", at_ms=900, priority=9, rejected=1),
    ]
    for pop_early, order in ((True, ["important", "early"]), (False, ["early", "important"])):
        bq = backoff_queue(pop_early=pop_early)
        for pod in pods:
            pod.backoff_until_ns = None
            bq.add(pod)
        assert [q.pod.pod.name for q in bq.in_order()] == order


def test_early_pop_takes_rejected_pods_only() -> None:
    bq = backoff_queue()
    bq.add(queued("error", errors=1))
    bq.add(queued("rejected", rejected=5))
    popped = bq.pop_early()
    assert popped is not None
    assert popped.key == "default/rejected"
    assert bq.pop_early() is None
    assert len(bq) == 1


def test_no_early_pop_without_the_gate() -> None:
    bq = backoff_queue(pop_early=False)
    bq.add(queued("rejected", rejected=1))
    assert bq.pop_early() is None
    assert "default/rejected" in bq


def test_a_pod_is_in_one_of_the_heaps() -> None:
    bq = backoff_queue()
    pod = queued("p", rejected=1)
    bq.add(pod)
    pod.unschedulable_plugins = set()
    bq.add(pod)
    assert len(bq) == 1
    assert bq.pop_early() is None
    assert bq.delete("default/p") is pod
    assert bq.delete("default/p") is None


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
