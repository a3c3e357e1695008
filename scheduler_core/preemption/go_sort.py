"""Sorting as Go's `sort.Slice` does it, which decides the order of equal elements.

Up to 12 elements Go sorts by insertion, which keeps equal elements in order. Beyond that it is
pattern-defeating quicksort, which does not, but whose every step is determined: even the
"random" swaps that break up patterns are seeded with the length.

Source: Orson Peters, Pattern-defeating Quicksort (arXiv:2106.05123); the constants and the order
of comparisons are those of Go 1.26, which v1.36 is built with (src/sort/zsortfunc.go).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import Enum, auto
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
K = TypeVar("K", bound=tuple[Any, ...])

MAX_INSERTION: Final = 12
SHORTEST_NINTHER: Final = 50
SHORTEST_SHIFTING: Final = 50
MAX_SHIFTS: Final = 5
MAX_SWAPS: Final = 12
UINT64: Final = (1 << 64) - 1


class _Hint(Enum):
    """What looking for a pivot says about the order of a range."""

    UNKNOWN = auto()
    INCREASING = auto()
    DECREASING = auto()


def go_sorted(items: Iterable[T], key: Callable[[T], K]) -> list[T]:
    """Return the items in ascending order of their keys, equal ones in Go's order."""
    found = list(items)
    keys = [key(item) for item in found]
    if len(found) <= MAX_INSERTION or len(set(keys)) == len(keys):
        return [found[i] for i in sorted(range(len(found)), key=keys.__getitem__)]
    sorting = _Sorting(found, keys)
    sorting.sort(0, len(found), len(found).bit_length())
    return sorting.items


