"""The arrays a cluster is made of, and values as small numbers in them (dictionary encoding)."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from scheduler_core.api.quantity import MAX_INT64

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

ABSENT: Final = -1
"""The number that stands for no value."""

T = TypeVar("T")
H = TypeVar("H", bound=Hashable)
A = TypeVar("A", bound=np.generic)


@dataclass
class Vocabulary(Generic[H]):
    """Distinct values numbered in order of appearance."""

    values: list[H] = field(default_factory=list)
    _ids: dict[H, int] = field(default_factory=dict)

    def id(self, value: H) -> int:
        found = self._ids.get(value)
        if found is None:
            found = self._ids[value] = len(self.values)
            self.values.append(value)
        return found

    def find(self, value: H) -> int:
        """Return the number of a value, -1 if it has not been seen."""
        return self._ids.get(value, ABSENT)

    def fork(self) -> Vocabulary[H]:
        """Return an independent copy with the same numbers."""
        return Vocabulary(self.values[:], self._ids.copy())


def grown(column: npt.NDArray[A], size: int, fill: int = 0) -> npt.NDArray[A]:
    """Return the column (n,) with room for at least `size` entries."""
    if column.size >= size:
        return column
    larger = np.full(max(size, 2 * column.size, 16), fill, dtype=column.dtype)
    larger[: column.size] = column
    return larger


def add_at(column: IntArray, row: int, amount: int) -> None:
    """Add to one entry of a column (n,), round the ends of int64 as upstream's sums go.

    So what is taken away again leaves what was there. NumPy does the same, with a warning.
    """
    total = column.item(row) + amount
    column[row] = total if abs(total) <= MAX_INT64 else (total + 2**63) % 2**64 - 2**63


@dataclass(frozen=True, slots=True)
class Coded(Generic[T]):
    """A dictionary-encoded column: node i has `values[ids[i]]`, or nothing where -1.

    `ids` is int64 (n,). Evaluate each distinct value once, then spread the results with `map_*`.
    """

    ids: IntArray
    values: Sequence[T]

    def map_bool(self, test: Callable[[T], bool], *, absent: bool = False) -> BoolArray:
        """Return `test` of every node's value, bool (n,)."""
        answers = np.fromiter((test(v) for v in self.values), np.bool_, len(self.values))
        return np.append(answers, absent)[self.ids]

    def map_int(self, measure: Callable[[T], int], *, absent: int = 0) -> IntArray:
        """Return `measure` of every node's value, int64 (n,)."""
        answers = np.fromiter((measure(v) for v in self.values), np.int64, len(self.values))
        return np.append(answers, np.int64(absent))[self.ids]

    @property
    def present(self) -> BoolArray:
        present: BoolArray = self.ids != ABSENT
        return present
