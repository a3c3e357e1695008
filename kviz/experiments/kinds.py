"""The kinds of question that an experiment may ask. A question registers its own when kviz starts.

Experiments know of a question what its `Kind` says, and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec
from django.http import QueryDict

from kviz.common.csv_file import Cell
from kviz.experiments.charts import Chart
from kviz.experiments.models import Experiment, Result
from kviz.experiments.question import Beginning, Question
from kviz.runs.execution.engine import cluster_of
from kviz.runs.inputs import INPUTS, InvalidInput
from kviz.runs.models import Run
from scheduler_core.api import KubeObject

Columns = Mapping[str, Callable[[Mapping[str, Any]], Cell]]
"""What the table of a kind has of an outcome, by the name of the column."""


class Answered(Protocol):
    """What the results come to so far; the template of the kind reads more of it."""

    @property
    def sentences(self) -> Sequence[str]: ...

    @property
    def charts(self) -> Sequence[Chart]: ...


@dataclass(frozen=True)
class Choice:
    """A kind's part of the form that offers several.

    `asked` has, for each value of the radio buttons in `template`, what a sent form asks; it raises
    InvalidInput. `shown` is what the template reads, after what an address or a sent form says.
    """

    template: str
    asked: Mapping[str, Callable[[QueryDict], Mapping[str, object]]]
    shown: Callable[[QueryDict], Mapping[str, object]] = lambda _given: {}


@dataclass(frozen=True)
class Kind:
    """A kind of question: how it is asked, answered and shown."""

    name: str
    """As REST and rows have it."""
    asked: type[msgspec.Struct]
    """What may be asked, as REST is given it."""
    checked: Callable[[Any, Run], dict[str, Any]]
    """A value of `asked` about a run at its beginning, as it is stored. Raises InvalidInput."""
    expected: Callable[[Mapping[str, Any], Mapping[str, int]], int]
    """How many variants it will be at most, by what is stored and the counts of objects."""
    question: Callable[[Beginning, Mapping[str, Any]], Question[Any]]
    title: Callable[[Mapping[str, Any]], str]
    """What an experiment without a name is called; of nothing asked, what the kind is called."""
    answered: Callable[[Experiment, Sequence[Result]], Answered]
    template: str
    columns: Columns
    choice: Choice | None = None
    """Its part of the common form; several kinds may share one."""
    page: str = ""
    """The URL name of a separate form."""


_KINDS: dict[str, Kind] = {}


def register(kind: Kind) -> None:
    """Let experiments ask it."""
    _KINDS[kind.name] = kind


def kind_named(name: str) -> Kind:
    return _KINDS[name]


def kinds() -> list[Kind]:
    """All of them, by name."""
    return [_KINDS[name] for name in sorted(_KINDS)]


def checked(kind: str, asked: object, beginning: Run) -> dict[str, Any]:
    """What is asked, as an experiment stores it. Raises InvalidInput."""
    known = _KINDS[kind]
    try:
        read = msgspec.convert(asked, known.asked)
    except msgspec.ValidationError as error:
        raise refused("asked", str(error)) from error
    return known.checked(read, beginning)


def refused(field: str, message: str) -> InvalidInput:
    """The error for a field of what is asked."""
    return InvalidInput([{"field": field, "message": message}])


def objects_at(beginning: Run) -> list[KubeObject]:
    """The objects that a run begins with, after its changes. Raises InvalidInput."""
    return cluster_of(beginning)[0]


def question_of(experiment: Experiment, on_cycle: Callable[[], None]) -> Question[Any]:
    """The question of an experiment about its cluster."""
    beginning = Beginning(run_of(experiment), on_cycle)
    return _KINDS[experiment.kind].question(beginning, experiment.asked)


def run_of(experiment: Experiment) -> Run:
    """The run that all variants differ from; it is not stored."""
    inputs = {name: experiment.inputs[name] for name in INPUTS if name in experiment.inputs}
    return Run(workspace=experiment.workspace, snapshot=experiment.snapshot, **inputs)
