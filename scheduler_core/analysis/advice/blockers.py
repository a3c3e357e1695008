"""What keeps a pod from each node, and who stands for many nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.analysis.advice.pools import pools_of
from scheduler_core.evidence.cycle import PluginEvidence
from scheduler_core.framework.status import Status
from scheduler_core.sim.reenactment import ReenactedCycle

MAX_KINDS: Final = 60
"""So many kinds of nodes are looked at, those with the fewest plugins against them first."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A node that stands for `n_nodes`, and the plugins against the pod there, each with why.

    Those that reject the pod before any node is looked at are among them.
    """

    node: str
    n_nodes: int
    plugins: tuple[PluginEvidence, ...]


def blocked_nodes(held: ReenactedCycle) -> Iterator[Blocked]:
    """Yield one node of each kind: of one pool, with the same plugins and reasons against it.

    Of a kind it is the node with most room for what the pod asks for.
    """
    nodes, verdicts = held.nodes, held.individually
    pools = pools_of([nodes.node(i) for i in range(nodes.n)])
    pool_of = {node.name: number for number, pool in enumerate(pools) for node in pool.nodes}
    kinds: dict[tuple[int, tuple[Status, ...]], list[int]] = {}
    for i, name in enumerate(nodes.names):
        statuses = verdicts.nodes.get(name, ())
        kinds.setdefault((pool_of[name], statuses), []).append(i)
    room = _room(held)
    fewest_first = sorted(kinds.items(), key=lambda kind: len(kind[0][1]))
    for _, members in fewest_first[:MAX_KINDS]:
        name = nodes.name(max(members, key=lambda i: (room[i], -i)))
        rejections = held.evidence.node(name).rejections
        yield Blocked(name, len(members), (*held.evidence.pod, *rejections))


def _room(held: ReenactedCycle) -> list[float]:
    """Return how much of what it asks for is free on each node; of several resources the least."""
    room = np.full(held.nodes.n, np.inf)
    for name, amount in held.requests.items():
        if amount > 0:
            free = held.nodes.allocatable(name) - held.nodes.requested(name)
            room = np.minimum(room, free / amount)
    found: list[float] = room.tolist()
    return found
