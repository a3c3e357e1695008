"""Tables of text, as kubectl prints them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

MAX_ROWS = 40
"""So many rows are printed; all are in the JSON."""


def table(
    head: Sequence[str], rows: Sequence[Sequence[str]], most: int = MAX_ROWS
) -> Iterator[str]:
    """Yield a line per row, each column as wide as what stands in it.

    Columns of numbers are aligned to the right. Says how many rows above `most` are left out.
    """
    shown = rows[:most]
    widths = [max(map(len, column)) for column in zip(head, *shown, strict=True)]
    right = [bool(shown) and all(_is_number(row[i]) for row in shown) for i in range(len(head))]
    for row in (head, *shown):
        cells = (
            cell.rjust(width) if is_right else cell.ljust(width)
            for cell, width, is_right in zip(row, widths, right, strict=True)
        )
        yield "  ".join(cells).rstrip()
    if len(rows) > len(shown):
        yield f"and {len(rows) - len(shown):,} more (--json has all)"


def listed(names: Sequence[str], shown: int = 5) -> str:
    """Return a few names and how many more there are."""
    more = f" and {len(names) - shown:,} more" if len(names) > shown else ""
    return ", ".join(names[:shown]) + more


def _is_number(text: str) -> bool:
    return text == "-" or text[:1].isdigit()
