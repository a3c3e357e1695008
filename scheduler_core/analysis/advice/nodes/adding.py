"""The cheapest nodes with which every pending pod binds: found by packing, proved by runs.

1. Packing proposes a set; a run shows which pods still pend; they are packed again, until none does
   or nothing more helps.
2. Nodes are left out, and replaced by cheaper ones, one at a time, as long as a run places all.
3. All sets that cost less are gone through in order of their price. Arithmetic rules most of them
   out, a run each of the others. If there are too many, the answer is not called minimal.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import comb
from typing import Final

from scheduler_core.analysis.advice.nodes.needs import Need, needs_of
from scheduler_core.analysis.advice.nodes.offers import Offer, Terms, in_new_zone
from scheduler_core.analysis.advice.nodes.packing import (
    Counts,
    Prices,
    least_price,
    may_hold,
    packed,
    prices_of,
)
from scheduler_core.analysis.advice.pools import zone_of
from scheduler_core.analysis.advice.trial import RunEnd, Trials
from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.changes.owners import is_terminating
from scheduler_core.sim.run import RunOptions

MAX_VAIN_ROUNDS: Final = 4
"""After so many rounds of packing in a row that help nobody no more is packed."""
MAX_RUNS: Final = 120
"""So many runs of the cluster at most, unless another number is given."""
MAX_SETS: Final = 20_000
"""So many sets that cost less are looked at, at most."""
HOPELESS: Final = 100
"""If there may be more than so many times as many, none is."""


@dataclass(frozen=True)
class Unhelped:
    """A pod that pends whatever nodes are added, and what its last cycle said."""

    pod: str
    message: str


@dataclass(frozen=True)
class Addition:
    """Nodes to add, and what a run with them says.

    `placed` are the pods that bind with them and would pend otherwise, by node. `is_minimal` says
    that every set that costs less was ruled out: `n_refuted` by arithmetic, others by runs.
    No set costs less than `least_price`. `evicted` are pods that are preempted all the same, and
    `n_evicted_without` is how many are without these nodes.
    """

    offers: tuple[Offer, ...]
    counts: Counts
    prices: Prices
    placed: Mapping[str, str]
    unhelped: tuple[Unhelped, ...]
    evicted: tuple[str, ...]
    n_evicted_without: int
    least_price: Fraction
    is_minimal: bool
    n_runs: int
    n_refuted: int

    @property
    def n_nodes(self) -> int:
        return sum(self.counts)


def nodes_to_add(
    objects: Sequence[KubeObject],
    options: RunOptions,
    offers: Sequence[Offer],
    max_runs: int = MAX_RUNS,
) -> Addition:
    """Find the cheapest set of offered nodes that lets the pending pods bind, and prove it.

    If they do not help all, nodes in a zone that does not exist yet are offered, too. No more pods
    may be evicted than without the nodes. Raises ConfigError and PluginFailure.
    """
    found = _Search(objects, options, tuple(offers), max_runs).result()
    zones = {zone_of(each) for each in objects if isinstance(each, Node)}
    farther = in_new_zone(offers, zones) if found.unhelped else ()
    if not farther:
        return found
    other = _Search(objects, options, (*offers, *farther), max_runs).result()
    return other if len(other.unhelped) < len(found.unhelped) else found


@dataclass
class _Search:
    objects: Sequence[KubeObject]
    options: RunOptions
    offers: tuple[Offer, ...]
    max_runs: int
    n_runs: int = 0
    n_refuted: int = 0
    targets: frozenset[str] = frozenset()
    _ends: dict[Counts, RunEnd] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.trials = Trials(self.objects, self.options)
        self.prices = prices_of(self.offers)
        self.none = (0,) * len(self.offers)
        self._ends[self.none] = self.trials.as_it_is

    def result(self) -> Addition:
        base = self.trials.as_it_is
        pending = set(base.keys("pending"))
        pods = [each for each in self.objects if isinstance(each, Pod) and each.key in pending]
        pods = [each for each in pods if not is_terminating(each) and base.of(each.key).cycle]
        needs = needs_of(self.objects, self.options, pods, self.offers) if pods else ()
        helped = [need for need in needs if need.offers]
        counts = self._grown(helped)
        self.targets = frozenset(
            need.pod for need in helped if self._end(counts).of(need.pod).outcome == "bound"
        )
        helped = [need for need in helped if need.pod in self.targets]
        if not self.targets:
            return self._addition(self.none, Fraction(0), True, pending)
        least = least_price(helped, self.offers, self.prices)
        counts, is_minimal = self._cheapest(self._shrunk(counts), helped, least)
        return self._addition(counts, least, is_minimal, pending)

    # ------------------------------------------------------------ runs

    def _end(self, counts: Counts) -> RunEnd:
        found = self._ends.get(counts)
        if found is None:
            self.n_runs += 1
            pairs = zip(self.offers, counts, strict=True)
            added = [item for offer, n in pairs for item in offer.items(n)]
            found = self._ends[counts] = self.trials.of([*self.objects, *added])
        return found

    def _evicted(self, end: RunEnd) -> Iterator[str]:
        """Yield the pods that a run evicts: those that were terminating before it are none."""
        known = {each.key: each for each in self.objects if isinstance(each, Pod)}
        for key in end.keys("evicted"):
            if key not in known or not is_terminating(known[key]):
                yield key

    def _places_all(self, counts: Counts) -> bool:
        end = self._end(counts)
        bind = all(end.of(pod).outcome == "bound" for pod in self.targets)
        n_evicted, n_before = (len(e.keys("evicted")) for e in (end, self.trials.as_it_is))
        return bind and n_evicted <= n_before

    # ------------------------------------------------------------ the search

    def _grown(self, needs: Sequence[Need]) -> Counts:
        """Pack what pends, run, and pack again what still does, as long as that helps somebody.

        A round may help nobody and the next one do: pods that had a place may have moved.
        """
        counts = best = self.none
        left, fewest, n_vain = list(needs), len(needs), 0
        while left and n_vain < MAX_VAIN_ROUNDS:
            more = packed(left, self._offers_left(counts), self.prices)
            counts = tuple(a + b for a, b in zip(counts, more, strict=True))
            end = self._end(counts)
            left = [need for need in needs if end.of(need.pod).outcome != "bound"]
            n_vain += 1
            if len(left) < fewest:
                best, fewest, n_vain = counts, len(left), 0
        return best

    def _offers_left(self, counts: Counts) -> list[Offer]:
        return [_fewer(offer, n) for offer, n in zip(self.offers, counts, strict=True)]

    def _shrunk(self, counts: Counts) -> Counts:
        """Leave nodes out, and take cheaper ones instead, as long as all are placed."""
        cheaper = next(self._better(counts), None)
        while cheaper is not None:
            counts = cheaper
            cheaper = next(self._better(counts), None)
        return counts

    def _better(self, counts: Counts) -> Iterator[Counts]:
        """Yield sets that a run proves, one node less or one for a cheaper one."""
        total = self.prices.total(counts)
        proposals = [_moved(counts, i, None) for i, n in enumerate(counts) if n]
        proposals += [
            _moved(counts, i, j)
            for i, n in enumerate(counts)
            for j in range(len(counts))
            if n and i != j and self._can_have(j, counts[j] + 1)
        ]
        cheaper = [each for each in proposals if self.prices.total(each) < total]
        for each in sorted(cheaper, key=lambda each: (self.prices.total(each), each)):
            if self.n_runs >= self.max_runs:
                return
            if self._places_all(each):
                yield each

    def _cheapest(
        self, counts: Counts, needs: Sequence[Need], least: Fraction
    ) -> tuple[Counts, bool]:
        """Go through all sets that cost less, the cheapest first; return what was proved."""
        limit = self.prices.total(counts)[0]
        if not self._places_all(counts):
            return counts, False
        if limit <= least:
            return counts, True
        if self._n_sets(limit) > MAX_SETS * HOPELESS:
            return counts, False
        for n_sets, each in enumerate(self._by_price(limit)):
            if n_sets >= MAX_SETS:
                return counts, False
            if not may_hold(needs, self.offers, each):
                self.n_refuted += 1
            elif self.n_runs >= self.max_runs and each not in self._ends:
                return counts, False
            elif self._places_all(each):
                return each, True
        return counts, True

    def _n_sets(self, limit: Fraction) -> int:
        """Return how many sets cost less at most, were all nodes as cheap as the cheapest."""
        prices = [price[0] for price in self.prices.of if price is not None]
        if not min(prices):
            return 0
        n_nodes = int(limit / min(prices))
        return comb(n_nodes + len(prices), len(prices))

    def _by_price(self, limit: Fraction) -> Iterator[Counts]:
        """Yield sets in order of their price, below a limit; each once."""
        heap = [(self.prices.total(self.none), self.none, 0)]
        while heap:
            total, counts, first = heapq.heappop(heap)
            yield counts
            for i in range(first, len(counts)):
                more = _moved(counts, None, i)
                if self._can_have(i, more[i]):
                    total = self.prices.total(more)
                    if total[0] < limit:
                        heapq.heappush(heap, (total, more, i))

    def _can_have(self, offer: int, n: int) -> bool:
        at_most = self.offers[offer].terms.at_most
        return self.prices.of[offer] is not None and (at_most is None or n <= at_most)

    def _addition(
        self, counts: Counts, least: Fraction, is_minimal: bool, pending: set[str]
    ) -> Addition:
        end = self._end(counts)
        ends = {pod: end.of(pod) for pod in sorted(pending)}
        return Addition(
            offers=self.offers,
            counts=counts,
            prices=self.prices,
            placed={pod: each.node for pod, each in ends.items() if each.outcome == "bound"},
            unhelped=tuple(
                Unhelped(pod, each.message) for pod, each in ends.items() if each.outcome != "bound"
            ),
            evicted=tuple(self._evicted(end)),
            n_evicted_without=len(list(self._evicted(self.trials.as_it_is))),
            least_price=least,
            is_minimal=is_minimal,
            n_runs=self.n_runs,
            n_refuted=self.n_refuted,
        )


def _moved(counts: Counts, out: int | None, into: int | None) -> Counts:
    return tuple(n - (i == out) + (i == into) for i, n in enumerate(counts))


def _fewer(offer: Offer, n: int) -> Offer:
    """Return the offer as it is when `n` of it are taken."""
    at_most = offer.terms.at_most
    if at_most is None:
        return offer
    return replace(offer, terms=Terms(offer.terms.price, max(at_most - n, 0)))
