"""The coins that a real scheduler tosses where kviz pins, one by one, with a model of each.

`arrival`: pods of equal priority that pend when a scheduler starts enter its queue in an order
that nothing fixes. Model: every order of the pending pods is as likely as any other.

`start`: a scheduler that has been running for a while begins its next search at any node. Model:
every node is as likely as any other. (One that has just started begins at the first.)

`workers`: the workers of a search take chunks of neighbouring nodes, and append what fits as they
get done. Model: `parallelism` workers, upstream's chunks, and for each node a time drawn from one
exponential distribution: each busy worker is equally likely to finish next. Where
nodes share the top score this order decides, because v1.36 takes the root of a heap built over the
list; in clusters where the search stops early it also decides which nodes are scored at all.

`maps`: nodes that PreFilter narrowed the search to, and candidates of preemption that no criterion
parts, come out of Go maps; preemption begins at a random node. Model: every order, and every node,
is as likely as any other.

`draws`: among equal totals lots are drawn, each node as likely as any other. That is the rule of
releases before v1.36, which has no such coin.

Upstream: v1.36 pkg/scheduler/schedule_one.go (findNodesThatPassFilters),
framework/parallelize/parallelism.go (chunkSizeFor).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isqrt
from typing import Final, Literal, get_args

import numpy as np

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.framework.chance import Pinned
from scheduler_core.releases.table import TieBreak
from scheduler_core.wording import say

Coin = Literal["arrival", "start", "workers", "maps", "draws"]
COINS: Final[tuple[Coin, ...]] = get_args(Coin)

IN_WORDS: Final[dict[Coin, str]] = {
    "arrival": say("luck.arrival_order", "the order of arrival"),
    "start": say("luck.search_start", "the node at which the search starts"),
    "workers": say("luck.worker_order", "the order in which parallel workers finish"),
    "maps": say("luck.map_order", "the order of Go's maps"),
    "draws": say("luck.tie_draw", "the draw among equal scores"),
}


def coins_of(tie_break: TieBreak) -> tuple[Coin, ...]:
    """Return the coins that a scheduler with this rule for ties tosses."""
    return COINS if tie_break == "draw" else tuple(coin for coin in COINS if coin != "draws")


class Tosses(Pinned):
    """Tosses some coins for one run after another; all others stay pinned.

    What comes up depends on seed, coin and run alone: neither the other coins nor what was tossed
    before count. `n_choices` says how often each coin had anything to decide in this run. Lots
    among equal totals are drawn by the run itself, with `draw_seed`.
    """

    def __init__(self, coins: Collection[Coin], seed: int, n_workers: int) -> None:
        self._n_workers = n_workers
        self.begin(coins, seed, 0)

    def begin(self, coins: Collection[Coin], seed: int, run: int) -> None:
        """Begin a run with these coins: forget what the one before has tossed."""
        self._coins = frozenset(coins)
        self._seed = seed
        self._run = run
        self.n_choices: dict[Coin, int] = {}
        self._generators = {
            coin: np.random.default_rng(self._seed_of(coin))
            for coin in COINS
            if coin in self._coins
        }

    @property
    def draw_seed(self) -> Sequence[int] | None:
        """What lots among equal totals are drawn with; None if that coin is not tossed."""
        return self._seed_of("draws") if "draws" in self._coins else None

    def _seed_of(self, coin: Coin) -> Sequence[int]:
        return self._seed, COINS.index(coin), self._run

    def arrival_order(self, n_pods: int) -> IntArray | None:
        return self._order("arrival", n_pods)

    def start_index(self, n_nodes: int) -> int:
        lots = self._lots("start", n_nodes)
        return 0 if lots is None else int(lots.integers(n_nodes))

    def finishing_order(self, n_nodes: int) -> IntArray | None:
        if self._n_workers == 1:
            return None
        lots = self._lots("workers", n_nodes)
        return None if lots is None else finishing_order(n_nodes, self._n_workers, lots)

    def narrowed_order(self, n_nodes: int) -> IntArray | None:
        return self._order("maps", n_nodes)

    def first_candidate(self, n_nodes: int) -> int:
        lots = self._lots("maps", n_nodes)
        return 0 if lots is None else int(lots.integers(n_nodes))

    def break_tie(self, node_names: Sequence[str]) -> str:
        lots = self._lots("maps", len(node_names))
        return node_names[0 if lots is None else int(lots.integers(len(node_names)))]

    def _order(self, coin: Coin, n: int) -> IntArray | None:
        lots = self._lots(coin, n)
        return None if lots is None else lots.permutation(n)

    def _lots(self, coin: Coin, n: int) -> np.random.Generator | None:
        """Return what to draw from; None where the coin is pinned or there is nothing to choose."""
        lots = self._generators.get(coin) if n > 1 else None
        if lots is not None:
            self.n_choices[coin] = self.n_choices.get(coin, 0) + 1
        return lots


def finishing_order(n_nodes: int, n_workers: int, lots: np.random.Generator) -> IntArray:
    """Draw the order in which workers are done with nodes, int64 (n_nodes,)."""
    took = lots.standard_exponential(n_nodes)
    size = chunk_size(n_nodes, n_workers)
    if size == 1 and n_nodes <= n_workers:
        return np.argsort(took, kind="stable")
    done = np.empty(n_nodes)
    free_at = [0.0] * n_workers
    for begin in range(0, n_nodes, size):
        worker = min(range(n_workers), key=free_at.__getitem__)
        chunk = free_at[worker] + np.cumsum(took[begin : begin + size])
        done[begin : begin + size] = chunk
        free_at[worker] = float(chunk[-1])
    return np.argsort(done, kind="stable")


def chunk_size(n_nodes: int, n_workers: int) -> int:
    """Return how many neighbouring nodes a worker takes at a time."""
    return max(min(isqrt(n_nodes), n_nodes // n_workers + 1), 1)
