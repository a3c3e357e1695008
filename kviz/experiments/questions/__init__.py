"""The questions that an experiment may ask, by kind."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from kviz.experiments.models import Experiment
from kviz.experiments.questions.filling import Filling
from kviz.experiments.questions.losses import Losses
from kviz.experiments.questions.nodes import NodeSets
from kviz.experiments.questions.question import Beginning, Question
from kviz.experiments.questions.tosses import Tosses
from kviz.experiments.questions.trials import Trials
from kviz.experiments.questions.unblocking import Unblocking
from kviz.runs.inputs import INPUTS
from kviz.runs.models import Run

Making = Callable[[Beginning, Mapping[str, Any]], Question[Any]]
"""Makes a question out of what is asked."""


QUESTIONS: Final[Mapping[str, Making]] = {
    "capacity": lambda begun, asked: Filling(begun, asked["templates"], asked["max"]),
    "changes": lambda begun, asked: Trials(begun, asked["variants"]),
    "configurations": lambda begun, asked: Trials(begun, asked["variants"]),
    "luck": lambda begun, asked: Tosses(begun, asked["runs"], asked["coins"]),
    "nodes": lambda begun, asked: NodeSets(
        begun, asked["shapes"], asked["max_runs"], asked["drain"]
    ),
    "survive": lambda begun, asked: Losses(begun, asked["of"], asked.get("sets", ())),
    "unblock": lambda begun, asked: Unblocking(begun, asked["pod"], asked["owner"]),
}


def question_of(experiment: Experiment, on_cycle: Callable[[], None]) -> Question[Any]:
    """The question of an experiment about its cluster."""
    return QUESTIONS[experiment.kind](Beginning(run_of(experiment), on_cycle), experiment.asked)


def run_of(experiment: Experiment) -> Run:
    """The run that all variants differ from; it is not stored."""
    inputs = {name: experiment.inputs[name] for name in INPUTS}
    return Run(workspace=experiment.workspace, snapshot=experiment.snapshot, **inputs)
