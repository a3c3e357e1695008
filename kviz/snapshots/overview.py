"""A cluster in a few numbers, stored with it, so that lists need not read its objects."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import Final, TypedDict

from kviz.snapshots.summary import NodeRow, summarise

MAX_CELLS: Final = 96
FULLEST: Final = 4
CLOSED: Final = -1
"""The level of a node that takes no pods: cordoned or not ready."""


class Overview(TypedDict):
    """What the picture of a cluster shows.

    `zones` are lists of levels, a cell each: 0 (nothing requested) to 4 (cpu or memory all but
    requested), -1 for nodes that take no pods. A cell stands for `nodes_per_cell` nodes.
    """

    pending: int
    nodes_per_cell: int
    zones: list[list[int]]


def overview_of(objects: Iterable[object]) -> Overview:
    """Sum up a cluster's objects; nodes are in order of zones and names."""
    summary = summarise(objects)
    rows = sorted(summary.nodes, key=lambda row: (row.zone, row.name))
    per_cell = max(1, -(-len(rows) // MAX_CELLS))
    return Overview(
        pending=summary.n_pending,
        nodes_per_cell=per_cell,
        zones=[
            _cells([_level(row) for row in zone], per_cell)
            for _, zone in groupby(rows, key=lambda row: row.zone)
        ],
    )


def _level(row: NodeRow) -> int:
    if row.cordoned or not row.ready:
        return CLOSED
    shares = (each.used / each.whole for each in (row.cpu, row.memory) if each.whole)
    return min(FULLEST, int(max(shares, default=0) * (FULLEST + 1)))


def _cells(levels: list[int], per_cell: int) -> list[int]:
    """Take so many levels together, the open nodes of a cell by their mean."""
    cells = []
    for start in range(0, len(levels), per_cell):
        of_cell = [level for level in levels[start : start + per_cell] if level != CLOSED]
        cells.append(round(sum(of_cell) / len(of_cell)) if of_cell else CLOSED)
    return cells
