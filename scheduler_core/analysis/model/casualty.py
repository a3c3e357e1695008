"""Preemption as the model has it: every set of pods whose leaving makes room, not just one.

The scheduler takes all pods of lower priority off a node and puts back what it can, most important
first. The model looks at all sets, so that "least harm" can be asked in more than one sense.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final

from scheduler_core.analysis.model.world import RestingWorld
from scheduler_core.cluster.nodes import Change
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.runtime import CycleState

MAX_JEOPARDY: Final = 12
"""All sets are looked at of so many pods: 2^12 of them."""


@dataclass(frozen=True)
class VictimSet:
    """Pods of one node, and whether the preemptor is feasible there without them."""

    pods: tuple[PodInfo, ...]
    feasible: bool

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(pod.key for pod in self.pods)

    @property
    def highest_priority(self) -> int:
        """Return the priority of the most important pod; there is at least one."""
        return max(pod.priority for pod in self.pods)


def jeopardy(world: RestingWorld, preemptor: PodInfo, node: str) -> tuple[PodInfo, ...]:
    """Return the pods on a node that have a lower priority."""
    nodes = world.nodes()
    on_node = nodes.pods(nodes.names.index(node))
    return tuple(pod for pod in on_node if pod.priority < preemptor.priority)


def victim_sets(world: RestingWorld, preemptor: PodInfo, node: str) -> Iterator[VictimSet]:
    """Yield every set of the pods in jeopardy on a node, the empty one first, small ones before.

    Raises ValueError where these are more than `MAX_JEOPARDY`.
    """
    pods = jeopardy(world, preemptor, node)
    if len(pods) > MAX_JEOPARDY:
        raise ValueError(f"2^{len(pods)} sets are too many to look at")
    nodes, state = world.nodes(), CycleState()
    framework = world.framework(preemptor)
    framework.run_pre_filter(state, preemptor, nodes)
    at = nodes.names.index(node)
    only = nodes.slice(at, at + 1)
    for size in range(len(pods) + 1):
        for chosen in combinations(pods, size):
            without = only.with_changes([Change(removed=chosen)])
            verdicts = framework.run_filter(state, preemptor, without)
            yield VictimSet(chosen, verdicts.all_fit)
