"""One cycle's preemption candidates as the rows of a table: who fell out at which criterion."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, cast

from kviz.runs.reading.projection import CycleDocument

LATEST_START: Final = "latestStartTime"
PRIORITY_OFFSET: Final = 2**31
"""What upstream adds to the priority of every victim before it sums them up."""


@dataclass(frozen=True)
class CriterionCell:
    """A node's value at one criterion; `is_out` if it was eliminated there."""

    text: str
    is_out: bool


@dataclass(frozen=True)
class CandidateRow:
    """`cells` align with the table's criteria and end where the node fell out."""

    node: str
    victims: list[str]
    reprieved: list[str]
    is_winner: bool
    cells: list[CriterionCell | None]


@dataclass(frozen=True)
class PreemptionTable:
    """`tied` are the candidates that no criterion parts, empty if one decided.

    `explains_sum`: candidates have different numbers of victims where priorities are summed up.
    """

    criteria: list[str]
    rows: list[CandidateRow]
    tied: list[str]
    explains_sum: bool


def preemption_table(cycle: CycleDocument) -> PreemptionTable | None:
    """The table of a cycle; None if it had no candidate."""
    preemption = cycle["preemption"]
    if preemption is None or not preemption["candidates"]:
        return None
    criteria = preemption.get("criteria", [])
    rows = [
        CandidateRow(
            node,
            cast("list[str]", candidate["victims"]),
            [
                reprieve["pod"]
                for reprieve in cast("list[dict[str, str]]", candidate["reprieves"])
                if reprieve["kept"]
            ],
            node == preemption.get("winner"),
            [_cell(node, criterion) for criterion in criteria],
        )
        for node, candidate in preemption["candidates"].items()
    ]
    last = cast("list[str]", criteria[-1]["kept"]) if criteria else []
    sums = [
        cast("dict[str, int]", criterion["values"]).values()
        for criterion in criteria
        if criterion["name"] == "sumPriorities"
    ]
    return PreemptionTable(
        [str(criterion["name"]) for criterion in criteria],
        rows,
        last if len(last) > 1 else [],
        any(len(set(map(_n_victims, values))) > 1 for values in sums),
    )


def _cell(node: str, criterion: dict[str, object]) -> CriterionCell | None:
    values = cast("dict[str, int]", criterion["values"])
    if node not in values:
        return None
    kept = cast("list[str]", criterion["kept"])
    return CriterionCell(_text(str(criterion["name"]), values[node]), node not in kept)


def _n_victims(sum_of_priorities: int) -> int:
    """Return how many victims make up a sum, each counted from the lowest priority there is."""
    return round(sum_of_priorities / PRIORITY_OFFSET)


def _text(name: str, value: int) -> str:
    if name == "sumPriorities":
        return f"{value - _n_victims(value) * PRIORITY_OFFSET:,}"
    if name == LATEST_START:
        return datetime.fromtimestamp(value / 1e9, UTC).isoformat(sep=" ", timespec="seconds")[:-6]
    return str(value)
