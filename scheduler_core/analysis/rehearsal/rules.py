"""What another release makes of a configuration and of the gates that are switched today."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from scheduler_core.analysis.compare import argument_settings
from scheduler_core.analysis.compare.inputs import Setting
from scheduler_core.changes import Rules
from scheduler_core.config import ConfigError
from scheduler_core.config.problems import Problem
from scheduler_core.releases.table import Release
from scheduler_core.wording import say


@dataclass(frozen=True)
class Carried:
    """Rules as another release takes them.

    `rules` have no gate that is refused; `starts` is False where the configuration is, for then
    the scheduler does not start. `refused` and `ignored` say why, by gate or field; `changed` are
    gates and arguments that have another value.
    """

    rules: Rules
    starts: bool
    refused: Mapping[str, str]
    ignored: Mapping[str, str]
    changed: tuple[Setting, ...]


def carried(rules: Rules, target: Release) -> Carried:
    """Return what a release makes of rules. Raises ConfigError where their own refuses them."""
    gates, refused = _kept(rules.gates, target)
    new = replace(rules, gates=gates, release=target)
    today, changed = rules.load(), tuple(_gates_changed(rules, new))
    starts = True
    try:
        changed += tuple(argument_settings(today, new.load()))
    except ConfigError as error:
        starts = False
        refused |= {each.field: each.message for each in error.problems}
    return Carried(new, starts, refused, dict(_ignored(rules, new)), changed)


def _kept(gates: Mapping[str, bool], target: Release) -> tuple[dict[str, bool], dict[str, str]]:
    """Return the gates that a release takes, and why it refuses the others."""
    kept, refused = dict(gates), dict[str, str]()
    while True:
        try:
            Rules(gates=kept, release=target).features()
            return kept, refused
        except ConfigError as error:
            for problem in error.problems:
                for name in _to_blame(problem, kept, target):
                    del kept[name]
                    refused[name] = problem.message


def _to_blame(problem: Problem, gates: Mapping[str, bool], target: Release) -> list[str]:
    """Return which switched gates a problem is about: one, or those that another one needs."""
    name = str(problem.path[-1])
    if name in gates:
        return [name]
    spec = target.gates.get(name) or target.elsewhere[name]
    return [needed for needed in spec.requires if gates.get(needed) is False]


def _ignored(old: Rules, new: Rules) -> Iterator[tuple[str, str]]:
    """Yield the switched gates that have no effect any more."""
    for name in new.gates:
        spec = new.release.gates.get(name)
        before = old.release.gates.get(name)
        if before is None:
            continue
        if spec is None:
            yield (
                name,
                say(
                    "rehearsal.unread",
                    "The scheduler of v{release} takes it and does not read it.",
                    release=new.release.name,
                ),
            )
        elif spec.locked and not before.locked:
            yield (
                name,
                say(
                    "rehearsal.locked",
                    "It is locked in v{release}, so setting it has no effect; a later release "
                    "will not know it.",
                    release=new.release.name,
                ),
            )


def _gates_changed(old: Rules, new: Rules) -> Iterator[Setting]:
    """Yield the gates of both releases that are on in one only."""
    before, after = old.features(), new.features()
    for name in sorted(old.release.gates.keys() & new.release.gates.keys()):
        a, b = before.enabled(name), after.enabled(name)
        if a is not b:
            yield Setting(name, str(a).lower(), str(b).lower())
