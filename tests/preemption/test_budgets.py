"""Which budgets evictions break, by name."""

from __future__ import annotations

import pytest

from tests.builders import budget, make_node, make_pod
from tests.simulated import Cluster


@pytest.mark.parametrize(("allowed", "n_broken"), [(0, 2), (1, 1), (2, 0)])
def test_a_budget_is_used_up_pod_by_pod_and_named(allowed: int, n_broken: int) -> None:
    cluster = Cluster(
        budget("db", allowed=allowed),
        make_node("n1").cpu(4).obj(),
        make_pod("a").cpu(2).on("n1").label("app", "db").obj(),
        make_pod("b").cpu(2).on("n1").label("app", "db").obj(),
        make_pod("preemptor").cpu(4).priority(10).obj(),
    )
    (run,) = cluster.preempt().dry_runs
    assert [each.budgets for each in run.reprieves].count(("db",)) == n_broken
    assert run.n_pdb_violations == n_broken
