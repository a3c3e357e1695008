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
    """`weighted` aligns with the table's columns: normalised score times weight."""

    node: str
    weighted: list[int]
    total: int


@dataclass(frozen=True)
class ScoreTable:
    columns: list[ScoreColumn]
    rows: list[ScoreRow]


def score_table(cycle: CycleDocument, n_shown: int | None) -> ScoreTable:
    """The table of a cycle, its best `n_shown` nodes; without rows if the cycle did not score."""
    scores = cycle["scores"]
    columns = [ScoreColumn(plugin, found["weight"]) for plugin, found in scores.items()]
    best = sorted(cycle["totals"].items(), key=lambda item: -item[1])[:n_shown]
    rows = [
        ScoreRow(
            node,
            [found["normalized"][node] * found["weight"] for found in scores.values()],
            total,
        )
        for node, total in best
    ]
    return ScoreTable(columns, rows)
