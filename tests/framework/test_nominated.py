"""Nominated pods that are kept from cycle to cycle are those that somebody new would find."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.nominated import NominatedPods
from scheduler_core.queue.nominator import OVERRIDE, Nominator
from tests.builders import make_node, make_pod

NODES = ["n0", "n1", "n2"]


def _found(pods: NominatedPods, nominator: Nominator, pod: PodInfo, nodes: Nodes) -> object:
    changes = pods.changes(nominator.nominated_by_node(), pod, nodes)
    return [(i, [each.uid for each in change.added]) for i, change in changes.items()]


@given(
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["", "gone", *NODES])), max_size=20),
    st.lists(st.integers(0, 2), max_size=4),
)
def test_cached_rivals_are_those_found_again(moves: list[tuple[int, str]], rows: list[int]) -> None:
    columns = ClusterColumns()
    for name in NODES:
        columns.set_node(make_node(name).obj())
    pending = [make_pod(f"p{i}").uid(f"p{i}").priority(i // 2).obj() for i in range(5)]
    infos = [columns.templates.info(pod) for pod in pending]
    live = {pod.key: pod for pod in pending}
    nominator = Nominator(live_pod=live.get, emit=lambda _: None)
    kept, view = NominatedPods(), Nodes(columns, np.array(rows, np.int64))
    for i, node_name in moves:
        nominator.add(infos[i], OVERRIDE, node_name)
        for pod in infos:
            found = _found(kept, nominator, pod, view)
            assert found == _found(NominatedPods(), nominator, pod, view)
            expected = [
                (at, [rival.uid for rival in rivals])
                for at, row in enumerate(rows)
                if (rivals := _rivals_on(NODES[row], nominator, pod))
            ]
            assert found == expected


def _rivals_on(node_name: str, nominator: Nominator, pod: PodInfo) -> list[PodInfo]:
    on_node = nominator.nominated_pods_for_node(node_name)
    return [each for each in on_node if each.priority >= pod.priority and each.uid != pod.uid]


def test_changes_that_the_view_has_stay_part_of_it() -> None:
    columns = ClusterColumns()
    columns.set_node(make_node("n0").obj())
    there, rival, pod = (columns.templates.info(make_pod(name).uid(name).obj()) for name in "abc")
    view = Nodes(columns, np.array([0])).with_changes([Change((there,), (pod,))])
    changes = NominatedPods().changes({"n0": [rival]}, pod, view)
    assert changes == {0: Change((there, rival), (pod,))}
