"""The search for an optimum as a chart: what it found, and what nobody can exceed, over time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from kviz.runs.models import Optimum

WIDTH: Final = 600
HEIGHT: Final = 120


@dataclass(frozen=True)
class Chart:
    """Points of two lines in an SVG of `WIDTH` x `HEIGHT`, of the objective pursued last.

    `incumbent` and `bound` are the latest values, None where there is none yet.
    """

    objective: str
    found: str
    most: str
    incumbent: int | None
    bound: int | None


def chart_of(search: Optimum) -> Chart | None:
    """Draw the steps of the objective pursued last; None where no bound is known yet."""
    steps = [step for step in search.progress if step["bound"] is not None]
    if not steps:
        return None
    objective = steps[-1]["objective"]
    steps = [step for step in steps if step["objective"] == objective]
    values = [
        value for step in steps for value in (step["incumbent"], step["bound"]) if value is not None
    ]
    low, high = min(values), max(values)
    begin_s, end_s = steps[0]["elapsed_s"], max(search.time_limit_s, steps[-1]["elapsed_s"])

    def points(name: str) -> str:
        return " ".join(
            f"{WIDTH * (step['elapsed_s'] - begin_s) / max(end_s - begin_s, 0.01):.0f},"
            f"{HEIGHT - (HEIGHT - 8) * (step[name] - low) / max(high - low, 1) - 4:.0f}"
            for step in steps
            if step[name] is not None
        )

    last = steps[-1]
    return Chart(objective, points("incumbent"), points("bound"), last["incumbent"], last["bound"])
