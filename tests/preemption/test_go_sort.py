"""Go's order of equal elements, as `sort.Slice` of Go 1.26 gives it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.preemption.go_sort import MAX_INSERTION, _Sorting, go_sorted

KEYS = st.lists(st.integers(0, 4).map(lambda key: (key,)), max_size=200)


def numbered(keys: list[tuple[int]]) -> list[tuple[int, tuple[int]]]:
    return list(enumerate(keys))


@pytest.mark.parametrize(
    ("keys", "order"),
    [
        (
            "00103332100243",
            "9 0 3 10 1 2 8 7 11 4 5 6 13 12",
        ),
        (
            "1012002012020001100021020022202",
            "14 18 29 25 4 5 24 7 22 19 10 17 12 13 1 8 21 2 15 16 0 9 20 23 6 3 26 27 28 11 30",
        ),
        (
            "10000110010001000011111110000111110010101100111110011001",
            "28 26 2 3 4 54 53 7 8 50 10 11 12 49 14 15 16 17 27 43 42 39 37 35 34 25 1 45 20 "
            "29 30 31 32 33 24 23 36 22 38 21 40 41 48 19 44 18 46 47 0 13 9 51 52 6 5 55",
        ),
    ],
)
def test_equal_elements_come_in_the_order_in_which_go_leaves_them(keys: str, order: str) -> None:
    found = go_sorted(range(len(keys)), lambda i: (keys[i],))
    assert found == [int(i) for i in order.split()]


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
