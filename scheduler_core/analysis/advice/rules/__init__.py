"""Rules that a cluster has to keep, checked by running the scheduler over it (docs/rules.md).

load_rules(text) -> tuple[Rule, ...]     raises ConfigError, each problem with field and line
check(rules, objects, options)           a Verdict for each, with the values it rests on
"""

from scheduler_core.analysis.advice.rules.checking import Verdict, check, runs_needed
from scheduler_core.analysis.advice.rules.reading import load_rules
from scheduler_core.analysis.advice.rules.vocabulary import Rule

__all__ = ["Rule", "Verdict", "check", "load_rules", "runs_needed"]
