"""Many runs of one cluster, on all cores of the machine (`scheduler_core.advice.luck`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial

from kviz.answers.forked import mapped
from scheduler_core.advice.coins import Coin
from scheduler_core.advice.luck import Batch, Luck, answered, ask
from scheduler_core.advice.pools import pools_of
from scheduler_core.advice.throws import Throw, throw
from scheduler_core.api import KubeObject, Node
from scheduler_core.sim.run import RunOptions

Progress = Callable[[int], None]
"""Hears how many runs are made."""


def luck(
    objects: Sequence[KubeObject],
    options: RunOptions,
    *,
    coins: Sequence[Coin],
    runs: int,
    seed: int,
    jobs: int,
    progress: Progress = lambda n: None,
) -> Luck:
    """Find out how lucky placements are; the answer does not depend on `jobs`, from 1.

    Raises ConfigError and PluginFailure as a run does, and CopyDied.
    """
    pools = {
        node.name: pool.name
        for pool in pools_of(item for item in objects if isinstance(item, Node))
        for node in pool.nodes
    }
    make = _Making(objects, options, seed, jobs, progress)
    return answered(ask(objects, coins, runs=runs, seed=seed, pools=pools), make)


class _Making:
    """Makes the runs of batches, here or in copies of this process."""

    def __init__(
        self,
        objects: Sequence[KubeObject],
        options: RunOptions,
        seed: int,
        jobs: int,
        progress: Progress,
    ) -> None:
        self._objects = objects
        self._options = options
        self._seed = seed
        self._jobs = jobs
        self._progress = progress
        self._n_made = 0

    def __call__(self, batch: Batch) -> list[Throw]:
        slices = [batch.runs[i :: self._jobs] for i in range(self._jobs)]
        work = partial(self._throws, batch.coins)
        if self._jobs == 1 or len(batch.runs) == 1 or not hasattr(os, "fork"):
            parts = [work(each) for each in slices]
        else:
            parts = mapped(work, slices, self._jobs)
        throws = {
            number: throw
            for numbers, part in zip(slices, parts, strict=True)
            for number, throw in zip(numbers, part, strict=True)
        }
        self._n_made += len(throws)
        self._progress(self._n_made)
        return [throws[number] for number in batch.runs]

    def _throws(self, coins: Sequence[Coin], numbers: range) -> list[Throw]:
        return [
            throw(self._objects, self._options, coins, self._seed, number) for number in numbers
        ]
