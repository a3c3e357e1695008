"""A worker gets ready for questions about the run that it has executed last, before any is asked.

The page of a pending pod in a large cluster then waits only for the search, not for the cluster.
Nothing depends on it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from kviz.common.memory import memory_is_short
from kviz.experiments.loaded import LOADED
from kviz.forking.copies import Count
from kviz.runs.inputs import InvalidInput
from kviz.runs.models import Run
from kviz.runs.selectors import may_ask

MAX_LOADED: Final = 5_000
"""Objects of a cluster that a worker loads unasked: in half a second, in which nobody stops it."""


class _Wanted(Exception):
    """The worker is wanted for something that somebody asked for."""


def get_ready(*, key: str, wanted_elsewhere: Callable[[], bool]) -> None:
    """Load the cluster of a run that is over and left pods pending, and run it as it is.

    Only a cluster that takes long to load, while there is memory for it; not to the end if the
    worker is `wanted_elsewhere` meanwhile.
    """
    run = Run.objects.select_related("snapshot").filter(pk=key).first()
    if run is None or run.snapshot is None or not run.pending or not may_ask(run):
        return
    if sum(run.snapshot.counts.values()) <= MAX_LOADED or memory_is_short():
        return

    def look_around(_n_cycles: int) -> None:
        if wanted_elsewhere():
            raise _Wanted

    with suppress(_Wanted, InvalidInput):
        _ = LOADED.trials(run, Count(look_around)).as_it_is
