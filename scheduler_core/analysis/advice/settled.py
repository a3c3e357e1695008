"""A cluster in which the scheduler has done what it can: what the questions start from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from scheduler_core.api import KubeObject
from scheduler_core.sim.run import Run, RunOptions


def settled(objects: Sequence[KubeObject], options: RunOptions) -> Run:
    """Run the scheduler until it is over, and return the run, to be gone on with.

    Pods that wait at the start have their turn first. Raises ConfigError and PluginFailure as a
    run does.
    """
    run = Run(objects, replace(options, details=False))
    for _ in run.events():
        pass
    return run
