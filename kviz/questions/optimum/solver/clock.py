"""How long a search may take, how far it is, and that nobody wants it any more."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass


class Cancelled(Exception):
    """The caller no longer wants the optimum."""


@dataclass(frozen=True)
class Step:
    """How far a search is: its objective, the best value, and the bound.

    `objective` is `placed at priority P`, `value`, or `placements`; `incumbent` None without one.
    """

    objective: str
    incumbent: int | None
    bound: int | None
    elapsed_s: float


Report = Callable[[Step], None]
"""Hears how far a search is; raises Cancelled to end it."""


class Clock:
    """Counts down a time limit, and hands on how far a search is."""

    def __init__(self, limit_s: float, report: Report) -> None:
        self.about = ""
        """What the search is for, behind each objective in the reports."""
        self._begin_s = time.monotonic()
        self._limit_s = limit_s
        self._report = report

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._begin_s

    @property
    def left_s(self) -> float:
        return max(self._limit_s - self.elapsed_s, 0.0)

    def part(self, share: float, about: str) -> Clock:
        """Return a clock for a part of the time that is left, `about` something more."""
        clock = Clock(share * self.left_s, self._report)
        clock.about = about
        return clock

    def report(self, objective: str, incumbent: int | None, bound: int | None) -> None:
        self._report(Step(objective + self.about, incumbent, bound, self.elapsed_s))
