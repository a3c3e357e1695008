"""Writes: how lucky the placements of a run were, found out while somebody waits."""

from __future__ import annotations

from typing import Final

from django.conf import settings

from kviz.experiments.execution.ready import MAX_LOADED
from kviz.experiments.services import begin_unasked
from kviz.questions.luck.answer import luck
from kviz.questions.luck.text import luck_json
from kviz.runs.execution.engine import made_of
from kviz.runs.inputs import invalid, refuse_hidden
from kviz.runs.models import Cycle, Run
from kviz.runs.selectors import may_ask
from scheduler_core.analysis.advice.coins import coins_of
from scheduler_core.analysis.advice.luck import Luck
from scheduler_core.config import ConfigError, Problem
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.wording import say

RUNS: Final = 100
"""So many are made while somebody waits."""
MAX_WORK: Final = 40_000
"""Cycles times nodes (and 1,000) of a run that is made so often: some 50 ms."""

MAX_UNASKED: Final = 100_000
"""The same where nobody waits: half a minute of one core, for all the runs."""


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
        found = _lucky(run)
    except PluginFailure as failure:
        raise invalid("run", [Problem((), str(failure))]) from failure
    Run.objects.filter(pk=run.pk).update(luck=luck_json(found))
    run.refresh_from_db(fields=["luck"])


def luck_begin(*, run: Run) -> None:
    """Have it found out, when nothing else waits, how lucky a small run was that is over.

    Not where the run is part of a lesson or of a game that hides what comes.
    """
    if settings.LUCK_OF_RUNS and run.hidden_after is None and is_told_unasked(run):
        begin_unasked(run=run, kind="luck", asked={"runs": RUNS, "coins": []})


def _lucky(run: Run) -> Luck:
    """Run what a run was made of many times (docs/luck.md); extenders are not called.

    Raises InvalidInput, also for one that is hidden.
    """
    refuse_hidden(run)
    objects, options = made_of(run)
    coins = coins_of(options.tie_break)
    try:
        return luck(objects, options, coins=coins, runs=RUNS, seed=options.seed, jobs=1)
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error
