"""How lucky placements are: many runs of one cluster, with other coins each time (docs/luck.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

from kviz.experiments.question import Beginning, Outcome, Running, Variant
from kviz.forking.copies import MANY
from kviz.questions.luck.text import luck_json
from scheduler_core.analysis.advice.coins import COINS, Coin, coins_of
from scheduler_core.analysis.advice.luck import Batch, answered, ask
from scheduler_core.analysis.advice.pools import pools_of
from scheduler_core.analysis.advice.throws import Cast, Throw, Throwing
from scheduler_core.api import KubeObject, Node
from scheduler_core.sim.run import RunOptions

RUNS: Final = 1_000
"""So many are asked for unless another number is given."""
MAX_RUNS: Final = 100_000
AT_ONCE: Final = 5
"""So many runs are one variant: a tenth of what is asked for before it may be enough."""
PINNED: Final = "as kviz pins it"


@dataclass(frozen=True)
class Toss(Variant):
    """Some runs in a row, with these coins tossed and all others pinned."""

    coins: tuple[Coin, ...] = ()
    runs: range = range(1)


class Tosses:
    """Tosses coins until the intervals are tight, or as often as was asked for.

    The outcome of the first variant says where pods end as kviz pins the run; the others say which
    pods ended elsewhere, by their places in that.
    """

    per_copy: Final = MANY

    def __init__(self, begun: Beginning, runs: int, coins: Sequence[str]) -> None:
        self._begun = begun
        self._runs = runs
        self._chosen = coins
        self._pinned: Throw | None = None

    @cached_property
    def _cluster(self) -> tuple[Sequence[KubeObject], RunOptions]:
        return self._begun.cluster()

    @cached_property
    def _coins(self) -> tuple[Coin, ...]:
        if self._chosen:
            return tuple(coin for coin in COINS if coin in self._chosen)
        return coins_of(self._cluster[1].tie_break)

    @cached_property
    def _throwing(self) -> Throwing:
        return Throwing(*self._cluster)

    def answer(self, running: Running[Toss]) -> Outcome:
        objects, options = self._cluster
        self._throwing.prepare(self._coins)
        pools = _pools(objects)
        asking = ask(objects, self._coins, runs=self._runs, seed=options.seed, pools=pools)
        return luck_json(
            answered(asking, lambda batch: self._throws(running.all(list(_variants(batch)))))
        )

    def _throws(self, outcomes: Sequence[Outcome]) -> list[Throw]:
        if self._pinned is None:
            self._pinned = _pinned(outcomes[0])
            return [self._pinned]
        runs = (cast("Sequence[Mapping[str, Any]]", each["runs"]) for each in outcomes)
        return [_throw(each, self._pinned) for some in runs for each in some]

    def carry_out(self, variant: Toss) -> Outcome:
        objects, options = self._cluster
        throw = self._throwing.throw
        throws = [throw(variant.coins, options.seed, number) for number in variant.runs]
        if self._pinned is None:
            (pinned,) = throws
            pods = list(Cast(objects).pods)
            return {"pods": pods, "places": list(pinned.places), "left": list(pinned.left)}
        return {
            "coins": list(variant.coins),
            "runs": [_difference(each, self._pinned) for each in throws],
        }


def _pools(objects: Sequence[KubeObject]) -> dict[str, str]:
    pools = pools_of(item for item in objects if isinstance(item, Node))
    return {node.name: pool.name for pool in pools for node in pool.nodes}


def _variants(batch: Batch) -> Iterator[Toss]:
    if not batch.coins:
        yield Toss(PINNED)
        return
    coins = " and ".join([", ".join(batch.coins[:-1]), batch.coins[-1]]).removeprefix(" and ")
    for first in range(0, len(batch.runs), AT_ONCE):
        runs = batch.runs[first : first + AT_ONCE]
        yield Toss(f"{coins}: runs {runs[0] + 1:,} to {runs[-1] + 1:,}", batch.coins, runs)


def _difference(found: Throw, pinned: Throw) -> dict[str, object]:
    places = enumerate(zip(found.places, pinned.places, strict=True))
    moved = {str(i): place for i, (place, before) in places if place != before}
    return {"moved": moved, "left": list(found.left), "tossed": list(found.tossed)}


def _pinned(outcome: Outcome) -> Throw:
    stored = cast("Mapping[str, Sequence[str]]", outcome)
    return Throw(tuple(stored["places"]), tuple(stored["left"]), ())


def _throw(stored: Mapping[str, Any], pinned: Throw) -> Throw:
    places = list(pinned.places)
    for i, place in stored["moved"].items():
        places[int(i)] = place
    return Throw(tuple(places), tuple(stored["left"]), tuple(stored["tossed"]))


def expected_tosses(runs: int, n_coins: int) -> int:
    """How many variants that many runs are at most, with each coin alone."""
    alone = n_coins * (max(runs // 10, 25) // AT_ONCE + 1) if n_coins > 1 else 0
    return 1 + runs // AT_ONCE + 1 + alone
