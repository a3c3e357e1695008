"""The problem itself: waiting pods in classes of equal ones, nodes, room, rules and values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from scheduler_core.analysis.model.rules import Rule, Wish
from scheduler_core.cluster.arrays import BoolArray, IntArray

Viability = Literal["classic", "snapshot", "replayed"]
"""What a pod on a node is worth.

`classic`: the weights of its preferred terms that match. `snapshot`: the total of the scheduler's
score plugins in the cluster as it is. `replayed`: that total at the pod's turn, earlier pods
placed.
"""

Placement = Mapping[str, str]
"""The node of each placed pod, by `namespace/name`."""


@dataclass(frozen=True, eq=False)
class Instance:
    """P waiting pods, C classes of equal ones, N nodes, R resources (`pods` among them).

    `pods` are in the order of the queue, `class_of` int64 (P,) their classes. `priority` int64
    (C,).
    `eligible` bool (C, N): not ruled out by pod and node alone. `requests` int64 (C, R), `free`
    int64 (N, R) what nodes have left. `values` int64 (C, N): what one pod there is worth, the
    `wishes` aside, which depend on others. `not_comparable` names what is left out.
    """

    pods: tuple[str, ...]
    nodes: tuple[str, ...]
    class_of: IntArray
    priority: IntArray
    eligible: BoolArray
    resources: tuple[str, ...]
    requests: IntArray
    free: IntArray
    rules: tuple[Rule, ...]
    values: IntArray
    wishes: tuple[Wish, ...]
    not_comparable: tuple[str, ...]

    @property
    def n_classes(self) -> int:
        return self.priority.size

    @cached_property
    def sizes(self) -> IntArray:
        """Return how many pods each class has, int64 (C,)."""
        return np.bincount(self.class_of, minlength=self.n_classes).astype(np.int64)

    @cached_property
    def levels(self) -> tuple[int, ...]:
        """Return the distinct priorities, highest first."""
        return tuple(sorted(set(self.priority.tolist()), reverse=True))

    @property
    def n_possible(self) -> int:
        """Return |possible|: each pod on any node or on none."""
        possible: int = (len(self.nodes) + 1) ** len(self.pods)
        return possible

    @cached_property
    def node_numbers(self) -> Mapping[str, int]:
        return {name: i for i, name in enumerate(self.nodes)}

    def counts_of(self, placement: Placement) -> IntArray:
        """Return how many pods of each class a placement puts on each node, int64 (C, N)."""
        counts = np.zeros((self.n_classes, len(self.nodes)), np.int64)
        for number, pod in enumerate(self.pods):
            if (node := placement.get(pod)) is not None:
                counts[self.class_of[number], self.node_numbers[node]] += 1
        return counts

    def placed(self, counts: IntArray) -> dict[int, int]:
        """Return how many pods `counts` (C, N) places, by priority, the highest first."""
        by_class = counts.sum(axis=1)
        return {level: int(by_class[self.priority == level].sum()) for level in self.levels}

    def placement_of(self, counts: IntArray, like: Placement) -> dict[str, str]:
        """Return which pods are where: as in `like`, where counts (C, N) allow it."""
        left = counts.copy()
        placed: dict[str, str] = {}
        for number, pod in enumerate(self.pods):
            node = self.node_numbers.get(like.get(pod, ""), -1)
            if node >= 0 and left[self.class_of[number], node] > 0:
                left[self.class_of[number], node] -= 1
                placed[pod] = self.nodes[node]
        for own in range(self.n_classes):
            members = [self.pods[i] for i in np.flatnonzero(self.class_of == own)]
            # Pods placed in `like` are placed here, too, before the others.
            rest = sorted(
                (pod for pod in members if pod not in placed), key=lambda p: p not in like
            )
            places = np.repeat(np.arange(len(self.nodes)), left[own]).tolist()
            placed.update((pod, self.nodes[at]) for pod, at in zip(rest, places, strict=False))
        return {pod: placed[pod] for pod in self.pods if pod in placed}
