"""What a search comes to."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Counts:
    """How many placements are possible, feasible, and of the highest value; None: not counted."""

    possible: int
    feasible: int | None = None
    viable: int | None = None


@dataclass(frozen=True)
class Best:
    """The best placement found, None if there is none; `proven` if nobody can do better.

    `bound_placed` is what nobody can exceed at a priority, given the best at those above;
    `bound_value` what no placement of as many pods can be worth, None where that is not known.
    """

    placement: dict[str, str] | None
    placed: dict[int, int]
    value: int
    proven: bool
    bound_placed: dict[int, int]
    bound_value: int | None
    counts: Counts

    @property
    def key(self) -> tuple[int, ...]:
        return (*self.placed.values(), self.value)

    @property
    def proven_key(self) -> tuple[int, ...]:
        """Return the part of the key that nobody can better: all, the counts alone, or nothing."""
        if self.proven:
            return self.key
        return self.key[:-1] if self.bound_placed == self.placed else ()
