"""How much of a hidden run may be known: whole cycles, and of the next one a part.

The parts of a cycle end where a teacher asks what follows: after PreFilter or Filter, after
preemption's dry runs and before a node is picked among them, after the raw scores, after the
normalised ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, get_args

Part = Literal["PreFilter", "Filter", "DryRun", "Score", "NormalizeScore"]
PARTS: Final[tuple[str, ...]] = ("", *get_args(Part))
"""In order: who may know one of them may know those before it."""


@dataclass(frozen=True)
class Known:
    """Cycles up to `cycle`, and of the one that follows what comes up to the end of `part`.

    With `plugins` no Score plugins but these and those that come before them.
    """

    cycle: int
    part: str = ""
    plugins: tuple[str, ...] = ()

    @classmethod
    def of(cls, cycle: int, words: str) -> Known:
        """Read what `words` has written."""
        part, *plugins = words.split() or [""]
        return cls(cycle, part, tuple(plugins))

    @property
    def words(self) -> str:
        """The part as it is stored."""
        return " ".join((self.part, *self.plugins))

    @property
    def reach(self) -> int:
        """The last cycle of which something may be known."""
        return self.cycle + bool(self.part)

    def and_also(self, other: Known) -> Known:
        """All that either lets one know."""
        if self._order == other._order and self.plugins:
            return Known(self.cycle, self.part, tuple(sorted({*self.plugins, *other.plugins})))
        return max(self, other, key=lambda each: each._order)

    @property
    def _order(self) -> tuple[int, int, bool]:
        return self.cycle, PARTS.index(self.part), not self.plugins
