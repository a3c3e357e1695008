"""Which nodes to add, and which could be drained."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from kviz.common.csv_file import Cell
from kviz.experiments.charts import Bar, Bars, Part
from kviz.experiments.models import Result
from scheduler_core.amounts import amount_text

ROWS_SHOWN: Final = 300


@dataclass(frozen=True)
class OfferRow:
    """A kind of node that can be added; `n` of it are in the set."""

    name: str
    like: str
    n: int
    price: str
    room: Sequence[str]
    daemons: int


@dataclass(frozen=True)
class DrainRow:
    """A node that can go, with its pods in the waves in which they leave."""

    node: str
    waves: Sequence[Sequence[str]]

    @property
    def n_pods(self) -> int:
        return sum(map(len, self.waves))


@dataclass(frozen=True)
class NodeSets:
    """What to add (`add` is None as long as that is not known), and what can go, in order."""

    sentences: Sequence[str]
    add: Mapping[str, Any] | None
    chosen: Sequence[OfferRow]
    others: Sequence[OfferRow]
    proof: str
    placed: Sequence[tuple[str, str]]
    n_placed: int
    has_prices: bool
    drained: Sequence[DrainRow]
    kept: Sequence[tuple[str, Sequence[str]]]
    """Nodes that have to stay, by why."""
    n_tried: int
    charts: Sequence[Bars]


def read(results: Sequence[Result]) -> NodeSets:
    """Read the search and the drains there are so far."""
    add = next((each.outcome.get("add") for each in results if not each.variant), None)
    drained, kept = _drains(each.outcome for each in results if each.variant)
    reasons: dict[str, list[str]] = {}
    for node, why in kept:
        reasons.setdefault(why, []).append(node)
    offers = [_offer(each, add) for each in add["offers"]] if add else []
    placed = sorted(add["placed"].items()) if add else []
    return NodeSets(
        sentences=[*_added(add), *_drained(len(drained), len(drained) + len(kept))],
        add=add,
        chosen=[each for each in offers if each.n],
        others=[each for each in offers if not each.n],
        proof=_proof(add) if add and add["count"] else "",
        placed=placed[:ROWS_SHOWN],
        n_placed=len(placed),
        has_prices=add is not None and any(each["price"] is not None for each in add["offers"]),
        drained=drained,
        kept=list(reasons.items()),
        n_tried=len(drained) + len(kept),
        charts=[_helped(add)] if add and add["count"] else [],
    )


def _drains(outcomes: Iterator[Mapping[str, Any]]) -> tuple[list[DrainRow], list[tuple[str, str]]]:
    """Tell what counts: of drains tried at the same time those up to the first that succeeds."""
    drained: list[DrainRow] = []
    kept: list[tuple[str, str]] = []
    for _batch, tried in groupby(outcomes, key=lambda each: each["batch"]):
        for each in tried:
            if "waves" in each:
                drained.append(DrainRow(each["node"], each["waves"]))
                break
            kept.append((each["node"], each["why"]))
    return drained, kept


def _offer(each: Mapping[str, Any], add: Mapping[str, Any]) -> OfferRow:
    n = next((part["count"] for part in add["nodes"] if part["offer"] == each["offer"]), 0)
    return OfferRow(
        name=each["offer"],
        like=each["like"],
        n=n,
        price="" if each["price"] is None else f"{each['price']:g}",
        room=[
            f"{amount_text(name, each['room'][name])} {name}"
            for name in ("cpu", "memory")
            if name in each["room"]
        ],
        daemons=each["daemons"],
    )


def _added(add: Mapping[str, Any] | None) -> list[str]:
    if add is None:
        return []
    if not add["count"]:
        if add["unhelped"]:
            return [_("No new node lets a pending pod bind.")]
        return [_("No pod is pending: there is nothing to add.")]
    nodes = ngettext("Add %d node", "Add %d nodes", add["count"]) % add["count"]
    price = "" if add["price"] is None else _(" for %s") % f"{add['price']:g}"
    pods = ngettext(
        "and %d pending pod binds.", "and %d pending pods bind.", len(add["placed"])
    ) % len(add["placed"])
    told = [f"{nodes}{price}, {pods}"]
    if left := len(add["unhelped"]):
        text = ngettext(
            "%d pod is unschedulable regardless.", "%d pods are unschedulable regardless.", left
        )
        told.append(text % left)
    return told


def _helped(add: Mapping[str, Any]) -> Bars:
    return Bars(
        _("What becomes of the pending pods"),
        [
            Part(_("bind with these nodes"), "scheduled"),
            Part(_("unschedulable regardless"), "rejected"),
        ],
        [Bar(_("pending pods"), [len(add["placed"]), len(add["unhelped"])])],
    )


def _proof(add: Mapping[str, Any]) -> str:
    if add["proven_minimal"]:
        text = _("A run proves it, and no cheaper set is enough.")
    else:
        text = _("A run proves it. Not proven minimal: no set costs less than %s.")
        text %= f"{add['least_price']:g}"
    n_runs = ngettext("%s run was made", "%s runs were made", add["runs"]) % f"{add['runs']:,}"
    n_sets = ngettext(
        "sums ruled out %s other set.", "sums ruled out %s other sets.", add["refuted"]
    )
    refuted = n_sets % f"{add['refuted']:,}"
    return f"{text} {n_runs}; {refuted}"


def _drained(n: int, n_tried: int) -> list[str]:
    if not n_tried:
        return []
    values = {"n": n, "all": n_tried}
    if not n:
        return [_("None of %(all)d nodes tried could be drained with everything placed.") % values]
    text = ngettext(
        "%(n)d of %(all)d nodes tried could be drained with everything still placed.",
        "%(n)d of %(all)d nodes tried could be drained with everything still placed.",
        n,
    )
    return [text % values]


COLUMNS: Final[Mapping[str, Callable[[Mapping[str, Any]], Cell]]] = {
    "nodes to add": lambda outcome: outcome["add"]["count"] if "add" in outcome else None,
    "price": lambda outcome: outcome["add"]["price"] if "add" in outcome else None,
    "tried together": lambda outcome: outcome.get("batch"),
    "node": lambda outcome: outcome.get("node"),
    "can be drained": lambda outcome: (
        None if "add" in outcome else "yes" if "waves" in outcome else "no"
    ),
    "pods": lambda outcome: sum(map(len, outcome["waves"])) if "waves" in outcome else None,
    "waves": lambda outcome: len(outcome["waves"]) if "waves" in outcome else None,
    "why not": lambda outcome: outcome.get("why"),
}
