"""A difference between kviz and the real kube-scheduler as a sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Final, cast

from kviz.conformance.result import Difference

MAX_VALUE_CHARS: Final = 200
CELL: Final = re.compile(r"(raw|normalized)\[(.*)\]")
SCORES: Final = {"raw": "score", "normalized": "normalised score"}
NAMES: Final = {
    "pod": "the pod tried next",
    "result": "the outcome",
    "node": "the node",
    "nodeOrder": "the order of the nodes",
    "preFilter": "the outcome of PreFilter",
    "totals": "the total scores",
    "topNodes": "the best nodes",
    "message": "the message",
    "unschedulablePlugins": "the plugins that are to wake the pod",
    "nominating": "the nomination",
    "victims": "the victims",
    "feasibleNodes": "how many nodes fit",
    "evaluatedNodes": "how many nodes were examined",
}


def in_words(difference: Difference) -> str:
    """Say what the real scheduler did and what kviz did."""
    what, real, mine = _told(difference)
    return (
        f"{difference.name}: {what} is {_short(real)} in the real scheduler, {_short(mine)} in kviz"
    )


def _told(difference: Difference) -> tuple[str, object, object]:
    """Return what differs, and both values; of values by node the first that differs."""
    real, mine, field = difference.expected, difference.got, difference.field
    if cell := CELL.fullmatch(field):
        return f"the {SCORES[cell[1]]} of {difference.plugin} for node {cell[2]}", real, mine
    if field in ("filter", "totals") and isinstance(real, Mapping) and isinstance(mine, Mapping):
        what = "the verdict on" if field == "filter" else "the total score of"
        node = next(n for n in sorted({*real, *mine}) if real.get(n) != mine.get(n))
        return f"{what} node {node}", _verdict(real.get(node)), _verdict(mine.get(node))
    return NAMES.get(field, field), real, mine


def _verdict(value: object) -> object:
    """A status as text; none is that of a node that fits."""
    if value is None:
        return "that it fits"
    if not isinstance(value, Mapping):
        return value
    reasons = ", ".join(cast("list[str]", value.get("reasons", [])))
    return f"{value['code']} by {value.get('plugin', 'no plugin')}: {reasons}"


def _short(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    text = text or "none"
    return text if len(text) <= MAX_VALUE_CHARS else text[:MAX_VALUE_CHARS] + "..."
