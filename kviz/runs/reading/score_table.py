"""One cycle's scores as the rows of a table, best node first."""

from __future__ import annotations

from dataclasses import dataclass

from kviz.runs.reading.projection import CycleDocument


@dataclass(frozen=True)
class ScoreColumn:
    plugin: str
    weight: int


@dataclass(frozen=True)
class ScoreRow:
    """`values` align with the table's columns; `total` is None as long as it is hidden."""

    node: str
    values: list[int]
    total: int | None


@dataclass(frozen=True)
class ScoreTable:
    """Weighted scores: normalised score times weight; raw ones while those are hidden."""

    columns: list[ScoreColumn]
    rows: list[ScoreRow]
    is_raw: bool


def score_table(cycle: CycleDocument, n_shown: int | None) -> ScoreTable:
    """The table of a cycle, its best `n_shown` nodes; without rows if the cycle did not score.

    While totals are hidden the nodes are in the order of the trace.
    """
    scores, totals = list(cycle["scores"].values()), cycle["totals"]
    columns = [ScoreColumn(plugin, each["weight"]) for plugin, each in cycle["scores"].items()]
    is_raw = not all(each["normalized"] for each in scores)
    scored = list(scores[0]["raw"]) if scores else []
    best = sorted(scored, key=lambda node: -totals.get(node, 0))[:n_shown]
    rows = [
        ScoreRow(
            node,
            [
                each["raw"][node] if is_raw else each["normalized"][node] * each["weight"]
                for each in scores
            ],
            totals.get(node),
        )
        for node in best
    ]
    return ScoreTable(columns, rows, is_raw)
