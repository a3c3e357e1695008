"""Virtual time: a total order of what is due, and time that only goes forward."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.sim.clock import VirtualClock


def test_due_work_comes_by_time_then_priority_then_order_of_asking() -> None:
    clock = VirtualClock(0)
    done: list[str] = []
    for due_ns, priority, name in [(5, 1, "d"), (5, 0, "b"), (3, 9, "a"), (5, 0, "c")]:
        clock.call_at(due_ns, partial(done.append, name), priority)
    clock.move_to(10)
    while (work := clock.pop_due()) is not None:
        work()
    assert done == ["a", "b", "c", "d"]


def test_nothing_is_due_ahead_of_its_time() -> None:
    clock = VirtualClock(100)
    clock.call_at(200, lambda: None)
    clock.move_to(199)
    assert clock.pop_due() is None
    assert clock.next_due_ns == 200
    clock.move_to(200)
    assert clock.pop_due() is not None
    assert clock.next_due_ns is None


def test_time_does_not_go_back() -> None:
    clock = VirtualClock(100)
    with pytest.raises(ValueError, match="does not go back"):
        clock.move_to(99)
    assert clock.now_ns() == 100


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 2)), max_size=20))
def test_work_is_taken_out_in_sorted_order(entries: list[tuple[int, int]]) -> None:
    clock = VirtualClock(0)
    done: list[tuple[int, int, int]] = []
    for number, (due_ns, priority) in enumerate(entries):
        clock.call_at(due_ns, partial(done.append, (due_ns, priority, number)), priority)
    clock.move_to(5)
    while (work := clock.pop_due()) is not None:
        work()
    assert done == sorted(done)
    assert len(done) == len(entries)
