"""A program about groups of equal nodes comes to what the one about single nodes comes to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from kviz.questions.optimum.solver.columns import maximize_by_groups
from kviz.questions.optimum.solver.highs import maximize
from kviz.questions.optimum.solver.patterns import counting
from kviz.questions.optimum.solver.program import (
    Program,
    ProgramOfGroups,
    program_of,
    program_of_groups,
)
from scheduler_core.analysis.model import Instance, RestingWorld, build
from scheduler_core.analysis.model.feasibility import feasible, values_of
from scheduler_core.api import KubeObject
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.sim import RunOptions
from tests.analysis.model.small_clusters import small_cluster
from tests.bench_optimum import cluster
from tests.builders import HOSTNAME, make_node, make_pod


def hear(incumbent: float | None, bound: float) -> bool:
    return False


def instance_of(objects: Sequence[KubeObject]) -> Instance:
    return build(RestingWorld(objects, RunOptions()), "snapshot")


def nobody(instance: Instance) -> IntArray:
    return np.zeros((instance.n_classes, len(instance.nodes)), np.int64)


def placed_and_worth(program: Program) -> list[float]:
    """What a placement is worth if every pod counts a thousand besides."""
    worth = np.array(program.worth)
    worth[program.x[program.x >= 0]] += 1000.0
    return [float(each) for each in worth]


def one_each(program: Program) -> list[float]:
    worth = np.zeros(program.n_variables)
    worth[program.x[program.x >= 0]] = 1.0
    return [float(each) for each in worth]


def groups_of(instance: Instance) -> ProgramOfGroups:
    groups = program_of_groups(instance, nobody(instance), {})
    assert groups is not None
    return groups


def same_both_ways(instance: Instance, fixed: IntArray) -> IntArray:
    """Solve both programs, that of groups also with few patterns at a time; return a placement."""
    nodes, groups = program_of(instance, fixed), program_of_groups(instance, fixed, {})
    assert groups is not None
    by_node = maximize(nodes, placed_and_worth(nodes), None, 600.0)
    by_group = maximize(groups, placed_and_worth(groups), None, 600.0)
    in_rounds = maximize_by_groups(groups, placed_and_worth(groups), None, lambda: 600.0, hear)
    assert by_node.proven
    assert by_group.proven
    assert in_rounds is not None
    assert in_rounds.proven
    assert by_node.objective == by_group.objective == in_rounds.objective == in_rounds.bound
    assert in_rounds.values is not None
    counts = groups.counts_of(in_rounds.values)
    assert feasible(instance, counts[np.newaxis])[0]
    assert (counts >= fixed).all()
    value = int(values_of(instance, counts[np.newaxis])[0])
    assert value + 1000 * int(counts.sum()) == in_rounds.objective
    return counts


@pytest.mark.parametrize("seed", range(30, 42))
def test_groups_and_nodes_agree_whatever_pods_ask(seed: int) -> None:
    instance = instance_of(small_cluster(seed, n_nodes=5, n_pods=6))
    counts = same_both_ways(instance, nobody(instance))
    # The same with a pod staying where it is.
    fixed = nobody(instance)
    at = np.argwhere(counts)
    if at.size:
        fixed[tuple(at[-1])] = 1
        if feasible(instance, fixed[np.newaxis])[0]:
            same_both_ways(instance, fixed)


@pytest.mark.parametrize("seed", range(2))
def test_equal_nodes_are_one_group(seed: int) -> None:
    instance = instance_of(cluster(24, 15, 4, seed))
    groups = groups_of(instance)
    assert len(groups.groups) <= 6
    same_both_ways(instance, nobody(instance))


@pytest.mark.parametrize("seed", range(3))
def test_where_pods_are_counted_more_nodes_are_equal(seed: int) -> None:
    instance = instance_of(cluster(24, 15, 4, seed))
    nodes, by_worth = program_of(instance, nobody(instance)), groups_of(instance)
    by_number = groups_of(counting(instance))
    assert len(by_number.groups) < len(by_worth.groups)
    solved = [maximize(each, one_each(each), None, 600.0) for each in (nodes, by_number)]
    assert all(each.proven for each in solved)
    assert solved[0].objective == solved[1].objective
    assert solved[1].values is not None
    assert feasible(instance, by_number.counts_of(solved[1].values)[np.newaxis])[0]


def test_pods_that_keep_apart_by_host_name_leave_nodes_equal() -> None:
    nodes = [make_node(f"n{i}").label(HOSTNAME, f"n{i}").cpu(4).pods(10).obj() for i in range(4)]
    pods = [make_pod(f"p{i}").label("app", "a").cpu(1).apart_from("a").obj() for i in range(6)]
    instance = instance_of([*nodes, *pods])
    groups = groups_of(instance)
    assert len(groups.groups) == 1
    assert groups.groups[0].patterns.tolist() == [[1]]
    assert same_both_ways(instance, nobody(instance)).sum() == 4


def test_a_start_is_carried_over() -> None:
    """What is placed node by node is a start for the groups, and comes back as it was."""
    instance = instance_of(cluster(24, 15, 4, 0))
    nodes = program_of(instance, nobody(instance))
    solved = maximize(nodes, placed_and_worth(nodes), None, 600.0)
    assert solved.values is not None
    counts = nodes.counts_of(solved.values)
    groups = groups_of(instance)
    at, values = groups.values_of(counts)
    whole = np.zeros(groups.n_variables, np.int64)
    whole[at] = values
    again = groups.counts_of(whole)
    assert again.sum(axis=1).tolist() == counts.sum(axis=1).tolist()
    assert feasible(instance, again[np.newaxis])[0]
