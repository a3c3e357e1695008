"""Scores by resources: how full a node would be, and how evenly.

Upstream: v1.36 plugins/noderesources: least_allocated.go, most_allocated.go,
requested_to_capacity_ratio.go, balanced_allocation.go.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from scheduler_core.amounts import in_one_unit
from scheduler_core.config.types import ScoringStrategyType
from scheduler_core.evidence.raw_score import RawScore, quotient
from scheduler_core.evidence.requirement import AtNode
from scheduler_core.framework.interface import MAX_NODE_SCORE
from scheduler_core.plugins.node_resources import BalancedAllocation, Fit
from scheduler_core.plugins.node_resources.allocation import Allocation
from scheduler_core.plugins.node_resources.strategies import shape_of
from scheduler_core.wording import say, series

HALF = MAX_NODE_SCORE // 2


@dataclass(frozen=True, slots=True)
class ResourceShare:
    """A resource that counts: cpu in milli, others in bytes or units.

    `allocated` is what the node's pods take, `requested` the same with the pod. A resource of
    which the node has none is left out.
    """

    resource: str
    weight: int
    allocatable: int
    allocated: int
    requested: int

    @property
    def numbers(self) -> tuple[str, str]:
        """Return what would be taken and what there is, as quantities."""
        requested, allocatable = in_one_unit(self.resource, self.requested, self.allocatable)
        return requested, allocatable


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanOfResources(RawScore):
    """The weighted mean of the points that a node gets for each resource."""

    resources: tuple[ResourceShare, ...]

    @staticmethod
    @abstractmethod
    def points(share: ResourceShare) -> int:
        """Return what a resource is worth, 0 to 100."""

    @staticmethod
    @abstractmethod
    def points_text(requested: str, allocatable: str) -> str:
        """Return how the points come about, over quantities."""

    @property
    def value(self) -> int:
        return _weighted_mean(self.resources, [self.points(each) for each in self.resources])

    @property
    def text(self) -> str:
        parts = [
            f"{share.weight}*100*{self.points_text(*share.numbers)} "
            f"({share.resource}: {self.points(share)})"
            for share in _present(self.resources)
        ]
        return _mean_text(parts, self.resources, self.value)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastAllocated(MeanOfResources):
    """The weighted mean of what is left of each resource, in percent."""

    kind = "leastAllocated"
    formula = say(
        "fit_score.least_allocated",
        "sum of weight * 100 * (allocatable - requested) / allocatable, over sum of weights",
    )

    @staticmethod
    def points(share: ResourceShare) -> int:
        if not share.allocatable:
            return 0
        return MAX_NODE_SCORE * max(share.allocatable - share.requested, 0) // share.allocatable

    @staticmethod
    def points_text(requested: str, allocatable: str) -> str:
        return f"({allocatable} - {requested})/{allocatable}"


@dataclass(frozen=True, slots=True, kw_only=True)
class MostAllocated(MeanOfResources):
    """The weighted mean of what is taken of each resource, in percent."""

    kind = "mostAllocated"
    formula = say(
        "fit_score.most_allocated",
        "sum of weight * 100 * requested / allocatable, over sum of weights",
    )

    @staticmethod
    def points(share: ResourceShare) -> int:
        if not share.allocatable:
            return 0
        used = min(share.requested, share.allocatable)
        return quotient(used * MAX_NODE_SCORE, share.allocatable)

    @staticmethod
    def points_text(requested: str, allocatable: str) -> str:
        return f"{requested}/{allocatable}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestedToCapacityRatio(RawScore):
    """A curve over what is taken of each resource; `shape` are its points, scores 0 to 100.

    A resource for which the curve gives 0 is left out of the mean.
    """

    kind = "requestedToCapacityRatio"
    formula = say(
        "fit_score.by_shape",
        "sum of weight * shape(100 * requested / allocatable), over sum of weights, rounded",
    )
    shape: tuple[tuple[int, int], ...]
    resources: tuple[ResourceShare, ...]

    @property
    def value(self) -> int:
        total, weights = 0, 0
        for share in _present(self.resources):
            points = self.points(share)
            if points > 0:
                total += points * share.weight
                weights += share.weight
        mean = total / max(weights, 1)
        whole = math.trunc(mean)
        return whole + (mean - whole >= 0.5)

    def points(self, share: ResourceShare) -> int:
        return curve_value(self.shape, utilization(share))

    @property
    def text(self) -> str:
        parts = [
            f"{share.weight}*shape({utilization(share)}%) ({share.resource}: {self.points(share)})"
            for share in _present(self.resources)
        ]
        counted = [share for share in _present(self.resources) if self.points(share) > 0]
        points = series(f"{at}%: {score}" for at, score in self.shape)
        return say(
            "fit_score.shape",
            "{sum}, shape {points}",
            sum=_mean_text(parts, counted, self.value),
            points=points,
        )


def utilization(share: ResourceShare) -> int:
    """Return how much of a resource is taken, in percent, at most 100."""
    if share.requested > share.allocatable:
        return MAX_NODE_SCORE
    return quotient(share.requested * MAX_NODE_SCORE, max(share.allocatable, 1))


def curve_value(shape: Sequence[tuple[int, int]], argument: int) -> int:
    """Return the value of straight segments between points, constant before and after them."""
    left_at, left = shape[0]
    for at, value in shape:
        if argument <= at:
            if at == left_at:
                return value
            return left + quotient((value - left) * (argument - left_at), at - left_at)
        left_at, left = at, value
    return left


FitScore = LeastAllocated | MostAllocated | RequestedToCapacityRatio


def fit_score(plugin: Fit, at: AtNode) -> FitScore:
    resources = tuple(map(_share, plugin.scored_allocations(at.pod, at.node)))
    strategy = plugin.scoring_strategy
    match ScoringStrategyType(strategy.type):
        case ScoringStrategyType.LEAST_ALLOCATED:
            return LeastAllocated(resources=resources)
        case ScoringStrategyType.MOST_ALLOCATED:
            return MostAllocated(resources=resources)
        case ScoringStrategyType.REQUESTED_TO_CAPACITY_RATIO:
            return RequestedToCapacityRatio(shape=shape_of(strategy).points, resources=resources)


def _share(allocation: Allocation) -> ResourceShare:
    return ResourceShare(
        allocation.resource,
        allocation.weight,
        int(allocation.allocatable[0]),
        int(allocation.allocated[0]),
        int(allocation.requested[0]),
    )


def _present(resources: Sequence[ResourceShare]) -> list[ResourceShare]:
    return [share for share in resources if share.allocatable]


def _weighted_mean(resources: Sequence[ResourceShare], points: Sequence[int]) -> int:
    weights = sum(share.weight for share in _present(resources))
    total = sum(score * share.weight for share, score in zip(resources, points, strict=True))
    return quotient(total, weights) if weights else 0


def _mean_text(parts: Sequence[str], resources: Sequence[ResourceShare], value: int) -> str:
    weights = sum(share.weight for share in _present(resources))
    if not parts or not weights:
        return say(
            "fit_score.no_resource", "{value}, as the node has none of the resources", value=value
        )
    return f"({' + '.join(parts)})/{weights} = {value}"


# ---------------------------------------------------------------- balance


@dataclass(frozen=True, slots=True, kw_only=True)
class BalancedScore(RawScore):
    """How evenly the node's resources are used, with the pod and without it."""

    kind = "balancedAllocation"
    formula = say(
        "fit_score.balanced",
        "50 + (50 + balance with the pod - balance without it) / 2, "
        "balance = 100 * (1 - standard deviation of requested / allocatable)",
    )
    resources: tuple[ResourceShare, ...]

    @property
    def value(self) -> int:
        return HALF + quotient(HALF + self.balance_with - self.balance_without, 2)

    @property
    def balance_with(self) -> int:
        return _balance([_part(each.requested, each) for each in _present(self.resources)])

    @property
    def balance_without(self) -> int:
        return _balance([_part(each.allocated, each) for each in _present(self.resources)])

    @property
    def text(self) -> str:
        fractions = series(
            say(
                "fit_score.before_after",
                "{resource} {before} to {after}",
                resource=each.resource,
                before=_percent(each.allocated, each),
                after=_percent(each.requested, each),
            )
            for each in _present(self.resources)
        )
        change = f"{self.balance_with} - {self.balance_without}"
        return say(
            "score.points_of",
            "{points} ({what})",
            points=f"{HALF} + ({HALF} + {change})/2 = {self.value}",
            what=fractions,
        )


def balanced_score(plugin: BalancedAllocation, at: AtNode) -> BalancedScore:
    return BalancedScore(resources=tuple(map(_share, plugin.scored_allocations(at.pod, at.node))))


def _balance(held: list[float]) -> int:
    """Return 100 less the deviation in percent; the order of sums agrees with upstream's."""
    deviation = 0.0
    if len(held) == 2:
        deviation = abs((held[0] - held[1]) / 2)
    elif len(held) > 2:
        mean = _sum(held) / len(held)
        deviation = math.sqrt(_sum([(each - mean) * (each - mean) for each in held]) / len(held))
    return int((1 - deviation) * float(MAX_NODE_SCORE))


def _part(amount: int, share: ResourceShare) -> float:
    return min(float(amount) / float(share.allocatable), 1.0)


def _sum(values: list[float]) -> float:
    """Add from left to right; the built-in sum rounds better, and so differently."""
    total = 0.0
    for value in values:
        total += value
    return total


def _percent(amount: int, share: ResourceShare) -> str:
    return f"{100 * amount / share.allocatable:.0f}%"
