"""The questions that an experiment may ask, by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kviz.experiments.models import Experiment
from kviz.experiments.questions.question import Question
from kviz.experiments.questions.trials import Trials, losses
from kviz.runs.inputs import INPUTS
from kviz.runs.models import Run
from kviz.snapshots.selectors import snapshot_objects_cached

Making = Callable[[Run, Mapping[str, Any]], Question[Any]]
"""Makes a question about a run, which is not stored, out of what is asked."""


def _survive(run: Run, asked: Mapping[str, Any]) -> Question[Any]:
    assert run.snapshot is not None
    return Trials(run, losses(snapshot_objects_cached(snapshot=run.snapshot), asked["of"]))


QUESTIONS: Final[Mapping[str, Making]] = {
    "changes": lambda run, asked: Trials(run, asked["variants"]),
    "configurations": lambda run, asked: Trials(run, asked["variants"]),
    "survive": _survive,
}


def question_of(experiment: Experiment) -> Question[Any]:
    """The question of an experiment about its cluster."""
    return QUESTIONS[experiment.kind](run_of(experiment), experiment.asked)


def run_of(experiment: Experiment) -> Run:
    """The run that all variants differ from; it is not stored."""
    inputs = {name: experiment.inputs[name] for name in INPUTS}
    return Run(workspace=experiment.workspace, snapshot=experiment.snapshot, **inputs)
