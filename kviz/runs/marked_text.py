"""Lines of a text with the bad ones marked, and enough around them to know where one is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

CONTEXT_LINES = 2


@dataclass(frozen=True)
class MarkedLine:
    """A line to show; `number` counts from 1, 0 stands for lines left out."""

    number: int
    text: str
    is_bad: bool


def marked_lines(text: str, bad: Collection[int]) -> list[MarkedLine]:
    """The lines numbered in `bad` with their neighbours, gaps shown as one line."""
    lines = text.splitlines()
    near = {
        number
        for line in bad
        for number in range(line - CONTEXT_LINES, line + CONTEXT_LINES + 1)
        if 1 <= number <= len(lines)
    }
    marked: list[MarkedLine] = []
    for number in sorted(near):
        if marked and marked[-1].number != number - 1:
            marked.append(MarkedLine(0, "", False))
        marked.append(MarkedLine(number, lines[number - 1], number in bad))
    return marked
