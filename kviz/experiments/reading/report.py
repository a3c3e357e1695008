"""What a page and the files say of an experiment, by its kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from kviz.common.csv_file import Cell
from kviz.experiments.kinds import Answered, Columns, kind_named
from kviz.experiments.models import Experiment, Result
from kviz.experiments.selectors import results_of

BATCH: Final = 1_000
PROBLEMS_SHOWN: Final = 300


@dataclass(frozen=True)
class Report:
    """What a page shows of an experiment; `found` is what the template of its kind reads."""

    template: str
    found: Answered
    problems: Sequence[tuple[str, str]] = field(default=())

    def told(self, *, is_over: bool) -> tuple[str, str]:
        """The headline, and what follows it; before the end there is no headline yet."""
        sentences = self.found.sentences
        if is_over:
            return "".join(sentences[:1]), " ".join(sentences[1:])
        return "", " ".join(sentences)


def report_of(experiment: Experiment) -> Report:
    """Read all results there are so far."""
    kind = kind_named(experiment.kind)
    results = list(results_of(experiment=experiment).order_by("variant"))
    problems = [
        (each.name, each.outcome["problem"]) for each in results if "problem" in each.outcome
    ]
    run = [each for each in results if "problem" not in each.outcome]
    return Report(kind.template, kind.answered(experiment, run), problems[:PROBLEMS_SHOWN])


# ---------------------------------------------------------------- files


def columns_of(experiment: Experiment) -> list[str]:
    return ["variant", "name", "problem", *kind_named(experiment.kind).columns, "release"]


def csv_rows(experiment: Experiment) -> Iterator[list[Sequence[Cell]]]:
    """The results as rows of `columns_of`, in the order in which they came, batch by batch."""
    columns = kind_named(experiment.kind).columns
    for batch in result_batches(experiment):
        yield [[*_csv_row(result, columns), experiment.release_text] for result in batch]


def result_batches(experiment: Experiment) -> Iterator[list[Result]]:
    """The results in the order in which they came; no query stays open between two batches."""
    after = 0
    while batch := list(results_of(experiment=experiment).filter(number__gt=after)[:BATCH]):
        yield batch
        after = batch[-1].number


def _csv_row(result: Result, columns: Columns) -> list[Cell]:
    outcome = result.outcome
    cells = [None if "problem" in outcome else cell(outcome) for cell in columns.values()]
    return [result.variant, result.name, outcome.get("problem"), *cells]
