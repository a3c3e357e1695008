"""Use the resources of a node evenly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config.types import NodeResourcesBalancedAllocationArgs
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import MAX_NODE_SCORE, Prepared, Scores
from scheduler_core.framework.scoring import go_div
from scheduler_core.framework.signatures import Signed, resources
from scheduler_core.framework.status import SKIP, Status
from scheduler_core.plugins.node_resources.allocation import (
    Allocation,
    allocations,
    backed_requests,
    counted_requests,
    dependence_of_scores,
)

Floats = npt.NDArray[np.float64]
Requests = Mapping[str, int]


class BalancedAllocation:
    """Prefer nodes whose resources the pod brings into balance.

    `fraction = min(1, requested / allocatable)` per resource that the node has;
    `balance = int((1 - std) * 100)` with `std` the standard deviation of the fractions;
    `score = 50 + (50 + balance with the pod - balance without it) / 2`, so that 75 says: no
    change. Containers without a request count as nothing, and a pod that requests none of the
    resources takes no part.

    Upstream: v1.36 plugins/noderesources/balanced_allocation.go.
    """

    name = "NodeResourcesBalancedAllocation"

    def __init__(self, args: NodeResourcesBalancedAllocationArgs, handle: Handle) -> None:
        self._resources = args.resources
        self._devices = handle.devices
        self.depends_on = dependence_of_scores(args.resources)

    def sign_pod(self, pod: PodInfo) -> Signed:
        if backed_requests(pod, self._devices):
            return None
        return (resources(counted_requests(pod)),)

    def pre_score(self, state: object, pod: PodInfo, nodes: Nodes) -> Prepared[Requests] | Status:
        requests = self._requests(pod)
        return Prepared(requests) if any(requests.values()) else SKIP

    def score(self, state: Requests | None, pod: PodInfo, nodes: Nodes) -> Scores:
        requests = self._requests(pod) if state is None else state
        if not any(requests.values()):
            return np.zeros(nodes.n, np.int64)
        resources = self._allocations(requests, nodes)
        allocatable = [resource.allocatable for resource in resources]
        half = MAX_NODE_SCORE // 2
        if len(resources) == 2 and all(map(np.all, allocatable)):
            with_pod, without = _balances_of_two(resources)
            return half + go_div(half + with_pod - without, 2)
        balance_with = balance([r.requested for r in resources], allocatable, nodes.n)
        balance_without = balance([r.allocated for r in resources], allocatable, nodes.n)
        return half + go_div(half + balance_with - balance_without, 2)

    def scored_allocations(self, pod: PodInfo, nodes: Nodes) -> list[Allocation]:
        """Return what Score compares: the resources that count for a pod."""
        return self._allocations(self._requests(pod), nodes)

    def _allocations(self, requests: Requests, nodes: Nodes) -> list[Allocation]:
        return allocations(nodes, self._resources, requests, Nodes.requested, self._devices)

    def _requests(self, pod: PodInfo) -> Requests:
        placed = pod.template.requests.placed
        return {resource.name: placed.get(resource.name, 0) for resource in self._resources}


def _balances_of_two(resources: Sequence[Allocation]) -> Scores:
    """Return `balance` with the pod and without it, int64 (2, n), where all nodes have both."""
    std = np.empty((2, resources[0].allocatable.size))
    first, second = resources
    for row, (one, other) in zip(
        std,
        ((first.requested, second.requested), (first.allocated, second.allocated)),
        strict=True,
    ):
        row[:] = np.minimum(one / first.allocatable, 1.0)
        row -= np.minimum(other / second.allocatable, 1.0)
    std = np.abs(std / 2)
    return ((1 - std) * float(MAX_NODE_SCORE)).astype(np.int64)


def balance(requested: Sequence[IntArray], allocatable: Sequence[IntArray], n: int) -> Scores:
    """Return how evenly the resources of `n` nodes are used: 100 evenly, 50 not at all."""
    present = [capacity != 0 for capacity in allocatable]
    fractions = [
        np.minimum(amount / np.where(capacity == 0, 1, capacity), 1.0)
        for amount, capacity in zip(requested, allocatable, strict=True)
    ]
    std = _standard_deviation(fractions, present, n)
    return ((1 - std) * float(MAX_NODE_SCORE)).astype(np.int64)


def _standard_deviation(
    fractions: Sequence[Floats], present: Sequence[npt.NDArray[np.bool_]], n: int
) -> Floats:
    """Return the deviation over each node's resources, float64 (n,).

    Sums run in the order of the resources and two resources have a formula of their own, so
    that every bit agrees with upstream.
    """
    counts, total = np.zeros(n, np.int64), np.zeros(n)
    first, second = np.zeros(n), np.zeros(n)
    for fraction, here in zip(fractions, present, strict=True):
        first = np.where(here & (counts == 0), fraction, first)
        second = np.where(here & (counts == 1), fraction, second)
        total += np.where(here, fraction, 0.0)
        counts += here
    of_two = np.abs((first - second) / 2)
    if len(fractions) <= 2:
        return np.where(counts == 2, of_two, 0.0)
    divisor = np.maximum(counts, 1)
    mean = total / divisor
    squares = np.zeros(n)
    for fraction, here in zip(fractions, present, strict=True):
        squares += np.where(here, (fraction - mean) * (fraction - mean), 0.0)
    of_many = np.sqrt(squares / divisor)
    return np.where(counts > 2, of_many, np.where(counts == 2, of_two, 0.0))
