"""What msgspec knows of the types that are read, before several threads read."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import msgspec


def complete_struct_types() -> None:
    """Have msgspec look at the fields of all types there are.

    msgspec 0.22 does this when a type is first read, in steps. A second thread that reads the same
    type between two steps crashes the process.
    """
    for each in _below(msgspec.Struct):
        with contextlib.suppress(TypeError):  # a type that cannot be read
            msgspec.json.Decoder(each)


def _below(kind: type[Any]) -> Iterator[type[Any]]:
    for each in kind.__subclasses__():
        yield each
        yield from _below(each)
