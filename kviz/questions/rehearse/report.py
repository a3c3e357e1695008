"""The page of an experiment that rehearsed an upgrade."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from kviz.common.csv_file import Cell
from kviz.common.wording import translated
from kviz.experiments.charts import Chart
from kviz.experiments.models import Experiment, Result
from kviz.questions.rehearse.text import GONE, PENDING, Row, rows

ROWS_SHOWN: Final = 300


@dataclass(frozen=True)
class Place:
    """Where a pod is under one release, in words; `message` says why it is on no node."""

    text: str
    is_node: bool
    message: str = ""


@dataclass(frozen=True)
class Shown:
    """A pod that ends otherwise, as the table has it; `because` are rows of `switches`."""

    row: Row
    before: Place
    after: Place
    because: Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Report:
    """What was rehearsed; `told` is None before it is finished."""

    told: Mapping[str, Any] | None
    sentences: Sequence[str]
    rows: Sequence[Shown]
    n_rows: int
    changes: Sequence[Mapping[str, Any]]
    charts: Sequence[Chart] = ()

    @property
    def diverges(self) -> bool:
        """Whether there is anything to see in both runs side by side."""
        return bool(self.told and self.told.get("first_divergence"))


def read(experiment: Experiment, _results: Sequence[Result]) -> Report:
    """Read the answer."""
    told = experiment.answer
    if not told:
        return Report(None, (), (), 0, ())
    found = list(rows(told))
    switches = {each["name"]: each for each in told.get("switches", ())}
    return Report(
        told,
        translated(told["sentences"]),
        [_shown(each, switches) for each in found[:ROWS_SHOWN]],
        len(found),
        list(switches.values()),
    )


def _shown(row: Row, switches: Mapping[str, Mapping[str, Any]]) -> Shown:
    because = [switches[name] for name in row.because]
    return Shown(row, _place(row.before, row), _place(row.after, row), because)


def _place(place: str, row: Row) -> Place:
    if place == PENDING:
        return Place(_("pending"), is_node=False, message=row.message)
    if place == GONE:
        return Place(_("evicted"), is_node=False)
    return Place(place, is_node=True) if place else Place(_("not evicted"), is_node=False)


def _n(kind: str) -> Callable[[Mapping[str, Any]], Cell]:
    return lambda outcome: len(outcome["differs"][kind])


COLUMNS: Final[Mapping[str, Callable[[Mapping[str, Any]], Cell]]] = {
    "changes undone": lambda outcome: len(outcome["without"]),
    "pods that end otherwise": _n("end"),
    "pods with other messages": _n("message"),
    "pods tried otherwise": _n("tries"),
}
