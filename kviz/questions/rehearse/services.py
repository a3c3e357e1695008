"""Writes: a rehearsed upgrade becomes two runs, one under each release."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, cast

from kviz.experiments.kinds import refused, run_of
from kviz.experiments.models import Experiment
from kviz.runs.inputs import INPUTS, changes_of, rules_of
from kviz.runs.models import Run
from kviz.runs.services import RunInputs, run_create, run_prepare
from scheduler_core.analysis.rehearsal import carried
from scheduler_core.changes import changed_rules
from scheduler_core.changes.vocabulary import SwitchGate
from scheduler_core.releases import RELEASES
from scheduler_core.releases.table import TieBreak
from scheduler_core.trace.records import QueueOrder
from scheduler_core.wording import say

LOOKED_AT: Final = 100
"""So many of a cluster's newest runs are looked at: one of them may be what is wanted."""
DECIDES: Final = tuple(name for name in INPUTS if name != "release_told")
USABLE: Final = (Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.FINISHED)


def both_runs(*, experiment: Experiment) -> tuple[Run, Run]:
    """Return the runs of the cluster under the old and the new release; queue those not there.

    Raises InvalidInput and TooManyAtOnce.
    """
    begun = run_of(experiment)
    changes = changes_of(begun)
    if any(each.cycle for each in changes):
        text = say(
            "rehearsal.changed_later",
            "The run was changed after its first cycle, so it cannot be made again under another "
            "release.",
        )
        raise refused("run", text)
    rules = changed_rules(rules_of(begun), [each.change for each in changes])
    target = RELEASES[experiment.asked["to"]]
    return (
        _run(experiment, begun, begun.release, rules.gates),
        _run(experiment, begun, target.name, carried(rules, target).rules.gates),
    )


def _run(experiment: Experiment, begun: Run, release: str, gates: Mapping[str, bool]) -> Run:
    """Return a run under a release: one that is there, or else a new one."""
    changes = (each.change for each in changes_of(begun))
    inputs: RunInputs = {
        "scheduler_config": begun.scheduler_config,
        "scenario": begun.scenario,
        "seed": begun.seed,
        "release": release,
        "feature_gates": gates,
        "tie_break": cast("TieBreak", begun.tie_break),
        "queue_order": cast("QueueOrder", begun.queue_order),
        "changes": [each for each in changes if not isinstance(each, SwitchGate)],
    }
    of, snapshot = experiment.workspace, experiment.snapshot
    wanted = run_prepare(workspace=of, snapshot=snapshot, **inputs)
    there = Run.objects.filter(
        workspace=of, snapshot=snapshot, release=release, hidden_after=None, status__in=USABLE
    )
    for run in there.order_by("-created_at")[:LOOKED_AT]:
        if all(getattr(run, name) == getattr(wanted, name) for name in DECIDES):
            return run
    return run_create(workspace=of, snapshot=snapshot, **inputs)
