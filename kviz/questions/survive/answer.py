"""What survives losses, each run in a copy of the process."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kviz.forking.copies import CopyDied, Died, Done, as_done
from scheduler_core.analysis.advice.survival import Aftermath, Loss, Replicas, Standing
from scheduler_core.sim.run import Run

Progress = Callable[[int], None]
"""Called with how many losses are done."""


@dataclass(frozen=True)
class Survival:
    """What became of every loss, in the order in which they were asked for."""

    aftermaths: tuple[Aftermath, ...]
    broken_before: tuple[Replicas, ...]
    n_pending_before: int


def survival(
    run: Run,
    standing: Standing,
    losses: Sequence[Loss],
    jobs: int,
    progress: Progress = lambda n: None,
) -> Survival:
    """Run every loss in a copy of the process, so that all share the loaded cluster.

    Raises CopyDied for a loss whose process is killed twice.
    """
    found: dict[int, Aftermath] = {}
    work = as_done(lambda number: standing.after(run, losses[number]), range(len(losses)), jobs)
    for results in work:
        for each in results:
            if isinstance(each, Died):
                raise CopyDied(each.reason)
            if isinstance(each, Done):
                found[each.number] = each.value
        progress(len(found))
    ordered = tuple(found[number] for number in range(len(losses)))
    return Survival(ordered, standing.broken, len(standing.pending))
