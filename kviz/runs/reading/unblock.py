"""Reads: what would let a pending pod of a run bind, within the time that a request waits."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from typing import Final

from kviz.runs.execution.engine import cluster_of
from kviz.runs.inputs import invalid
from kviz.runs.models import Run
from scheduler_core.advice.trial import Trials
from scheduler_core.advice.unblock import NothingToUnblock, Unblocked, unblock
from scheduler_core.config import ConfigError, Problem
from scheduler_core.framework.plugin_calls import PluginFailure

MAX_SECONDS: Final = 10.0
"""So long is searched; what was found by then is the answer, and it says so."""
MAX_WORK: Final = 2_000_000
"""Cycles times objects (and 1,000) of a run that a request waits for."""


def unblocked(*, run: Run, pod: str) -> Unblocked:
    """Search for what would let a pod bind, in the cluster that the run began with.

    Raises InvalidInput.
    """
    until = time.monotonic() + MAX_SECONDS
    if run.is_observed or run.snapshot is None:
        raise invalid("run", [Problem((), "A real scheduler decided this run.")])
    objects, options = cluster_of(run)
    if run.cycles * (1_000 + len(objects)) > MAX_WORK:
        text = "This cluster takes longer than a request waits. `kviz unblock` takes its time."
        raise invalid("run", [Problem((), text)])
    try:
        (found,) = deque(_until(unblock(Trials(objects, options), pod), until), maxlen=1)
    except NothingToUnblock as error:
        raise invalid("pod", [Problem((), str(error))]) from error
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error
    except PluginFailure as failure:
        raise invalid("run", [Problem((), str(failure))]) from failure
    return found


def _until(search: Iterator[Unblocked], until: float) -> Iterator[Unblocked]:
    for found in search:
        yield found
        if time.monotonic() > until:
            return
