"""The arithmetic of scores, exactly as Go does it.

Upstream: v1.36 pkg/scheduler/framework/plugins/helper (normalize_score.go, shape_score.go).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.framework.interface import MAX_NODE_SCORE, MIN_NODE_SCORE, Scores


@dataclass(frozen=True, slots=True)
class PluginScore:
    """One plugin's scores over the feasible nodes, int64 (n,) each.

    `fault` says that a normalised score is outside 0..100, which fails the cycle; empty if none is.
    """

    plugin: str
    weight: int
    raw: Scores
    normalized: Scores
    fault: str = ""


def go_div(dividend: IntArray, divisor: IntArray | int) -> IntArray:
    """Divide int64 arrays as Go's `/` does, toward zero, where `//` rounds down.

    No divisor may be zero.
    """
    quotient: IntArray = dividend // divisor
    quotient += (quotient < 0) & (quotient * divisor != dividend)
    return quotient


def default_normalize_score(scores: Scores) -> Scores:
    """Stretch scores (n,) that are not negative so that the highest becomes 100.

    `normalized = 100 * score / highest`; scores that are all zero stay as they are.
    """
    highest = int(scores.max(initial=0))
    if highest == 0:
        return scores
    return go_div(MAX_NODE_SCORE * scores, highest)


def reversed_normalize_score(scores: Scores) -> Scores:
    """Stretch scores (n,) of which less is better: 0 becomes 100, the highest becomes 0.

    `normalized = 100 - 100 * score / highest`; scores that are all zero become 100.
    """
    if int(scores.max(initial=0)) == 0:
        return np.full_like(scores, MAX_NODE_SCORE)
    return MAX_NODE_SCORE - default_normalize_score(scores)


@dataclass(frozen=True, slots=True)
class BrokenLinearFunction:
    """A function made of straight segments between `points` (argument, value), left to right.

    Before the first and after the last point it is constant. Upstream:
    BuildBrokenLinearFunction.
    """

    points: tuple[tuple[int, int], ...]

    @staticmethod
    def of(points: Iterable[tuple[int, int]]) -> BrokenLinearFunction:
        return BrokenLinearFunction(tuple(points))

    def __call__(self, arguments: IntArray) -> IntArray:
        """Return the values at `arguments`, both int64 (n,)."""
        values = np.full_like(arguments, self.points[-1][1])
        undecided = np.ones(arguments.shape, np.bool_)
        left_at, left = 0, 0
        for i, (at, value) in enumerate(self.points):
            here = undecided & (arguments <= at)
            if i == 0:
                values[here] = value
            elif here.any():
                rise = (value - left) * (arguments[here] - left_at)
                values[here] = left + go_div(rise, at - left_at)
            undecided &= ~here
            left_at, left = at, value
        return values


def scale_fault(plugin: str, scores: Scores) -> str:
    """Return what upstream says of a score (n,) outside 0..100, empty if all are within."""
    # A negative score is a very large one when its sign is not looked at.
    if np.maximum.reduce(scores.view(np.uint64), initial=MIN_NODE_SCORE) <= MAX_NODE_SCORE:
        return ""
    wrong = scores[(scores > MAX_NODE_SCORE) | (scores < MIN_NODE_SCORE)]
    return (
        f'applying score defaultWeights on Score plugins: plugin "{plugin}" returns an '
        f"invalid score {wrong[0]}, it should in the range of [{MIN_NODE_SCORE}, "
        f"{MAX_NODE_SCORE}] after normalizing"
    )
