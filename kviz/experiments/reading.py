"""Reads: what the results of an experiment say, in sentences, a table and a chart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kviz.common.csv_file import Cell
from kviz.experiments.models import Experiment, Result
from kviz.experiments.questions.trials import DIFFERENCES, n_worse
from kviz.experiments.selectors import results_of

ROWS_SHOWN: Final = 300
BATCH: Final = 1_000


@dataclass(frozen=True)
class Row:
    """A variant as the table has it; `pods` names some that end differently, by how."""

    name: str
    problem: str
    bound: int
    pending: int
    worse: int
    different: Sequence[tuple[str, int]]
    pods: Sequence[tuple[str, Sequence[str], int]]


@dataclass(frozen=True)
class Chart:
    """Bars, one for each variant that was run, in the order of the table."""

    title: str
    axis: str
    names: Sequence[str]
    values: Sequence[int]


@dataclass(frozen=True)
class Report:
    """What a page shows of an experiment; `as_it_is` is None as long as nothing was run."""

    sentences: Sequence[str]
    as_it_is: Row | None = None
    rows: Sequence[Row] = ()
    n_rows: int = 0
    chart: Chart | None = None
    problems: Sequence[Row] = ()

    @property
    def chart_data(self) -> Mapping[str, object] | None:
        """The chart as the page's script reads it."""
        return asdict(self.chart) if self.chart else None


def report_of(experiment: Experiment) -> Report:
    """Read all results there are so far."""
    results = list(results_of(experiment=experiment).filter(variant__gt=0))
    first = experiment.results.filter(variant=0).first()
    as_it_is = _row(first) if first else None
    problems = [_row(each) for each in results if "problem" in each.outcome]
    rows = [_row(each) for each in results if "problem" not in each.outcome]
    if experiment.kind == "survive":
        rows.sort(key=lambda row: (-row.worse, row.name))
        values = [row.worse for row in rows]
        title = _("Pods that lose their place")
        sentences = _surviving(rows)
    else:
        rows.sort(key=lambda row: (row.pending, row.worse, row.name))
        values = [row.pending for row in rows]
        title = _("Pods pending in the end")
        sentences = _best(rows, as_it_is)
    return Report(
        sentences=sentences,
        as_it_is=as_it_is,
        rows=rows[:ROWS_SHOWN],
        n_rows=len(rows),
        chart=Chart(title, _("Variant"), [row.name for row in rows], values)
        if len(rows) > 1
        else None,
        problems=problems[:ROWS_SHOWN],
    )


def _row(result: Result) -> Row:
    outcome: Mapping[str, Any] = result.outcome
    different: Mapping[str, int] = outcome.get("different", {})
    pods: Mapping[str, Sequence[str]] = outcome.get("pods", {})
    return Row(
        name=result.name,
        problem=outcome.get("problem", ""),
        bound=outcome.get("bound", 0),
        pending=outcome.get("pending", 0),
        worse=n_worse(outcome),
        different=[(what, different.get(what, 0)) for what in DIFFERENCES],
        pods=[(what, named, different[what] - len(named)) for what, named in pods.items()],
    )


def _surviving(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    harmless = sum(row.worse == 0 for row in rows)
    worst = rows[0]
    whole = _("After %(n)d of %(all)d losses every pod that had a node has one.") % {
        "n": harmless,
        "all": len(rows),
    }
    if not worst.worse:
        return [_("Every loss is survived: all pods that had a node have one afterwards.")]
    hurts = ngettext(
        "Most is lost %(name)s: %(n)d pod loses its place.",
        "Most is lost %(name)s: %(n)d pods lose their place.",
        worst.worse,
    )
    return [hurts % {"name": worst.name, "n": worst.worse}, whole]


def _best(rows: Sequence[Row], as_it_is: Row | None) -> list[str]:
    if not rows or as_it_is is None:
        return []
    best = rows[0]
    counts = {"name": best.name, "n": best.pending, "was": as_it_is.pending}
    if best.pending >= as_it_is.pending:
        text = _("No variant leaves fewer pods pending than the cluster as it is: %(was)d.")
        return [text % counts]
    text = _('"%(name)s" leaves the fewest pods pending: %(n)d, and %(was)d as it is.')
    sentences = [text % counts]
    if best.worse:
        lost = ngettext(
            "With it %(n)d pod loses its place.", "With it %(n)d pods lose their place.", best.worse
        )
        sentences.append(lost % {"n": best.worse})
    return sentences


# ---------------------------------------------------------------- files

COLUMNS: Final = ("variant", "name", "problem", "bound", "pending", *DIFFERENCES)


def csv_rows(experiment: Experiment) -> Iterator[list[Sequence[Cell]]]:
    """The results as rows of `COLUMNS`, in the order in which they came, batch by batch."""
    after = 0
    while batch := list(results_of(experiment=experiment).filter(number__gt=after)[:BATCH]):
        yield [_csv_row(result) for result in batch]
        after = batch[-1].number


def _csv_row(result: Result) -> list[Cell]:
    outcome: Mapping[str, Any] = result.outcome
    different = outcome.get("different", {})
    told = [outcome.get("problem"), outcome.get("bound"), outcome.get("pending")]
    has_run = "problem" not in outcome
    counts = [different.get(what, 0) if has_run else None for what in DIFFERENCES]
    return [result.variant, result.name, *told, *counts]
