"""The cluster that was loaded last, kept for the next question about it.

Loading a cluster of 5,000 nodes takes a worker a second, and running it as it is most of another.
What it has of that serves all questions with the same inputs. It is kept for some time, as long as
there is memory for it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from kviz.common.memory import memory_is_short
from kviz.runs.execution.engine import cluster_of
from kviz.runs.inputs import INPUTS
from kviz.runs.models import Run
from scheduler_core.analysis.advice.trial import Trials

IDLE_S: Final = 900.0
"""After so long without a question the cluster is given up."""


@dataclass
class _Heard:
    """The receiver of cycles: the current caller, not the one that loaded the cluster."""

    by: Callable[[], None]

    def __call__(self) -> None:
        self.by()


@dataclass
class _Loaded:
    inputs: str
    trials: Trials
    heard: _Heard
    used_s: float


class LoadedCluster:
    """At most one cluster, with what it comes to as it is."""

    def __init__(self) -> None:
        self._loaded: _Loaded | None = None

    def trials(self, run: Run, on_cycle: Callable[[], None]) -> Trials:
        """Return the trials of what a run is made of, loaded or not. Raises InvalidInput."""
        inputs, loaded = _inputs(run), self._loaded
        if loaded is None or loaded.inputs != inputs:
            self._loaded = None  # before the next one takes memory
            heard = _Heard(on_cycle)
            objects, options = cluster_of(run)
            trials = Trials(objects, replace(options, on_cycle=heard))
            loaded = self._loaded = _Loaded(inputs, trials, heard, 0.0)
        loaded.heard.by = on_cycle
        loaded.used_s = time.monotonic()
        return loaded.trials

    def tidy(self) -> None:
        """Give the cluster up if nobody asks about it any more, or if memory is short."""
        loaded = self._loaded
        if loaded and (time.monotonic() - loaded.used_s > IDLE_S or memory_is_short()):
            self._loaded = None


LOADED: Final = LoadedCluster()
"""Of this process; copies share it."""


def _inputs(run: Run) -> str:
    assert run.snapshot is not None
    values = [getattr(run, name) for name in INPUTS]
    return json.dumps([str(run.snapshot.pk), run.snapshot.sha256, values], sort_keys=True)
