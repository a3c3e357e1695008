"""The table of candidates: what is said of ties and of sums."""

from __future__ import annotations

from typing import Any, cast

from kviz.runs.reading.preemption_table import preemption_table
from kviz.runs.reading.projection import CycleDocument

OFFSET = 2**31


def table(**criteria: dict[str, int]) -> Any:
    """Three candidates; the values of each criterion, of which the least stay in."""
    steps = [
        {
            "name": name,
            "values": values,
            "kept": [n for n in values if values[n] == min(values.values())],
        }
        for name, values in criteria.items()
    ]
    candidates: Any = {name: {"victims": [], "reprieves": []} for name in ("a", "b", "c")}
    preemption = {"candidates": candidates, "criteria": steps, "winner": "a"}
    return preemption_table(cast("CycleDocument", {"preemption": preemption}))


def test_candidates_that_no_criterion_parts_are_named() -> None:
    found = table(highestPriority={"a": 5, "b": 5, "c": 9}, numVictims={"a": 1, "b": 1})
    assert found.tied == ["a", "b"]
    assert table(highestPriority={"a": 5, "b": 6, "c": 9}).tied == []


def test_a_sum_is_that_of_the_priorities() -> None:
    sums = {"a": 2 * OFFSET - 20, "b": 2 * OFFSET + 7, "c": 3 * OFFSET + 1_000}
    found = table(sumPriorities=sums)
    assert [row.cells[0].text for row in found.rows] == ["-20", "7", "1,000"]
    assert found.explains_sum
    assert not table(sumPriorities={"a": OFFSET + 1, "b": OFFSET, "c": OFFSET + 2}).explains_sum
