"""Which nodes could be drained, on all cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kviz.forking.copies import mapped
from scheduler_core.analysis.advice.nodes.draining import Drained, Kept, candidates, drain, plan
from scheduler_core.sim.run import Run


@dataclass(frozen=True)
class Draining:
    """Nodes that can go one after the other, and those that cannot; `n_tried` of `n_nodes`."""

    drained: tuple[Drained, ...]
    kept: tuple[Kept, ...]
    n_nodes: int

    @property
    def n_tried(self) -> int:
        return len(self.drained) + len(self.kept)


def draining(run: Run, n_nodes: int, limit: int, jobs: int) -> Draining:
    """Drain as many nodes of a settled run as possible; each is tried in a copy of the process.

    Raises CopyDied for a drain whose process is killed twice.
    """

    def try_each(names: Sequence[str]) -> list[Drained | Kept]:
        return mapped(lambda name: drain(run, name), names, jobs)

    found = list(plan(candidates(run, limit), run, try_each, jobs))
    return Draining(
        tuple(each for each in found if isinstance(each, Drained)),
        tuple(each for each in found if isinstance(each, Kept)),
        n_nodes,
    )
