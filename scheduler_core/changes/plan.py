"""When changes are made: before a run begins, or when one of its cycles would begin."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scheduler_core.api import KubeObject
from scheduler_core.changes.applying import RestingCluster, apply, refuse_many
from scheduler_core.changes.lines import ChangeError
from scheduler_core.changes.rules import Rules, changed_rules
from scheduler_core.changes.sentences import sentence
from scheduler_core.changes.vocabulary import Change, StepChange
from scheduler_core.config.problems import Problem
from scheduler_core.wording import say


@dataclass(frozen=True, slots=True)
class ChangeAt:
    """A change, and the cycle that begins when it has been made; 0: before the run begins."""

    change: Change
    cycle: int = 0


@dataclass(frozen=True, slots=True)
class StepAtCycle:
    """A change made at the moment when a cycle (from 1) would begin."""

    cycle: int
    change: StepChange


@dataclass(frozen=True)
class Plan:
    """What a run starts with, and what is changed during it, in order of the cycles."""

    objects: list[KubeObject]
    rules: Rules
    later: tuple[StepAtCycle, ...]


def plan(objects: Sequence[KubeObject], rules: Rules, changes: Sequence[ChangeAt]) -> Plan:
    """Return the inputs of a run with changes.

    Those of one cycle are made in their order. Raises ChangeError for a change that cannot be
    carried out before the run, and for one that cannot be made later.
    """
    refuse_many([each.change for each in changes])
    at_rest = [each.change for each in changes if each.cycle == 0]
    later = later_steps(changes)
    return Plan(apply(objects, at_rest), changed_rules(rules, at_rest), later)


def later_steps(changes: Sequence[ChangeAt]) -> tuple[StepAtCycle, ...]:
    """Return the changes made during the run. Raises ChangeError for those of rules."""
    steps, problems = [], []
    for i, each in enumerate(changes):
        if each.cycle == 0:
            continue
        if isinstance(each.change, StepChange):
            steps.append(StepAtCycle(each.cycle, each.change))
        else:
            text = say(
                "change.from_beginning_only",
                "holds from the beginning of a run; it cannot be changed at a cycle",
            )
            problems.append(Problem(("changes", i), text))
    if problems:
        raise ChangeError(problems)
    return tuple(sorted(steps, key=lambda step: step.cycle))


def in_words(
    objects: Sequence[KubeObject], rules: Rules, changes: Iterable[ChangeAt]
) -> tuple[str, ...]:
    """Return a sentence for each change, each with the values before it.

    Of changes at a cycle the values are those of the cluster that the run began with.
    """
    sentences = []
    cluster = RestingCluster(objects)
    for each in changes:
        sentences.append(sentence(each.change, cluster, rules))
        if each.cycle == 0:
            cluster = RestingCluster(apply(cluster.objects(), [each.change]))
            rules = changed_rules(rules, [each.change])
    return tuple(sentences)
