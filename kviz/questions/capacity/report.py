"""How many more fit: the count, where they land, and what stops the next one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kviz.common.csv_file import Cell
from kviz.experiments.charts import Bar, Bars, Lines, Part
from kviz.experiments.models import Result
from kviz.questions.capacity.jobs import TOGETHER
from scheduler_core.amounts import amounts_text, in_one_unit

LINES_SHOWN: Final = 12
"""Pools of a chart, those that take most copies."""
PODS: Final = "pods"


@dataclass(frozen=True)
class PoolRow:
    """A pool: what `runs_out` there, who keeps the next copy off, and what is free of what."""

    name: str
    nodes: int
    copies: int
    runs_out: str
    kept_off_by: Sequence[tuple[str, int]]
    free: Sequence[tuple[str, str, str, str]]
    """Resource, free before, free after, of what the nodes have."""


@dataclass(frozen=True)
class Filled:
    """The first count there is: of all templates together, or of the only one.

    `alone` are the counts of each template alone, where there are several.
    """

    sentences: Sequence[str]
    outcome: Mapping[str, Any] | None
    pools: Sequence[PoolRow]
    stopped_by: Sequence[tuple[str, int]]
    alone: Sequence[tuple[str, int]]
    daemons: str
    charts: Sequence[Bars]
    lines: Sequence[Lines]


def read(results: Sequence[Result]) -> Filled:
    """Read the counts that there are."""
    whole = next((each for each in results if not each.variant), None)
    alone = [(each.name, int(each.outcome["count"])) for each in results if each.variant]
    if whole is None:
        return Filled([], None, [], [], alone, "", [], [])
    found = whole.outcome
    by_node = sorted(found["by_node"].items(), key=lambda each: -each[1])
    name = _("these together") if whole.name == TOGETHER else whole.name
    return Filled(
        sentences=_sentences(found, name, whole.name == TOGETHER),
        outcome=found,
        pools=[_pool(each) for each in found["pools"]],
        stopped_by=sorted(found["stopped_by"].items(), key=lambda each: -each[1]),
        alone=alone,
        daemons=_daemons(found.get("daemons", {})),
        charts=[_where(by_node, name)] if by_node else [],
        lines=_lines(found),
    )


def _sentences(found: Mapping[str, Any], name: str, together: bool) -> list[str]:
    n, nodes = found["count"], len(found["by_node"])
    if not n:
        return [_("Not one copy fits.") if together else _("No copy of %s fits.") % name]
    values = {"n": f"{n:,}", "name": name, "nodes": f"{nodes:,}"}
    if together:
        text = ngettext(
            "%(n)s more fits, on %(nodes)s of the nodes.",
            "%(n)s more fit, on %(nodes)s of the nodes.",
            n,
        )
    else:
        text = ngettext(
            "%(n)s copy of %(name)s fits, on %(nodes)s of the nodes.",
            "%(n)s copies of %(name)s fit, on %(nodes)s of the nodes.",
            n,
        )
    told = [text % values]
    before = found["pending"]["before"]
    if before:
        placed = _("Of %(all)s pending pods, %(n)s got a node first.")
        told.append(placed % {"all": f"{before:,}", "n": f"{found['pending']['placed_first']:,}"})
    if found["stopped"] == "limit":
        told.append(_("That is the limit you set: more may fit."))
    return told


def _pool(pool: Mapping[str, Any]) -> PoolRow:
    before, after, there = pool["free_before"], pool["free_after"], pool["allocatable"]
    return PoolRow(
        name=pool["pool"],
        nodes=pool["nodes"],
        copies=pool["copies"],
        runs_out=pool["runs_out"],
        kept_off_by=list(pool["rejected_by"].items()),
        free=[
            (name, *in_one_unit(name, amount, after.get(name, 0), there.get(name, 0)))
            for name, amount in before.items()
        ],
    )


def _daemons(found: Mapping[str, Any]) -> str:
    if not found.get("pods"):
        return ""
    takes = amounts_text(found["requests"])
    text = ngettext(
        "%(n)s pod of a DaemonSet is on these nodes already, with %(takes)s requested.",
        "%(n)s pods of DaemonSets are on these nodes already, with %(takes)s requested.",
        found["pods"],
    )
    return text % {"n": f"{found['pods']:,}", "takes": takes or _("nothing")}


def _where(by_node: Sequence[tuple[str, int]], name: str) -> Bars:
    bars = [Bar(node, [n]) for node, n in by_node]
    return Bars(_("Where they land"), [Part(_("copies of %s") % name, "scheduled")], bars)


def _lines(found: Mapping[str, Any]) -> list[Lines]:
    """A chart for each resource that a copy asks for: what is free in each pool, in per cent."""
    copies = found["headroom"]["copies"]
    if len(copies) < 2:
        return []
    pools = sorted(found["pools"], key=lambda each: -each["copies"])[:LINES_SHOWN]
    charts = []
    for resource, free in found["headroom"]["free"].items():
        if resource == PODS and all(each["runs_out"] != PODS for each in found["pools"]):
            continue
        values = {
            each["pool"]: [round(100 * amount / there, 1) for amount in free[each["pool"]]]
            for each in pools
            if (there := each["allocatable"].get(resource, 0))
        }
        title = _("Free %s in each pool, %% of what its nodes have") % resource
        charts.append(Lines(title, _("Copies"), copies, values))
    return charts


COLUMNS: Final[Mapping[str, Callable[[Mapping[str, Any]], Cell]]] = {
    "count": lambda outcome: outcome["count"],
    "nodes": lambda outcome: len(outcome["by_node"]),
    "stopped": lambda outcome: outcome["stopped"],
    "stopped by": lambda outcome: ", ".join(
        f"{plugin} {n}" for plugin, n in outcome["stopped_by"].items()
    ),
    "message": lambda outcome: outcome["message"],
}