class _Sorting(Generic[T, K]):
    """A list while it is sorted, with its keys; ranges are from `a` to before `b`."""

    def __init__(self, items: list[T], keys: list[K]) -> None:
        self.items = items
        self._keys = keys

    def _less(self, i: int, j: int) -> bool:
        return self._keys[i] < self._keys[j]

    def _swap(self, i: int, j: int) -> None:
        items, keys = self.items, self._keys
        items[i], items[j] = items[j], items[i]
        keys[i], keys[j] = keys[j], keys[i]

    def sort(self, a: int, b: int, bad_pivots_allowed: int) -> None:
        """Sort a range by quicksort, a short one by insertion, one with bad pivots by heapsort."""
        balanced = partitioned = True
        while b - a > MAX_INSERTION:
            length = b - a
            if bad_pivots_allowed == 0:
                self._heap_sort(a, b)
                return
            if not balanced:
                self._break_patterns(a, b)
                bad_pivots_allowed -= 1
            pivot, hint = self._choose_pivot(a, b)
            if hint is _Hint.DECREASING:
                self._reverse(a, b)
                pivot, hint = b - 1 - (pivot - a), _Hint.INCREASING
            likely_sorted = balanced and partitioned and hint is _Hint.INCREASING
            if likely_sorted and self._is_soon_sorted(a, b):
                return
            if a > 0 and not self._less(a - 1, pivot):
                # Nothing here is less than what stands before the range: many are equal to it.
                a = self._part_equal(a, b, pivot)
                continue
            mid, partitioned = self._part(a, b, pivot)
            balanced = min(mid - a, b - mid) >= length // 8
            if mid - a < b - mid:
                self.sort(a, mid, bad_pivots_allowed)
                a = mid + 1
            else:
                self.sort(mid + 1, b, bad_pivots_allowed)
                b = mid
        self._insertion_sort(a, b)

    # ------------------------------------------------------------ pivots

    def _choose_pivot(self, a: int, b: int) -> tuple[int, _Hint]:
        """Return the median of three positions, in a long range each the median of three."""
        length = b - a
        at = [a + length // 4 * quarter for quarter in (1, 2, 3)]
        n_swaps = 0
        if length >= SHORTEST_NINTHER:
            for i, position in enumerate(at):
                at[i], n = self._median(position - 1, position, position + 1)
                n_swaps += n
        pivot, n = self._median(*at)
        n_swaps += n
        if n_swaps == 0:
            return pivot, _Hint.INCREASING
        return pivot, _Hint.DECREASING if n_swaps == MAX_SWAPS else _Hint.UNKNOWN

    def _median(self, i: int, j: int, k: int) -> tuple[int, int]:
        """Return the position of the median, and how many of three comparisons swapped two."""
        n_swaps = 0
        if self._less(j, i):
            i, j, n_swaps = j, i, n_swaps + 1
        if self._less(k, j):
            j, k, n_swaps = k, j, n_swaps + 1
        if self._less(j, i):
            i, j, n_swaps = j, i, n_swaps + 1
        return j, n_swaps

    def _part(self, a: int, b: int, pivot: int) -> tuple[int, bool]:
        """Put what is less than the pivot before it; return its place, and whether it was so."""
        self._swap(a, pivot)
        i, j = self._skip_parted(a + 1, b - 1, a)
        already = i > j
        while i <= j:
            self._swap(i, j)
            i, j = self._skip_parted(i + 1, j - 1, a)
        self._swap(j, a)
        return j, already

    def _skip_parted(self, i: int, j: int, pivot: int) -> tuple[int, int]:
        while i <= j and self._less(i, pivot):
            i += 1
        while i <= j and not self._less(j, pivot):
            j -= 1
        return i, j

    def _part_equal(self, a: int, b: int, pivot: int) -> int:
        """Put what equals the pivot, than which nothing is less, first; return where it ends."""
        self._swap(a, pivot)
        i, j = a + 1, b - 1
        while True:
            while i <= j and not self._less(a, i):
                i += 1
            while i <= j and self._less(a, j):
                j -= 1
            if i > j:
                return i
            self._swap(i, j)
            i, j = i + 1, j - 1

    def _break_patterns(self, a: int, b: int) -> None:
        """Swap three elements in the middle with others, drawn by an xorshift of the length."""
        length = draw = b - a
        mask = (1 << length.bit_length()) - 1
        first = a + length // 4 * 2 - 1
        for i in range(3):
            draw ^= draw << 13 & UINT64
            draw ^= draw >> 7
            draw ^= draw << 17 & UINT64
            other = draw & mask
            self._swap(first + i, a + (other - length if other >= length else other))

    def _reverse(self, a: int, b: int) -> None:
        self.items[a:b] = self.items[a:b][::-1]
        self._keys[a:b] = self._keys[a:b][::-1]

    # ------------------------------------------------------------ other ways to sort

    def _insertion_sort(self, a: int, b: int) -> None:
        for i in range(a + 1, b):
            self._sink(i, a)

    def _sink(self, i: int, a: int) -> None:
        """Move an element left, past all that are greater, to `a` at most."""
        while i > a and self._less(i, i - 1):
            self._swap(i, i - 1)
            i -= 1

    def _is_soon_sorted(self, a: int, b: int) -> bool:
        """Mend a few pairs that are out of order; return whether the range is sorted then."""
        i = a + 1
        for _ in range(MAX_SHIFTS):
            while i < b and not self._less(i, i - 1):
                i += 1
            if i == b:
                return True
            if b - a < SHORTEST_SHIFTING:
                return False
            self._swap(i, i - 1)
            if i - a >= 2:
                self._sink(i - 1, 0)
            if b - i >= 2:
                self._rise(i + 1, b)
        return False

    def _rise(self, i: int, b: int) -> None:
        """Move the element before `i` right, past all that are less."""
        while i < b and self._less(i, i - 1):
            self._swap(i, i - 1)
            i += 1

    def _heap_sort(self, a: int, b: int) -> None:
        for root in range((b - a - 1) // 2, -1, -1):
            self._sift_down(a, root, b - a)
        for end in range(b - a - 1, -1, -1):
            self._swap(a, a + end)
            self._sift_down(a, 0, end)

    def _sift_down(self, a: int, root: int, end: int) -> None:
        while (child := 2 * root + 1) < end:
            if child + 1 < end and self._less(a + child, a + child + 1):
                child += 1
            if not self._less(a + root, a + child):
                return
            self._swap(a + root, a + child)
            root = child
