"""The scoring strategies of NodeResourcesFit.

Each turns the allocations of some resources into scores 0 to 100, int64 (n,), as a weighted
mean over the resources that the node has; a node that has none of them scores 0.

Upstream: v1.36 plugins/noderesources: least_allocated.go, most_allocated.go and
requested_to_capacity_ratio.go.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.config.types import ScoringStrategy, ScoringStrategyType
from scheduler_core.framework.interface import MAX_NODE_SCORE, Scores
from scheduler_core.framework.scoring import BrokenLinearFunction, go_div
from scheduler_core.plugins.node_resources.allocation import Allocation

Strategy = Callable[[Sequence[Allocation], int], Scores]
"""`(allocations, n) -> scores` of `n` nodes, int64 (n,)."""

MAX_UTILIZATION = 100
MAX_CUSTOM_PRIORITY_SCORE = 10


def strategy_of(strategy: ScoringStrategy) -> Strategy:
    """Return the scoring function that the plugin's arguments ask for."""
    match ScoringStrategyType(strategy.type):
        case ScoringStrategyType.LEAST_ALLOCATED:
            return least_allocated
        case ScoringStrategyType.MOST_ALLOCATED:
            return most_allocated
        case ScoringStrategyType.REQUESTED_TO_CAPACITY_RATIO:
            return _requested_to_capacity_ratio_of(strategy)


def least_allocated(resources: Sequence[Allocation], n: int) -> Scores:
    """Prefer empty nodes: `100 * (allocatable - requested) / allocatable` per resource."""
    return _weighted_mean(resources, n, _unused_percent)


def most_allocated(resources: Sequence[Allocation], n: int) -> Scores:
    """Prefer full nodes: `100 * requested / allocatable` per resource, at most 100."""
    return _weighted_mean(resources, n, _used_percent)


def requested_to_capacity_ratio(shape: BrokenLinearFunction) -> Strategy:
    """Prefer nodes by a curve over utilization: `shape(100 * requested / allocatable)`.

    A resource for which the curve gives 0 is left out of the mean, which is rounded to the
    nearest number, half up.
    """

    def score(resources: Sequence[Allocation], n: int) -> Scores:
        total, weights = np.zeros(n, np.int64), np.zeros(n, np.int64)
        for resource in resources:
            value = shape(_utilization(resource))
            counts = (resource.allocatable != 0) & (value > 0)
            total += np.where(counts, value * resource.weight, 0)
            weights += np.where(counts, resource.weight, 0)
        mean = total / np.maximum(weights, 1)
        whole = np.trunc(mean)
        return (whole + (mean - whole >= 0.5)).astype(np.int64)

    return score


def _requested_to_capacity_ratio_of(strategy: ScoringStrategy) -> Strategy:
    return requested_to_capacity_ratio(shape_of(strategy))


def shape_of(strategy: ScoringStrategy) -> BrokenLinearFunction:
    """Scale the shape's scores, 0 to 10 in the arguments, to scores of nodes.

    Raises ValueError for a strategy without a shape.
    """
    param = strategy.requested_to_capacity_ratio
    if param is None:
        raise ValueError("scoring strategy RequestedToCapacityRatio without a shape")
    scale = MAX_NODE_SCORE // MAX_CUSTOM_PRIORITY_SCORE
    shape = ((point.utilization, point.score * scale) for point in param.shape)
    return BrokenLinearFunction.of(shape)


def _weighted_mean(
    resources: Sequence[Allocation], n: int, score: Callable[[Allocation], IntArray]
) -> Scores:
    total = np.zeros(n, np.int64)
    if resources and all(bool(resource.allocatable.all()) for resource in resources):
        for resource in resources:
            total += score(resource) * resource.weight
        return go_div(total, sum(resource.weight for resource in resources))
    weights = np.zeros(n, np.int64)
    for resource in resources:
        present = resource.allocatable != 0
        total += np.where(present, score(resource) * resource.weight, 0)
        weights += np.where(present, resource.weight, 0)
    return go_div(total, np.where(weights == 0, 1, weights))


def _unused_percent(resource: Allocation) -> IntArray:
    unused = np.maximum(resource.allocatable - resource.requested, 0)
    percent: IntArray = unused * MAX_NODE_SCORE // _divisor(resource)
    return percent


def _used_percent(resource: Allocation) -> IntArray:
    used = np.where(_overcommitted(resource), resource.allocatable, resource.requested)
    return go_div(used * MAX_NODE_SCORE, _divisor(resource))


def _utilization(resource: Allocation) -> IntArray:
    used = go_div(resource.requested * MAX_UTILIZATION, _divisor(resource))
    return np.where(_overcommitted(resource), MAX_UTILIZATION, used)


def _overcommitted(resource: Allocation) -> BoolArray:
    over: BoolArray = resource.requested > resource.allocatable
    return over


def _divisor(resource: Allocation) -> IntArray:
    # Where a node lacks the resource the quotient is thrown away.
    return np.maximum(resource.allocatable, 1)
