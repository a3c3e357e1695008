"""What survives the loss of zones, nodes and sets of nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kviz.common.csv_file import Cell
from kviz.experiments.charts import Bars
from kviz.experiments.models import Result
from kviz.questions.survive.jobs import Hurt

ROWS_SHOWN: Final = 300
MOST_COLUMNS: Final = 8
"""Up to so many losses have a column of their own, a workload a row."""


@dataclass(frozen=True)
class Row:
    """A loss as the table has it; `outcome` is what is stored of it."""

    name: str
    outcome: Mapping[str, Any]

    @property
    def hurt(self) -> Hurt:
        return Hurt(self.outcome)

    @property
    def is_harmful(self) -> bool:
        """Whether anything is amiss in the end."""
        return any(self.hurt.in_the_end)


@dataclass(frozen=True)
class Lost:
    """The losses, the worst first; `before` is None as long as nothing was run.

    `matrix` has a row for each workload that is hurt: its pods before, and a cell for each loss of
    `columns`, None where it lost nothing.
    """

    sentences: Sequence[str]
    before: Mapping[str, Any] | None
    rows: Sequence[Row]
    n_rows: int
    charts: Sequence[Bars]
    columns: Sequence[str]
    matrix: Sequence[tuple[str, int, Sequence[Mapping[str, int] | None]]]


def read(results: Sequence[Result]) -> Lost:
    """Read the losses that were run."""
    before = next((each.outcome for each in results if not each.variant), None)
    rows = [Row(_name(each.outcome), each.outcome) for each in results if each.variant]
    rows.sort(key=lambda row: row.hurt.key, reverse=True)
    names = [row.name for row in rows]
    chart = Bars(
        _("Pods without a node, or gone"), _("Loss"), names, [row.hurt.without_node for row in rows]
    )
    columns = names if len(rows) <= MOST_COLUMNS else []
    return Lost(
        sentences=_sentences(rows),
        before=before,
        rows=rows[:ROWS_SHOWN],
        n_rows=len(rows),
        charts=[chart] if len(rows) > 1 else [],
        columns=columns,
        matrix=_matrix(rows) if columns else [],
    )


def _name(loss: Mapping[str, Any]) -> str:
    match loss["kind"]:
        case "zone":
            return _("without zone %s") % str(loss["name"])
        case "node":
            return _("without node %s") % str(loss["name"])
        case _:
            return _("without %s") % ", ".join(loss["nodes"])


def _sentences(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    harmful = [row for row in rows if row.is_harmful]
    if not harmful:
        return [_("Every loss is survived: all pods of the nodes fit elsewhere.")]
    worst = harmful[0]
    told = [_("It hurts most %(name)s:") % {"name": worst.name}]
    if down := worst.hurt.n("down"):
        told.append(
            ngettext("%d workload has no pod left,", "%d workloads have no pod left,", down) % down
        )
    pods = ngettext(
        "%d pod has no node then, or is gone.",
        "%d pods have no node then, or are gone.",
        worst.hurt.without_node,
    )
    told.append(pods % worst.hurt.without_node)
    whole = _("%(n)d of %(all)d losses do no harm at the end.")
    counts = {"n": len(rows) - len(harmful), "all": len(rows)}
    return [*told, whole % counts]


def _matrix(
    rows: Sequence[Row],
) -> list[tuple[str, int, Sequence[Mapping[str, int] | None]]]:
    by_loss = [{each["name"]: each for each in row.outcome["workloads"]} for row in rows]
    before = {
        name: each["before"]
        for columns in by_loss
        for name, each in columns.items()
        if each["after"] < each["before"] or not each["at_once"]
    }
    return [
        (name, n, [columns.get(name) for columns in by_loss]) for name, n in sorted(before.items())
    ]


def _n(name: str) -> Callable[[Mapping[str, Any]], Cell]:
    return lambda outcome: len(outcome[name]) if name in outcome else None


COLUMNS: Final[Mapping[str, Callable[[Mapping[str, Any]], Cell]]] = {
    "nodes": _n("nodes"),
    "pods lost": lambda outcome: outcome.get("pods_lost"),
    "pending": lambda outcome: (
        len(outcome["pending"]) if isinstance(outcome["pending"], list) else outcome["pending"]
    ),
    "gone": _n("gone"),
    "evicted": _n("evicted"),
    "budgets broken at once": _n("broken_at_once"),
    "budgets broken": _n("broken"),
    "workloads down at once": _n("down_at_once"),
    "workloads down": _n("down"),
}
