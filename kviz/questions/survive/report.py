"""What survives the loss of zones, nodes and sets of nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kviz.common.csv_file import Cell
from kviz.experiments.charts import Bar, Bars, Part
from kviz.experiments.models import Result
from kviz.questions.survive.jobs import Hurt

ROWS_SHOWN: Final = 300
MOST_COLUMNS: Final = 8
"""Up to so many losses have a column of their own, a workload a row."""

Cells = tuple[str, Mapping[str, int] | None]
"""A loss, and what it does to the pods of a workload; None where it lost nothing."""


@dataclass(frozen=True)
class Row:
    """A loss as the table has it; `outcome` is what is stored of it."""

    name: str
    outcome: Mapping[str, Any]

    @property
    def hurt(self) -> Hurt:
        return Hurt(self.outcome)

    @property
    def fates(self) -> list[int]:
        """How many pods run again, stay pending, and are gone."""
        pending, gone = self.hurt.n("pending"), self.hurt.n("gone")
        lost = int(self.outcome["pods_lost"])
        return [self.outcome.get("on_nodes_again", max(0, lost - pending - gone)), pending, gone]

    @property
    def note(self) -> str:
        """What is lost, in numbers."""
        nodes, pods = len(self.outcome["nodes"]), int(self.outcome["pods_lost"])
        n_nodes = ngettext("%(n)s node", "%(n)s nodes", nodes) % {"n": f"{nodes:,}"}
        n_pods = ngettext("%(n)s pod", "%(n)s pods", pods) % {"n": f"{pods:,}"}
        return f"{n_nodes}, {n_pods}"

    @property
    def pending(self) -> list[str]:
        """The pods that stay pending."""
        return [each["pod"] for each in self.outcome["pending"]]

    @property
    def down(self) -> Sequence[str]:
        """The workloads with no pod on a node in the end."""
        return self.outcome["down"]  # type: ignore[no-any-return]

    @property
    def broken(self) -> list[Mapping[str, Any]]:
        """The budgets that are broken in the end, with healthy pods and what they want."""
        names = self.outcome["broken"]
        return [each for each in self.outcome["budgets"] if each["name"] in names]

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
    matrix: Sequence[tuple[str, int, Sequence[Cells]]]
    messages: Sequence[tuple[str, Mapping[str, str]]]
    """Loss and pod that stays pending, with what the scheduler says."""

    @property
    def evicts(self) -> bool:
        """Whether any loss makes the scheduler evict pods of other nodes."""
        return any(row.outcome["evicted"] for row in self.rows)


def read(results: Sequence[Result]) -> Lost:
    """Read the losses that were run."""
    before = next((each.outcome for each in results if not each.variant), None)
    rows = [Row(_name(each.outcome), each.outcome) for each in results if each.variant]
    rows.sort(key=lambda row: row.hurt.key, reverse=True)
    names = [row.name for row in rows]
    chart = Bars(
        _("What becomes of the pods of what is lost"),
        [
            Part(_("runs again on another node"), "scheduled"),
            Part(_("recreated, stays pending"), "rejected"),
            Part(_("gone: bare pod, no controller"), "evicted"),
        ],
        [Bar(row.name, row.fates, row.note) for row in rows],
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
        messages=list(islice(_messages(rows), ROWS_SHOWN)),
    )


def _name(loss: Mapping[str, Any]) -> str:
    match loss["kind"]:
        case "zone" | "node":
            return str(loss["name"])
        case _:
            return ", ".join(loss["nodes"])


def _sentences(rows: Sequence[Row]) -> list[str]:
    if not rows:
        return []
    harmful = [row for row in rows if row.is_harmful]
    if not harmful:
        return [_("Every loss is survived: all pods of the nodes fit elsewhere.")]
    worst = harmful[0]
    if down := worst.hurt.n("down"):
        text = ngettext(
            "Losing %(name)s hurts most: %(n)d workload ends with no pod.",
            "Losing %(name)s hurts most: %(n)d workloads end with no pod.",
            down,
        )
        told = text % {"name": worst.name, "n": down}
    else:
        text = ngettext(
            "Losing %(name)s hurts most: %(n)d pod is pending or gone.",
            "Losing %(name)s hurts most: %(n)d pods are pending or gone.",
            worst.hurt.without_node,
        )
        told = text % {"name": worst.name, "n": worst.hurt.without_node}
    counts = {"n": len(rows) - len(harmful), "all": len(rows)}
    if not counts["n"]:
        return [told, _("None of the losses is without harm.")]
    return [told, _("%(n)d of %(all)d losses do no harm in the end.") % counts]


def _messages(rows: Sequence[Row]) -> Iterator[tuple[str, Mapping[str, str]]]:
    return ((row.name, each) for row in rows for each in row.outcome["pending"])


def _matrix(
    rows: Sequence[Row],
) -> list[tuple[str, int, Sequence[Cells]]]:
    by_loss = [{each["name"]: each for each in row.outcome["workloads"]} for row in rows]
    before = {
        name: each["before"]
        for columns in by_loss
        for name, each in columns.items()
        if each["after"] < each["before"] or not each["at_once"]
    }
    return [
        (name, n, [(row.name, found.get(name)) for row, found in zip(rows, by_loss, strict=True)])
        for name, n in sorted(before.items())
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
