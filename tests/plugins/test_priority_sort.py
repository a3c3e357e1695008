from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from scheduler_core.cluster.pods import PodInfo
from scheduler_core.plugins.priority_sort import PrioritySort
from tests.builders import make_pod
from tests.plugins.harness import World


@dataclass
class Queued:
    pod: PodInfo
    timestamp_ns: int


def key(priority: int | None, timestamp_ns: int) -> tuple[int, ...]:
    return PrioritySort().sort_key(
        Queued(World().info(make_pod("incoming").priority(priority).obj()), timestamp_ns)
    )


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((100, 2), (50, 1)),
        ((100, 1), (100, 2)),
        ((0, 5), (-10, 1)),
        ((None, 1), (-1, 0)),
        ((1, 9), (None, 0)),
    ],
)
def test_higher_priority_goes_first_and_then_the_earlier_one(
    first: Sequence[int] | tuple[None, int], second: Sequence[int] | tuple[None, int]
) -> None:
    assert key(*first) < key(*second)


def test_no_priority_is_priority_zero() -> None:
    assert key(None, 7) == key(0, 7)
