"""Pictures of what an experiment found: bars as HTML, lines as the page's script reads them.

The script is frontend/src/views/experiment/chart.ts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import starmap
from typing import Final, Literal

BARS_SHOWN: Final = 40
Colour = Literal["scheduled", "rejected", "evicted"]


@dataclass(frozen=True)
class Part:
    """What one colour of the bars stands for, in words."""

    what: str
    colour: Colour


@dataclass(frozen=True)
class Bar:
    """A bar of several parts after each other; `note` is what else its name needs."""

    name: str
    values: Sequence[int]
    note: str = ""


@dataclass(frozen=True)
class Stretch:
    """A part of one bar: `n` of what the colour stands for."""

    what: str
    colour: Colour
    n: int


@dataclass(frozen=True)
class Bars:
    """Named bars, one below the other, in the order of the table; all have the same `parts`.

    `whole` is what the longest bar may be, such as 100 per cent; 0 leaves that to the values.
    `unit` stands behind every number.
    """

    title: str
    parts: Sequence[Part]
    bars: Sequence[Bar]
    whole: int = 0
    unit: str = ""
    is_drawn_here: bool = True
    """The template draws it; lines wait for the page's script."""

    @property
    def rows(self) -> list[tuple[Bar, list[Stretch], int]]:
        """Each bar, its parts that are not empty, and what its row leaves free."""
        whole = self.whole or max((sum(each.values) for each in self.bars), default=0)
        return [
            (bar, self._stretches(bar), whole - sum(bar.values)) for bar in self.bars[:BARS_SHOWN]
        ]

    def _stretches(self, bar: Bar) -> list[Stretch]:
        found = zip(self.parts, bar.values, strict=True)
        return list(starmap(Stretch, ((part.what, part.colour, n) for part, n in found if n)))


@dataclass(frozen=True)
class Lines:
    """A line for each name over common places; `values` by name, in per cent."""

    title: str
    axis: str
    places: Sequence[int]
    values: Mapping[str, Sequence[float]]
    is_drawn_here: bool = False

    @property
    def data(self) -> Mapping[str, object]:
        """What the script draws."""
        return {"axis": self.axis, "places": self.places, "values": self.values}


Chart = Bars | Lines
