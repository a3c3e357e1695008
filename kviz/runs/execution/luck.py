"""Writes: how lucky the placements of a run were, found out while somebody waits."""

from __future__ import annotations

from typing import Final

from kviz.answers.luck_text import luck_json
from kviz.runs.execution.engine import lucky
from kviz.runs.inputs import invalid
from kviz.runs.models import Run
from scheduler_core.config import Problem
from scheduler_core.framework.plugin_calls import PluginFailure

RUNS: Final = 100
"""So many are made while somebody waits."""
MAX_WORK: Final = 40_000
"""Cycles times nodes (and 1,000) of a run that is made so often: some 50 ms."""


def is_small(run: Run) -> bool:
    """Whether finding out takes seconds."""
    last = run.cycle_rows.order_by("-number").first()
    n_nodes = last.n_nodes if last is not None else 0
    return run.cycles * (1_000 + n_nodes) <= MAX_WORK


def may_ask(run: Run) -> bool:
    """Whether it can be said at all: kviz has decided the run, without extenders, to its end."""
    has_extenders = "extenders:" in run.scheduler_config or '"extenders"' in run.scheduler_config
    simulated = not run.is_observed and run.snapshot is not None
    return simulated and run.status == Run.Status.FINISHED and not has_extenders


def luck_find(*, run: Run) -> None:
    """Run it many times, and store what comes of it with the run. Raises InvalidInput."""
    if not may_ask(run):
        text = "Luck is found out for simulated runs that are finished and call no extenders."
        raise invalid("run", [Problem((), text)])
    if not is_small(run):
        text = "This cluster takes longer than a page waits for: `kviz luck` finds out."
        raise invalid("run", [Problem((), text)])
    try:
        found = lucky(run, RUNS)
    except PluginFailure as failure:
        raise invalid("run", [Problem((), str(failure))]) from failure
    Run.objects.filter(pk=run.pk).update(luck=luck_json(found))
    run.refresh_from_db(fields=["luck"])
