"""Tables as comma-separated values (RFC 4180), the one place where they are written."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

Cell = str | int | float | None
MEDIA_TYPE: Final = "text/csv; charset=utf-8"
FORMULA: Final = re.compile(r"[\t\r\n]|\s*[=+\-@]")
"""Spreadsheets take text that begins like this for a formula, and compute it."""


def csv_pieces(
    columns: Sequence[str], batches: Iterable[Iterable[Sequence[Cell]]]
) -> Iterator[bytes]:
    """The file, heads first, then one piece per batch of rows; None is an empty cell.

    Numbers stand as they are; a text that looks like a formula gets an apostrophe in front.
    """
    yield _lines([columns])
    for batch in batches:
        yield _lines(batch)


def _lines(rows: Iterable[Sequence[Cell]]) -> bytes:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([_guarded(cell) for cell in row] for row in rows)
    return text.getvalue().encode()


def _guarded(cell: Cell) -> Cell:
    return f"'{cell}" if isinstance(cell, str) and FORMULA.match(cell) else cell
