"""How much room the pools of a cluster have, before and after copies took their part of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.analysis.advice.pools import Pool, pools_of
from scheduler_core.cluster.columns import PODS
from scheduler_core.cluster.nodes import Nodes

MAX_POINTS: Final = 120
"""So many points at most has a chart of headroom."""
SHORTAGES: Final = {"Too many pods": PODS}
"""What NodeResourcesFit says where no resource is named."""
INSUFFICIENT: Final = "Insufficient "

Amounts = Mapping[str, int]
"""By resource: cpu in milli, memory in bytes, all else in units."""


@dataclass(frozen=True, slots=True)
class Placement:
    """A copy on a node; `template` is an index of those that were asked for."""

    template: int
    node: str


@dataclass(frozen=True, slots=True)
class NodeRejection:
    """Why a node was no place for the copy that found none: the first plugin against it."""

    node: str
    plugin: str
    reasons: tuple[str, ...]


@dataclass(frozen=True)
class PoolRoom:
    """What copies found in a pool, and what they left there.

    `rejected_by` and `reasons` count its nodes when the next copy found no room; `runs_out` is the
    resource that most of them are short of then, empty if something else kept it off.
    """

    pool: str
    n_nodes: int
    copies: int
    free_before: Amounts
    free_after: Amounts
    allocatable: Amounts
    rejected_by: Mapping[str, int]
    reasons: Mapping[str, int]

    @property
    def runs_out(self) -> str:
        short = (
            SHORTAGES.get(reason, reason.removeprefix(INSUFFICIENT))
            for reason in self.reasons
            if reason in SHORTAGES or reason.startswith(INSUFFICIENT)
        )
        return next(short, "")


@dataclass(frozen=True)
class Headroom:
    """What is free in each pool after so many copies: a chart's columns.

    `free[resource][pool]` has an amount for every entry of `copies`.
    """

    copies: tuple[int, ...]
    free: Mapping[str, Mapping[str, tuple[int, ...]]]


class Rooms:
    """The room of all pools at one moment, to be filled with copies that ask for `requests`."""

    def __init__(self, nodes: Nodes, requests: Sequence[Amounts]) -> None:
        self._requests = requests
        asked = (name for each in requests for name, amount in each.items() if amount)
        self._resources = tuple(dict.fromkeys([*sorted(asked), PODS]))
        self._pools = pools_of([nodes.node(i) for i in range(nodes.n)])
        self._pool_of = {node.name: pool for pool in self._pools for node in pool.nodes}
        self._allocatable: dict[str, Counter[str]] = {pool.name: Counter() for pool in self._pools}
        self._free: dict[str, Counter[str]] = {pool.name: Counter() for pool in self._pools}
        for resource in self._resources:
            self._measure(nodes, resource)

    def _measure(self, nodes: Nodes, resource: str) -> None:
        if resource == PODS:
            allocatable, taken = nodes.allowed_pods, nodes.n_pods
        else:
            allocatable, taken = nodes.allocatable(resource), nodes.requested(resource)
        free = allocatable - taken
        for i, (there, left) in enumerate(zip(allocatable.tolist(), free.tolist(), strict=True)):
            pool = self._pool_of[nodes.name(i)].name
            self._allocatable[pool][resource] += there
            self._free[pool][resource] += left

    def after(
        self, placements: Sequence[Placement], rejections: Sequence[NodeRejection]
    ) -> tuple[PoolRoom, ...]:
        """Return what is left in each pool, and what keeps the next copy off its nodes."""
        free = {name: Counter(amounts) for name, amounts in self._free.items()}
        copies: Counter[str] = Counter()
        for each in placements:
            pool = self._pool_of[each.node].name
            copies[pool] += 1
            free[pool].subtract(self._taken(each))
        against: dict[str, list[NodeRejection]] = {pool.name: [] for pool in self._pools}
        for rejection in rejections:
            against[self._pool_of[rejection.node].name].append(rejection)
        return tuple(
            self._room(pool, copies[pool.name], free[pool.name], against[pool.name])
            for pool in self._pools
        )

    def _room(
        self, pool: Pool, copies: int, left: Amounts, against: Sequence[NodeRejection]
    ) -> PoolRoom:
        reasons = Counter(reason for each in against for reason in each.reasons)
        return PoolRoom(
            pool=pool.name,
            n_nodes=len(pool.nodes),
            copies=copies,
            free_before=dict(self._free[pool.name]),
            free_after=dict(left),
            allocatable=dict(self._allocatable[pool.name]),
            rejected_by=dict(Counter(each.plugin for each in against).most_common()),
            reasons=dict(reasons.most_common()),
        )

    def headroom(self, placements: Sequence[Placement]) -> Headroom:
        """Return what was free after each of some numbers of copies, evenly apart."""
        step = max(-(-len(placements) // (MAX_POINTS - 1)), 1)
        free = {name: Counter(amounts) for name, amounts in self._free.items()}
        copies, rows = [0], [self._row(free)]
        for number, each in enumerate(placements, 1):
            free[self._pool_of[each.node].name].subtract(self._taken(each))
            if number % step == 0 or number == len(placements):
                copies.append(number)
                rows.append(self._row(free))
        names = [pool.name for pool in self._pools]
        columns = list(zip(*rows, strict=True))
        series = iter(columns)
        return Headroom(
            tuple(copies),
            {resource: {name: next(series) for name in names} for resource in self._resources},
        )

    def _row(self, free: Mapping[str, Amounts]) -> tuple[int, ...]:
        return tuple(
            free[pool.name].get(resource, 0) for resource in self._resources for pool in self._pools
        )

    def _taken(self, placement: Placement) -> Amounts:
        return {**self._requests[placement.template], PODS: 1}
