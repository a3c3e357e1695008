from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.api import Pod
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.row_sums import FEW_ROWS, RowSums
from tests.builders import make_node, make_pod

Ints: TypeAlias = npt.NDArray[np.int64]


def pod(number: int, *, terminating: bool = False) -> Pod:
    """Return a pod of one of three templates, which weigh 0, 1 and 2."""
    pod = make_pod(f"p{number}").label("weight", str(number % 3))
    return pod.deleted_at_ns(1).obj() if terminating else pod.obj()


def weights(cluster: ClusterColumns) -> Ints:
    return np.array([int(each.labels["weight"]) for each in cluster.templates.templates], np.int64)


def counted_by_hand(cluster: ClusterColumns, *, terminating: bool) -> list[int]:
    sums = [0] * cluster.n_rows
    for row, info in cluster.pods:
        if terminating or not info.terminating:
            sums[row] += int(info.template.labels["weight"])
    return sums


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 5), st.booleans()), max_size=30))
def test_sums_follow_the_pods(moves: list[tuple[int, int, bool]]) -> None:
    """Each move places a pod that is not there, or takes it off its node."""
    cluster = ClusterColumns()
    everyone, staying = RowSums(cluster), RowSums(cluster, terminating=False)
    places: dict[int, tuple[PodInfo, str]] = {}
    for number, node, dying in moves:
        if number in places:
            info, name = places.pop(number)
            cluster.remove_pod(info, name)
        else:
            info = cluster.templates.info(pod(number, terminating=dying))
            places[number] = info, f"n{node}"
            cluster.add_pod(info, f"n{node}")
        by_key = weights(cluster)
        assert everyone.of("w", by_key).tolist() == counted_by_hand(cluster, terminating=True)
        assert staying.of("w", by_key).tolist() == counted_by_hand(cluster, terminating=False)


def test_many_moved_rows_are_summed_together() -> None:
    cluster = ClusterColumns()
    sums = RowSums(cluster)
    for i in range(3 * FEW_ROWS):
        cluster.set_node(make_node(f"n{i}").obj())
    cluster.add_pod(cluster.templates.info(pod(2)), "n0")
    assert sums.of("w", weights(cluster)).sum() == 2
    for i in range(2 * FEW_ROWS):
        cluster.add_pod(cluster.templates.info(pod(10 + i)), f"n{i}")
    assert sums.of("w", weights(cluster)).tolist() == counted_by_hand(cluster, terminating=True)
