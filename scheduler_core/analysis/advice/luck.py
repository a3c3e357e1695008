"""How lucky a placement was: what becomes of pods over many orders of arrival and other coins.

`ask` yields the runs it needs, batch by batch, and receives how they ended; the caller may make
the runs of a batch anywhere. The result depends only on the cluster, the options and the seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from scheduler_core.analysis.advice.coins import Coin
from scheduler_core.analysis.advice.intervals import Share
from scheduler_core.analysis.advice.throws import GONE, PENDING, Cast, Throw
from scheduler_core.api import KubeObject

ROUND: Final = 50
"""So many runs are made before it is asked again whether they are enough."""
ALONE: Final = 25
"""With one coin alone at least so many, where there are as many with all."""
MIN_RUNS: Final = 100
"""Fewer are never enough to say that something held in all of them."""
TIGHT: Final = 0.04
"""Intervals of at most so much to either side are tight."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Runs to be made: these coins are tossed, all others pinned."""

    coins: tuple[Coin, ...]
    runs: range


Throws: TypeAlias = Sequence[Throw]


@dataclass(frozen=True, slots=True)
class PodLuck:
    """What became of one pod. `pinned` is its node in the run as kviz pins it, empty for none.

    `nodes` and `pools` are those it came to, most often first. `deciding` are the coins that,
    tossed alone, bring it elsewhere than the pinned run does.
    """

    pod: str
    pinned: str
    bound: Share
    as_pinned: Share
    nodes: tuple[tuple[str, Share], ...]
    pools: tuple[tuple[str, Share], ...]
    deciding: tuple[Coin, ...]

    @property
    def held(self) -> bool:
        """It ended in all runs as it does in the pinned one."""
        return self.as_pinned.n == self.as_pinned.of


@dataclass(frozen=True, slots=True)
class Alone:
    """What a coin does when it alone is tossed: in so many runs, so many pods end otherwise.

    `runs` is 0 for a coin that never had anything to decide.
    """

    coin: Coin
    runs: int
    n_pods: int


@dataclass(frozen=True, slots=True)
class Luck:
    """What many runs came to. `left` are pods that lost the node they had, in some of the runs.

    `is_tight` says that the runs ended because every interval was tight, before `asked` were made.
    """

    seed: int
    asked: int
    runs: int
    is_tight: bool
    coins: tuple[Coin, ...]
    pods: tuple[PodLuck, ...]
    left: tuple[tuple[str, Share], ...]
    alone: tuple[Alone, ...]

    @property
    def placements(self) -> tuple[PodLuck, ...]:
        """The pods that the pinned run places."""
        return tuple(each for each in self.pods if each.pinned)

    @property
    def n_held(self) -> int:
        """So many placements were the same in all runs."""
        return sum(each.held for each in self.placements)

    @property
    def n_always_bound(self) -> int:
        """So many of the pods that the pinned run places were bound in all runs, wherever."""
        return sum(each.bound.n == each.bound.of for each in self.placements)


Asking: TypeAlias = Generator[Batch, Throws, Luck]


def ask(
    objects: Sequence[KubeObject],
    coins: Sequence[Coin],
    *,
    runs: int,
    seed: int,
    pools: Mapping[str, str],
    tight: float = TIGHT,
) -> Asking:
    """Ask for at most `runs` runs with all the coins, and a tenth of that with each alone.

    `pools` has the pool of every node by name. Fewer runs are asked for if every interval is
    `tight` before.
    """
    cast = Cast(objects)
    (pinned,) = yield Batch((), range(1))
    tally = _Tally(cast, pinned)
    is_tight = False
    while tally.runs < runs and not is_tight:
        batch = range(tally.runs, min(tally.runs + ROUND, runs))
        tally.take((yield Batch(tuple(coins), batch)))
        is_tight = tally.runs >= MIN_RUNS and tally.widest() <= tight
    alone = []
    for coin in coins:
        other = tally if len(coins) == 1 else _Tally(cast, pinned)
        if other is not tally and (coin in tally.tossed or coin == "draws"):
            n_runs = min(max(tally.runs // 10, ALONE), tally.runs)
            other.take((yield Batch((coin,), range(n_runs))))
        alone.append((coin, other))
    return Luck(
        seed=seed,
        asked=runs,
        runs=tally.runs,
        is_tight=is_tight,
        coins=tuple(coins),
        pods=tuple(tally.pods(pools, alone)),
        left=tuple(tally.left()),
        alone=tuple(Alone(coin, each.runs, len(each.moved())) for coin, each in alone),
    )


class _Tally:
    """Counts where pods end in runs that toss the same coins."""

    def __init__(self, cast: Cast, pinned: Throw) -> None:
        self._cast = cast
        self._pinned = pinned
        self._places: list[Counter[str]] = [Counter() for _ in cast.pods]
        self._left: Counter[str] = Counter()
        self.runs = 0
        self.tossed: set[Coin] = set()

    def take(self, throws: Iterable[Throw]) -> None:
        for each in throws:
            self.runs += 1
            for counter, place in zip(self._places, each.places, strict=True):
                counter[place] += 1
            self._left.update(each.left)
            self.tossed.update(each.tossed)

    def widest(self) -> float:
        """Return half the length of the longest interval."""
        counts = {n for each in self._places for n in (_n_bound(each), *each.values())}
        return max((Share(n, self.runs).half_width for n in counts), default=0.0)

    def moved(self) -> set[str]:
        """Return the pods that did not always end as in the pinned run."""
        ends = zip(self._cast.pods, self._pinned.places, self._places, strict=True)
        return {pod for pod, pinned, places in ends if places[pinned] < self.runs}

    def pods(
        self, pools: Mapping[str, str], alone: Iterable[tuple[Coin, _Tally]]
    ) -> Iterator[PodLuck]:
        moved = [(coin, each.moved()) for coin, each in alone]
        ends = zip(self._cast.pods, self._pinned.places, self._places, strict=True)
        for pod, pinned, places in ends:
            nodes = {node: n for node, n in places.items() if node not in (PENDING, GONE)}
            of_pools: Counter[str] = Counter()
            for node, n in nodes.items():
                if node in pools:
                    of_pools[pools[node]] += n
            yield PodLuck(
                pod=pod,
                pinned="" if pinned == GONE else pinned,
                bound=Share(_n_bound(places), self.runs),
                as_pinned=Share(places[pinned], self.runs),
                nodes=self._shares(nodes),
                pools=self._shares(of_pools),
                deciding=tuple(coin for coin, pods in moved if pod in pods),
            )

    def left(self) -> tuple[tuple[str, Share], ...]:
        """Return the pods that lost their node in some runs, most often first."""
        return self._shares(self._left)

    def _shares(self, counts: Mapping[str, int]) -> tuple[tuple[str, Share], ...]:
        often_first = sorted(counts.items(), key=lambda each: (-each[1], each[0]))
        return tuple((name, Share(n, self.runs)) for name, n in often_first)


def _n_bound(places: Counter[str]) -> int:
    return places.total() - places[PENDING] - places[GONE]


def answered(asking: Asking, make: Callable[[Batch], Throws]) -> Luck:
    """Have the runs made that are asked for, and return what they come to."""
    batch = next(asking)
    while True:
        try:
            batch = asking.send(make(batch))
        except StopIteration as end:
            luck: Luck = end.value
            return luck
