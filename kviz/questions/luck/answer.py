"""Many runs of one cluster, on all cores of the machine (`scheduler_core.analysis.advice.luck`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Final

from kviz.forking.copies import side_by_side
from scheduler_core.analysis.advice.coins import Coin
from scheduler_core.analysis.advice.luck import MIN_RUNS, ROUND, Batch, Luck, answered, ask
from scheduler_core.analysis.advice.pools import pools_of
from scheduler_core.analysis.advice.throws import Throw, Throwing
from scheduler_core.api import KubeObject, Node
from scheduler_core.sim.run import RunOptions

Progress = Callable[[int], None]
"""Hears how many runs are made."""
RUNS: Final = 1_000
"""So many are made at most where no number is given."""
WORK: Final = 15_000_000
"""Cycles times nodes (and 1,000) of all these runs: half a minute of two cores."""
AT_ONCE: Final = 5
"""So many runs are one piece of work."""


def runs_for(n_cycles: int, *, n_nodes: int) -> int:
    """Return how many runs answer in about a minute, by what one of them has to decide."""
    work = max(1, n_cycles * (1_000 + n_nodes))
    return min(RUNS, max(MIN_RUNS, WORK // work // ROUND * ROUND))


def luck(
    objects: Sequence[KubeObject],
    options: RunOptions,
    *,
    coins: Sequence[Coin],
    runs: int | None,
    seed: int,
    jobs: int,
    begin: Progress = lambda n: None,
    progress: Progress = lambda n: None,
) -> Luck:
    """Find out how lucky placements are; the answer does not depend on `jobs`, from 1.

    Without `runs` it is `runs_for` the cluster; `begin` hears how many it will be at most.
    Raises ConfigError and PluginFailure as a run does, and CopyDied.
    """
    pools = {
        node.name: pool.name
        for pool in pools_of(item for item in objects if isinstance(item, Node))
        for node in pool.nodes
    }
    throwing = Throwing(objects, options)
    if runs is None:
        runs = runs_for(throwing.n_cycles(coins), n_nodes=len(pools))
    begin(runs)
    with closing(_Making(throwing, coins, runs, seed, jobs, progress)) as making:
        return answered(ask(objects, coins, runs=runs, seed=seed, pools=pools), making.make)


class _Making:
    """Makes the runs of batches, here or in copies of this process.

    The copies go on with the next runs while it is still asked whether those that are made are
    enough.
    """

    def __init__(
        self,
        throwing: Throwing,
        coins: Sequence[Coin],
        runs: int,
        seed: int,
        jobs: int,
        progress: Progress,
    ) -> None:
        self._throwing = throwing
        self._coins = tuple(coins)
        self._runs = runs
        self._seed = seed
        self._jobs = jobs
        self._progress = progress
        self._n_made = 0
        self._tossed: tuple[Coin, ...] = ()
        """The coins of the runs that copies are making."""
        self._made: dict[int, Throw] = {}
        self._copies: Generator[tuple[int, list[Throw]], None, None] | None = None

    def make(self, batch: Batch) -> list[Throw]:
        if self._jobs == 1 or len(batch.runs) == 1 or not hasattr(os, "fork"):
            throws = self._throws(batch.coins, batch.runs)
        else:
            throws = self._by_copies(batch)
        self._n_made += len(throws)
        self._progress(self._n_made)
        return throws

    def close(self) -> None:
        """End the copies."""
        if self._copies is not None:
            self._copies.close()

    def _by_copies(self, batch: Batch) -> list[Throw]:
        if self._copies is None or self._tossed != batch.coins:
            self.close()
            self._copies, self._tossed, self._made = self._begun(batch), batch.coins, {}
        while any(number not in self._made for number in batch.runs):
            piece, throws = next(self._copies)
            self._made |= dict(enumerate(throws, piece * AT_ONCE))
        return [self._made.pop(number) for number in batch.runs]

    def _begun(self, batch: Batch) -> Generator[tuple[int, list[Throw]], None, None]:
        n_runs = self._runs if batch.coins == self._coins else batch.runs.stop
        self._throwing.prepare(batch.coins)

        def work(piece: int) -> list[Throw]:
            first = piece * AT_ONCE
            return self._throws(batch.coins, range(first, min(first + AT_ONCE, n_runs)))

        return side_by_side(self._jobs)(work, iter(range(-(-n_runs // AT_ONCE))))

    def _throws(self, coins: Sequence[Coin], numbers: range) -> list[Throw]:
        return [self._throwing.throw(coins, self._seed, number) for number in numbers]
