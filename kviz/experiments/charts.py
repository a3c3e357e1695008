"""Charts as the page's script reads them (frontend/src/views/experiment/chart.ts)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Literal


@dataclass(frozen=True)
class Bars:
    """A bar for each variant that was run, in the order of the table."""

    title: str
    axis: str
    names: Sequence[str]
    values: Sequence[int]
    colour: Literal["rejected", "feasible"] = "rejected"
    kind: Literal["bars"] = "bars"

    @property
    def data(self) -> Mapping[str, object]:
        return asdict(self)


@dataclass(frozen=True)
class Lines:
    """A line for each name over common places; `values` by name, in per cent."""

    title: str
    axis: str
    places: Sequence[int]
    values: Mapping[str, Sequence[float]]
    kind: Literal["lines"] = "lines"

    @property
    def data(self) -> Mapping[str, object]:
        return asdict(self)


Chart = Bars | Lines
