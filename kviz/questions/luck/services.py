"""Writes: how lucky the placements of a run were, found out while somebody waits."""

from __future__ import annotations

from typing import Final

from kviz.questions.luck.text import luck_json
from kviz.runs.execution.engine import lucky
from kviz.runs.inputs import invalid
from kviz.runs.models import Cycle, Run
from scheduler_core.config import Problem
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.wording import say

RUNS: Final = 100
"""So many are made while somebody waits."""
MAX_WORK: Final = 40_000
"""Cycles times nodes (and 1,000) of a run that is made so often: some 50 ms."""

MAX_UNASKED: Final = 100_000
"""The same where nobody waits: half a minute of one core, for all the runs."""
MAX_LOADED: Final = 5_000
"""Objects of a cluster that a worker loads unasked: in half a second, in which nobody stops it."""


def is_small(run: Run) -> bool:
    """Whether finding out takes seconds."""
    return _work(run) <= MAX_WORK


def _work(run: Run) -> int:
    last = run.cycle_rows.order_by("-number").first()
    n_nodes = last.n_nodes if last is not None else 0
    return run.cycles * (1_000 + n_nodes)


def is_told_unasked(run: Run) -> bool:
    """Whether to find it out as soon as the run is over: it has placements, and is not large."""
    if not may_ask(run) or _work(run) > MAX_UNASKED or run.snapshot is None:
        return False
    placed = run.cycle_rows.filter(result=Cycle.Result.SCHEDULED)
    return sum(run.snapshot.counts.values()) <= MAX_LOADED and placed.exists()


def may_ask(run: Run) -> bool:
    """Whether it can be said at all: kviz has decided the run, without extenders, to its end."""
    has_extenders = "extenders:" in run.scheduler_config or '"extenders"' in run.scheduler_config
    simulated = not run.is_observed and run.snapshot is not None
    return simulated and run.status == Run.Status.FINISHED and not has_extenders


def luck_find(*, run: Run) -> None:
    """Run it many times, and store what comes of it with the run. Raises InvalidInput."""
    if not may_ask(run):
        text = say(
            "luck.finished_only",
            "Luck is found out for simulated runs that are finished and call no extenders.",
        )
        raise invalid("run", [Problem((), text)])
    if not is_small(run):
        text = say(
            "luck.too_long",
            "This cluster takes longer than a page waits for: `kviz luck` finds out.",
        )
        raise invalid("run", [Problem((), text)])
    try:
        found = lucky(run, RUNS)
    except PluginFailure as failure:
        raise invalid("run", [Problem((), str(failure))]) from failure
    Run.objects.filter(pk=run.pk).update(luck=luck_json(found))
    run.refresh_from_db(fields=["luck"])
