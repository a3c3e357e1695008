"""Variants that are compared with the run as it is: configurations, and changes of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kviz.common.csv_file import Cell
from kviz.experiments.charts import Bar, Bars, Part
from kviz.experiments.models import Result
from kviz.questions.whatif.jobs import DIFFERENCES, n_worse

ROWS_SHOWN: Final = 300


@dataclass(frozen=True)
class Row:
    """A variant as the table has it; `pods` names some that end differently, by how."""

    name: str
    bound: int
    pending: int
    worse: int
    different: Sequence[tuple[str, int]]
    pods: Sequence[tuple[str, Sequence[str], int]]


@dataclass(frozen=True)
class Tried:
    """What came of the variants; `as_it_is` is None as long as nothing was run."""

    sentences: Sequence[str]
    as_it_is: Row | None
    rows: Sequence[Row]
    n_rows: int
    charts: Sequence[Bars]


def read(results: Sequence[Result]) -> Tried:
    """Read the variants that were run."""
    as_it_is = next((_row(each) for each in results if not each.variant), None)
    rows = [_row(each) for each in results if each.variant]
    rows.sort(key=lambda row: (row.pending, row.worse, row.name))
    before = [Bar(_("as it is"), [as_it_is.pending])] if as_it_is else []
    chart = Bars(
        _("Pods pending in the end"),
        [Part(_("pending in the end"), "rejected")],
        [*before, *(Bar(row.name, [row.pending]) for row in rows)],
    )
    return Tried(
        sentences=_best(rows, as_it_is),
        as_it_is=as_it_is,
        rows=rows[:ROWS_SHOWN],
        n_rows=len(rows),
        charts=[chart] if len(rows) > 1 else [],
    )


def _row(result: Result) -> Row:
    outcome: Mapping[str, Any] = result.outcome
    different: Mapping[str, int] = outcome.get("different", {})
    pods: Mapping[str, Sequence[str]] = outcome.get("pods", {})
    return Row(
        name=result.name,
        bound=outcome.get("bound", 0),
        pending=outcome.get("pending", 0),
        worse=n_worse(outcome),
        different=[(what, different.get(what, 0)) for what in DIFFERENCES],
        pods=[(what, named, different[what] - len(named)) for what, named in pods.items()],
    )


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


def _counted(what: str) -> Callable[[Mapping[str, Any]], Cell]:
    return lambda outcome: outcome.get("different", {}).get(what, 0)


COLUMNS: Final[Mapping[str, Callable[[Mapping[str, Any]], Cell]]] = {
    "bound": lambda outcome: outcome.get("bound"),
    "pending": lambda outcome: outcome.get("pending"),
    **{what: _counted(what) for what in DIFFERENCES},
}
