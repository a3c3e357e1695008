"""Viability as the scheduler would have met it: totals along the order of the queue.

One pod after another gets a node that passes Filter at its turn, or none; its total is that of the
score plugins then. A tree of up to (N + 1)^P leaves is searched, and every step asks the plugins:
this is for small instances. A placement counts if every pod is feasible in its final context, too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from scheduler_core.analysis.model.feasibility import feasible
from scheduler_core.analysis.model.instance import Instance, Placement
from scheduler_core.analysis.model.world import RestingWorld
from scheduler_core.cluster.pods import PodInfo


@dataclass
class Replayed:
    """The best placement found: by priority how many are placed, then the sum of totals.

    `n_viable` counts the placements that are as good. `complete` says that the whole tree was
    searched, so that there is none better.
    """

    placement: dict[str, str] | None = None
    key: tuple[int, ...] = ()
    n_viable: int = 0
    complete: bool = True

    @property
    def value(self) -> int:
        return self.key[-1] if self.key else 0


class SearchStopped(Exception):
    """Raised by the progress callback, to end the search with what has been found."""


@dataclass
class _Search:
    world: RestingWorld
    instance: Instance
    fixed: Placement
    progress: Callable[[int], None]
    found: Replayed = field(default_factory=Replayed)
    placed: dict[str, str] = field(default_factory=dict)
    n_steps: int = 0

    def descend(self, turn: int, value: int) -> None:
        """Try all nodes for the pod whose turn it is, best total first; and no node at last."""
        self.n_steps += 1
        self.progress(self.n_steps)
        if self._hopeless(turn):
            return
        if turn == len(self.world.waiting):
            self._leaf(value)
            return
        pod = self.world.waiting[turn]
        totals = totals_at_turn(self.world, pod)
        wanted = self.fixed.get(pod.key)
        for node in sorted(totals, key=lambda name: -totals[name]):
            if wanted in (None, node):
                self._try(turn, pod, node, value + totals[node])
        if wanted is None:
            self.descend(turn + 1, value)

    def _try(self, turn: int, pod: PodInfo, node: str, value: int) -> None:
        self.world.put(pod, node)
        self.placed[pod.key] = node
        try:
            self.descend(turn + 1, value)
        finally:
            del self.placed[pod.key]
            self.world.take_off(pod)

    def _hopeless(self, turn: int) -> bool:
        """Whether fewer pods would be placed than have been, even if all that are left were."""
        if not self.found.key:
            return False
        counts = [0] * len(self.instance.levels)
        for number, pod in enumerate(self.world.waiting):
            if number >= turn or pod.key in self.placed:
                counts[self.instance.levels.index(pod.priority)] += 1
        return tuple(counts) < self.found.key[:-1]

    def _leaf(self, value: int) -> None:
        counts = self.instance.counts_of(self.placed)
        if not feasible(self.instance, counts[np.newaxis])[0]:
            return
        key = (*self.instance.placed(counts).values(), value)
        found = self.found
        if key > found.key:
            found.key, found.placement, found.n_viable = key, dict(self.placed), 0
        if key == found.key:
            found.n_viable += 1


def search(
    world: RestingWorld,
    instance: Instance,
    fixed: Placement,
    progress: Callable[[int], None] = lambda n_steps: None,
) -> Replayed:
    """Search the tree below the placements of `fixed`; `progress` may raise SearchStopped."""
    searching = _Search(world, instance, fixed, progress)
    try:
        searching.descend(0, 0)
    except SearchStopped:
        searching.found.complete = False
    return searching.found


def totals_at_turn(world: RestingWorld, pod: PodInfo) -> Mapping[str, int]:
    """Return the total of every node that passes Filter for a pod, as things stand."""
    state, nodes = world.feasible(pod)
    if not nodes.n:
        return {}
    scoring = world.score(pod, state, nodes)
    if scoring.error:
        return dict.fromkeys(nodes.names, 0)
    return dict(zip(nodes.names, scoring.totals.tolist(), strict=True))


def replayed_value(world: RestingWorld, placement: Placement) -> int | None:
    """Return what a placement is worth, None if the queue's order does not lead to it."""
    value, placed = 0, []
    try:
        for pod in world.waiting:
            node = placement.get(pod.key)
            if node is None:
                continue
            totals = totals_at_turn(world, pod)
            if node not in totals:
                return None
            value += totals[node]
            world.put(pod, node)
            placed.append(pod)
    finally:
        for pod in placed:
            world.take_off(pod)
    return value
