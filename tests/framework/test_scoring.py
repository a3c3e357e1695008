from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.framework.scoring import (
    BrokenLinearFunction,
    default_normalize_score,
    go_div,
    reversed_normalize_score,
)

WIDE = st.integers(-(2**62), 2**62)


def ints(*values: int) -> npt.NDArray[np.int64]:
    return np.array(values, np.int64)


@given(dividend=WIDE, divisor=WIDE.filter(bool))
def test_go_div_truncates_toward_zero(dividend: int, divisor: int) -> None:
    exact = Fraction(dividend, divisor)
    assert go_div(ints(dividend), ints(divisor)).tolist() == [int(exact)]


@pytest.mark.parametrize(
    ("scores", "stretched", "turned_round"),
    [
        ([1, 2, 3, 4], [25, 50, 75, 100], [75, 50, 25, 0]),
        ([1, 2, 3], [33, 66, 100], [67, 34, 0]),
        ([0, 0, 0], [0, 0, 0], [100, 100, 100]),
        ([1000, 10, 20, 30], [100, 1, 2, 3], [0, 99, 98, 97]),
        ([5], [100], [0]),
        ([], [], []),
    ],
)
def test_normalizing(
    scores: Sequence[int], stretched: Sequence[int], turned_round: Sequence[int]
) -> None:
    assert default_normalize_score(ints(*scores)).tolist() == stretched
    assert reversed_normalize_score(ints(*scores)).tolist() == turned_round


@given(st.lists(st.integers(0, 10**15), min_size=1))
def test_normalized_scores_use_the_whole_scale_in_the_same_order(scores: Sequence[int]) -> None:
    stretched = default_normalize_score(ints(*scores))
    assert stretched.min() >= 0
    assert stretched.max() == (100 if max(scores) else 0)
    assert (np.diff(stretched[np.argsort(scores, kind="stable")]) >= 0).all()
    assert (reversed_normalize_score(ints(*scores)) == 100 - stretched).all()


@st.composite
def shapes(draw: st.DrawFn) -> Any:
    at = sorted(draw(st.sets(st.integers(0, 100), min_size=1, max_size=6)))
    return tuple((x, draw(st.integers(0, 100))) for x in at)


@given(points=shapes(), argument=st.integers(-20, 120))
def test_broken_linear_function_is_exact_at_its_points_and_between_their_values(
    points: tuple[tuple[int, int], ...], argument: int
) -> None:
    function = BrokenLinearFunction.of(points)
    assert function(ints(*(x for x, _ in points))).tolist() == [y for _, y in points]
    values = [y for _, y in points]
    assert min(values) <= int(function(ints(argument))[0]) <= max(values)
