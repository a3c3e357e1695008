"""The rules between pods that share a topology domain, as arrays over classes and nodes.

Each reads the final context of a pod: all others are where they are, and the pod itself is not
there yet. `C` classes, `N` nodes; a node of domain -1 is in none.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.cluster.arrays import ABSENT, BoolArray, IntArray

MAX_CELLS: Final = 1_000_000
"""So large a matrix of nodes and domains is multiplied with; beyond that sums are added up."""


@dataclass(frozen=True, eq=False)
class Domains:
    """The domain of each node, int64 (N,), numbered from 0; -1 for a node that is in none."""

    of_node: IntArray
    n: int

    def sums(self, amounts: IntArray) -> IntArray:
        """Add up `amounts` (..., N) over the nodes of each domain, int64 (..., n)."""
        inside = np.flatnonzero(self.of_node != ABSENT)
        if self.n * self.of_node.size > MAX_CELLS:
            flat = amounts.reshape(-1, self.of_node.size)
            at = self.of_node[inside]
            added = [np.bincount(at, weights=row[inside], minlength=self.n) for row in flat]
            whole = np.array(added).reshape(*amounts.shape[:-1], self.n)
            return np.rint(whole).astype(np.int64)
        member = np.zeros((self.of_node.size, self.n))
        member[inside, self.of_node[inside]] = 1.0
        sums: IntArray = np.rint(amounts.astype(np.float64) @ member).astype(np.int64)
        return sums

    def nodes_of(self, domain: int) -> IntArray:
        return np.flatnonzero(self.of_node == domain)

    @property
    def key(self) -> bytes:
        return self.of_node.tobytes()


@dataclass(frozen=True, eq=False)
class Apart:
    """No domain may hold a pod of `owners` beside another one of `meant`; bool (C,) each.

    Required anti-affinity, which binds both ways, and host ports, whose domains are nodes.
    """

    plugin: str
    domains: Domains
    owners: BoolArray
    meant: BoolArray


@dataclass(frozen=True, eq=False)
class NearTerm:
    """A required affinity term: its domains, and how many pods that are there meet it in each."""

    domains: Domains
    existing: IntArray


@dataclass(frozen=True, eq=False)
class Near:
    """A pod of `owners` needs, for every term, another pod of `meant` in its domain.

    `meant` bool (C,): those who meet all terms. An owner among them may also be the first of its
    kind, where no pod that is meant is in any domain of any term.
    """

    terms: tuple[NearTerm, ...]
    owners: BoolArray
    meant: BoolArray

    @property
    def n_existing(self) -> int:
        return sum(int(term.existing.sum()) for term in self.terms)


@dataclass(frozen=True, eq=False)
class Spread:
    """Where a pod of `owners` is, no more than `max_skew` pods above the emptiest domain.

    `domains` are those of the nodes where pods count; `present` bool (n,) are the domains that take
    part, `existing` int64 (n,) the pods that count there already, `counted` bool (C,) whose pods
    count. With `from_zero` the emptiest domain counts as empty: there are fewer than `minDomains`.
    """

    domains: Domains
    present: BoolArray
    existing: IntArray
    owners: BoolArray
    counted: BoolArray
    max_skew: int
    from_zero: bool


@dataclass(frozen=True, eq=False)
class Wish:
    """A preferred affinity term: `weight` for each owner that has another meant pod in its domain.

    Below 0 for anti-affinity. `owners` int64 (C,): how often a class has the term. `existing`
    int64 (n,): meant pods that are there already.
    """

    weight: int
    domains: Domains
    existing: IntArray
    owners: IntArray
    meant: BoolArray


Rule = Apart | Near | Spread
