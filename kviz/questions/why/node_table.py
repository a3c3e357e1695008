"""One node and a pod, or two nodes, side by side: the rows that the page shows.

No queries: it takes the documents that REST answers with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, cast

from kviz.runs.reading.evidence import NodeEvidenceDocument
from kviz.runs.reading.projection import Json

Part = Sequence[Any]
"""A piece of a text, and whether it differs from the other side."""


@dataclass(frozen=True)
class RequirementRow:
    """What a plugin asks of the node: a tick or a cross, both sides, and what else there is."""

    plugin: str
    met: bool
    asks: Sequence[Part]
    has: Sequence[Part]
    detail: str
    with_nominated: Sequence[str]


@dataclass(frozen=True)
class Cell:
    """One of two nodes; `has` is None where nothing is asked of it."""

    met: bool
    has: str | None


@dataclass(frozen=True)
class PairRow:
    plugin: str
    asks: str
    cells: Sequence[Cell]


def requirement_rows(found: NodeEvidenceDocument) -> list[RequirementRow]:
    """What is asked, what is not met first; of the pod as a whole before that of the node."""
    return sorted(_requirement_rows(found), key=lambda row: row.met)


def _requirement_rows(found: NodeEvidenceDocument) -> Iterator[RequirementRow]:
    for plugin in [*found["pod_rejections"], *_listed(found["evidence"]["plugins"])]:
        for each in _listed(plugin["requirements"]):
            yield RequirementRow(
                plugin=str(plugin["plugin"]),
                met=bool(each["met"]),
                asks=cast("Sequence[Part]", each["asks_parts"]),
                has=cast("Sequence[Part]", each["has_parts"]),
                detail=str(each["detail"]),
                with_nominated=cast("Sequence[str]", plugin["with_nominated"]),
            )


def pair_rows(comparison: Json) -> list[PairRow]:
    """What is asked of both nodes, what is not met by one of them first."""
    return [
        PairRow(
            str(each["plugin"]),
            str(each["asks"]),
            [
                Cell(met is not False, has)
                for met, has in zip(each["met"], each["has"], strict=True)
            ],
        )
        for each in cast("list[dict[str, Any]]", comparison["requirements"])
    ]


def _listed(value: object) -> list[Json]:
    return cast("list[Json]", value)
