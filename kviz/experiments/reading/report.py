"""What a page and the files say of an experiment, by its kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kviz.common.csv_file import Cell
from kviz.experiments.models import Experiment, Result
from kviz.experiments.reading.charts import Chart
from kviz.experiments.selectors import results_of
from kviz.questions.capacity import report as capacity
from kviz.questions.luck import report as luck
from kviz.questions.nodes import report as nodes
from kviz.questions.survive import report as losses
from kviz.questions.unblock import report as unblock
from kviz.questions.whatif import report as trials

BATCH: Final = 1_000

Columns = Mapping[str, Callable[[Mapping[str, Any]], Cell]]
"""What the table of a kind has of an outcome, by the name of the column."""

COLUMNS: Final[Mapping[str, Columns]] = {
    "capacity": capacity.COLUMNS,
    "changes": trials.COLUMNS,
    "configurations": trials.COLUMNS,
    "luck": luck.COLUMNS,
    "nodes": nodes.COLUMNS,
    "survive": losses.COLUMNS,
    "unblock": unblock.COLUMNS,
}


@dataclass(frozen=True)
class Report:
    """What a page shows of an experiment; `found` is what the template of its kind reads."""

    template: str
    sentences: Sequence[str]
    found: object
    charts: Sequence[Chart] = ()
    problems: Sequence[tuple[str, str]] = field(default=())


def report_of(experiment: Experiment) -> Report:
    """Read all results there are so far."""
    results = list(results_of(experiment=experiment).order_by("variant"))
    problems = [
        (each.name, each.outcome["problem"]) for each in results if "problem" in each.outcome
    ]
    run = [each for each in results if "problem" not in each.outcome]
    template, sentences, found, charts = _read(experiment, run)
    return Report(template, sentences, found, charts, problems[: trials.ROWS_SHOWN])


def _read(
    experiment: Experiment, run: Sequence[Result]
) -> tuple[str, Sequence[str], object, Sequence[Chart]]:
    match experiment.kind:
        case "survive":
            lost = losses.read(run)
            return "questions/survive/report.html", lost.sentences, lost, lost.charts
        case "luck":
            tossed = luck.read(experiment, run)
            return "questions/luck/report.html", tossed.sentences, tossed, tossed.charts
        case "capacity":
            filled = capacity.read(run)
            return "questions/capacity/report.html", filled.sentences, filled, filled.charts
        case "nodes":
            sets = nodes.read(run)
            return "questions/nodes/report.html", sets.sentences, sets, ()
        case "unblock":
            helps = unblock.read(experiment, run)
            return "questions/unblock/report.html", helps.sentences, helps, ()
        case _:
            tried = trials.read(run)
            return "questions/whatif/report.html", tried.sentences, tried, tried.charts


# ---------------------------------------------------------------- files


def columns_of(experiment: Experiment) -> list[str]:
    return ["variant", "name", "problem", *COLUMNS[experiment.kind]]


def csv_rows(experiment: Experiment) -> Iterator[list[Sequence[Cell]]]:
    """The results as rows of `columns_of`, in the order in which they came, batch by batch."""
    columns = COLUMNS[experiment.kind]
    after = 0
    while batch := list(results_of(experiment=experiment).filter(number__gt=after)[:BATCH]):
        yield [_csv_row(result, columns) for result in batch]
        after = batch[-1].number


def _csv_row(result: Result, columns: Columns) -> list[Cell]:
    outcome = result.outcome
    cells = [None if "problem" in outcome else cell(outcome) for cell in columns.values()]
    return [result.variant, result.name, outcome.get("problem"), *cells]
