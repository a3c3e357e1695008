"""The questions that an experiment may ask, by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kviz.experiments.models import Experiment
from kviz.experiments.questions.filling import Filling
from kviz.experiments.questions.losses import Losses
from kviz.experiments.questions.nodes import NodeSets
from kviz.experiments.questions.question import Question
from kviz.experiments.questions.tosses import Tosses
from kviz.experiments.questions.trials import Trials
from kviz.experiments.questions.unblocking import Unblocking
from kviz.runs.inputs import INPUTS
from kviz.runs.models import Run

Making = Callable[[Run, Mapping[str, Any]], Question[Any]]
"""Makes a question about a run, which is not stored, out of what is asked."""


QUESTIONS: Final[Mapping[str, Making]] = {
    "capacity": lambda run, asked: Filling(run, asked["templates"], asked["max"]),
    "changes": lambda run, asked: Trials(run, asked["variants"]),
    "configurations": lambda run, asked: Trials(run, asked["variants"]),
    "luck": lambda run, asked: Tosses(run, asked["runs"], asked["coins"]),
    "nodes": lambda run, asked: NodeSets(run, asked["shapes"], asked["max_runs"], asked["drain"]),
    "survive": lambda run, asked: Losses(run, asked["of"]),
    "unblock": lambda run, asked: Unblocking(run, asked["pod"], asked["owner"]),
}


def question_of(experiment: Experiment) -> Question[Any]:
    """The question of an experiment about its cluster."""
    return QUESTIONS[experiment.kind](run_of(experiment), experiment.asked)


def run_of(experiment: Experiment) -> Run:
    """The run that all variants differ from; it is not stored."""
    inputs = {name: experiment.inputs[name] for name in INPUTS}
    return Run(workspace=experiment.workspace, snapshot=experiment.snapshot, **inputs)
