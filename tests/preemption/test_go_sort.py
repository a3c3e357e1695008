"""Go's order of equal elements. That it is Go's, the recorded victims show (differences)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.preemption.go_sort import MAX_INSERTION, _Sorting, go_sorted

KEYS = st.lists(st.integers(0, 4).map(lambda key: (key,)), max_size=200)


def numbered(keys: list[tuple[int]]) -> list[tuple[int, tuple[int]]]:
    return list(enumerate(keys))


@given(KEYS)
def test_every_element_is_there_once_and_in_order(keys: list[tuple[int]]) -> None:
    found = go_sorted(numbered(keys), lambda item: item[1])
    assert sorted(found) == numbered(keys)
    assert [key for _, key in found] == sorted(keys)


@given(KEYS)
def test_the_order_is_the_same_each_time(keys: list[tuple[int]]) -> None:
    first = go_sorted(numbered(keys), lambda item: item[1])
    assert go_sorted(numbered(keys), lambda item: item[1]) == first


@given(KEYS.map(lambda keys: keys[:MAX_INSERTION]))
def test_few_elements_keep_their_order_among_equals(keys: list[tuple[int]]) -> None:
    found = go_sorted(numbered(keys), lambda item: item[1])
    assert found == sorted(numbered(keys), key=lambda item: item[1])


def test_many_elements_do_not_keep_their_order_among_equals() -> None:
    found = go_sorted(range(20), lambda i: (i % 2,))
    assert sorted(found, key=lambda i: i % 2) == found
    assert found != sorted(range(20), key=lambda i: i % 2)


@given(KEYS)
def test_the_fallback_sorts_too(keys: list[tuple[int]]) -> None:
    sorting = _Sorting(list(keys), list(keys))
    sorting.sort(0, len(keys), 0)
    assert sorting.items == sorted(keys)
