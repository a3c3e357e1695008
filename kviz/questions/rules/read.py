"""Reads: rules checked on the cluster of a run, for its page and for scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from kviz.common.wording import translated
from kviz.runs.execution.engine import made_of
from kviz.runs.inputs import invalid, refuse_hidden
from kviz.runs.models import Run
from scheduler_core.analysis.advice.rules import Rule, Verdict, check, load_rules, runs_needed
from scheduler_core.analysis.advice.rules.reading import read_rules
from scheduler_core.config import ConfigError, JsonValue, Problem
from scheduler_core.framework.plugin_calls import PluginFailure
from scheduler_core.wording import builtins, say

MAX_WORK: Final = 60_000
"""Runs times objects (and 1,000) that a page waits for: some seconds."""


def verdicts_of(*, run: Run, rules: JsonValue) -> Sequence[Verdict]:
    """Check rules, as text or as a value, on the cluster that the run began with.

    Raises InvalidInput.
    """
    if run.is_observed or run.snapshot is None:
        raise invalid(
            "run", [Problem((), say("run.observed", "A real scheduler decided this run."))]
        )
    try:
        return _checked(run, _read(rules))
    except PluginFailure as failure:
        raise invalid("rules", [Problem((), str(failure))]) from failure


def _checked(run: Run, rules: Sequence[Rule]) -> tuple[Verdict, ...]:
    """Check rules on the cluster of a run, by its rules of scheduling (docs/rules.md).

    Extenders are not called. Raises InvalidInput.
    """
    refuse_hidden(run)
    objects, options = made_of(run)
    n_runs = runs_needed(rules, objects)
    if n_runs * (1_000 + len(objects)) > MAX_WORK:
        text = say(
            "run.too_many_runs",
            "That takes {n:,} runs of this cluster, more than a page waits for",
            n=n_runs,
        )
        problem = Problem((), f"{text}. `kviz check` makes as many as it takes.")
        raise invalid("rules", [problem])
    try:
        return check(rules, objects, options)
    except ConfigError as error:
        raise invalid("scheduler_config", error.problems) from error


def _read(rules: JsonValue) -> Sequence[Rule]:
    try:
        return load_rules(rules) if isinstance(rules, str) else read_rules(rules)
    except ConfigError as error:
        raise invalid("rules", error.problems) from error


def values_in_words(verdict: Verdict) -> str:
    """The values that a verdict rests on, as JSON for people."""
    return msgspec.json.format(
        msgspec.json.encode(builtins(translated(dict(verdict.values)))), indent=2
    ).decode()
