"""How far a share counted in runs may be from the probability behind it."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Final

Z_95: Final = 1.959963984540054
"""Of the normal distribution, 95 % lie within so many standard deviations."""


@dataclass(frozen=True, slots=True)
class Share:
    """So many of the runs, and Wilson's interval for the probability, at 95 % confidence.

    Of all intervals that nineteen in twenty times hold the probability it is among the shortest,
    and it is of use where all runs, or none, agree: 0 of 100 runs give 0 to 3.7 %.
    """

    n: int
    of: int

    @property
    def share(self) -> float:
        return self.n / self.of if self.of else 0.0

    @property
    def low(self) -> float:
        return max(0.0, self._center - self.half_width) if self.n else 0.0

    @property
    def high(self) -> float:
        return min(1.0, self._center + self.half_width) if self.n < self.of else 1.0

    @property
    def _center(self) -> float:
        return (self.n + Z_95**2 / 2) / (self.of + Z_95**2)

    @property
    def half_width(self) -> float:
        """Half of the interval's length, before it is cut off at 0 and 1."""
        if not self.of:
            return 0.5
        share, z2 = self.share, Z_95**2
        spread = share * (1 - share) / self.of + z2 / (4 * self.of**2)
        return Z_95 / (1 + z2 / self.of) * sqrt(spread)
