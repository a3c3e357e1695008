"""How much of what is free is of no use to the pods that there are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from scheduler_core.trace.fold import TraceState
from scheduler_core.trace.tables import PODS

MOST_SHAPES: Final = 500
"""Requests that are looked at, the most frequent ones first."""

Shape = tuple[tuple[str, int], ...]
"""What a pod requests: resources by name, without those it does not."""
Workload = Mapping[Shape, int]
Free = npt.NDArray[np.int64]
"""(n_nodes, n_resources): what nodes have left; below 0 where they are overcommitted."""


def workload(states: Iterable[TraceState]) -> Workload:
    """Count pods by what they request, over all states: the same workload for both sides."""
    counted: Counter[Shape] = Counter()
    for state in states:
        by_requests = Counter([pod.requests for pod in state.pods.values()])
        for requests, count in by_requests.items():
            named = zip(state.resources, requests, strict=False)
            counted[tuple((name, amount) for name, amount in named if amount > 0)] += count
    common = sorted(counted.items(), key=lambda each: (-each[1], each[0]))
    return dict(common[:MOST_SHAPES])


def fragmentation(
    resources: Sequence[str], free: Free, shapes: Workload
) -> dict[str, float | None]:
    """Return by resource which share of what is free a pod cannot use, on average over pods.

    A pod that requests a resource can use what a node has free of it if all that it requests fits
    there; pods that do not request it do not count. None where no pod requests it, or nothing is
    free. Only resources are looked at: not taints, not affinity. After Weng et al., Beware of
    Fragmentation, USENIX ATC 2023.
    """
    left = np.maximum(free, 0)
    total = left.sum(axis=0)
    useless, pods = np.zeros(len(resources)), np.zeros(len(resources))
    for shape, count in shapes.items():
        needs = _needs(shape, resources)
        room = np.all(left >= needs, axis=1) & all(name in resources for name, _ in shape)
        asked = needs > 0
        useless[asked] += count * left[~room].sum(axis=0)[asked]
        pods[asked] += count
    return {
        name: float(useless[i] / (pods[i] * total[i])) if pods[i] and total[i] else None
        for i, name in enumerate(resources)
    }


def _needs(shape: Shape, resources: Sequence[str]) -> npt.NDArray[np.int64]:
    """Return (n_resources,): what a pod takes, its place on the node among it."""
    amounts = {PODS: 1, **dict(shape)}
    return np.array([amounts.get(name, 0) for name in resources], dtype=np.int64)
