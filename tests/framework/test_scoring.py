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


def test_go_div_keeps_its_arguments() -> None:
    dividend = ints(-3, 4)
    go_div(dividend, 2)
    assert dividend.tolist() == [-3, 4]


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


RISING = ((10, 1), (90, 9))
TENT = ((0, 2), (40, 10), (100, 0))


@pytest.mark.parametrize(
    ("points", "arguments", "values"),
    [
        (RISING, [-10, 0, 9, 10, 15, 19, 20, 89, 90, 99, 110], [1, 1, 1, 1, 1, 1, 2, 8, 9, 9, 9]),
        (TENT, [-10, 0, 20, 30, 40, 70, 100, 110], [2, 2, 6, 8, 10, 5, 0, 0]),
        (((0, 2), (40, 2), (100, 2)), [-10, 0, 20, 40, 70, 110], [2] * 6),
        # A falling segment drops the remainder of the fall: 100 - 2 * 1 / 3 is 100.
        (((0, 100), (3, 98)), [1, 2], [100, 99]),
    ],
)
def test_broken_linear_function(
    points: tuple[tuple[int, int], ...], arguments: Sequence[int], values: Sequence[int]
) -> None:
    assert BrokenLinearFunction(points)(ints(*arguments)).tolist() == values


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
