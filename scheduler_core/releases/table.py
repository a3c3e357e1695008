"""The shape of a release's table.

A row or a field is here because releases differ in it: what all have in common is code. What the
scheduler does otherwise is a switch (`switches.py`), and nothing but switches and gates is asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from scheduler_core.releases.bugs import BugName
from scheduler_core.releases.switches import Switches

Stage = Literal["alpha", "beta", "GA"]

TieBreak = Literal["heap", "draw"]
"""Which of several nodes with the top score is taken: the root of Go's heap, or lots are drawn."""


class GateSpec(Struct, frozen=True):
    """A gate as a release has it.

    `locked` gates cannot be switched; `requires` must be on as well. A gate that has gone, and is
    on for good, keeps its row, locked, as long as the engine reads it.
    """

    stage: Stage
    default: bool
    locked: bool = False
    requires: tuple[str, ...] = ()


class OtherGate(Struct, frozen=True):
    """A gate of other components, which the scheduler takes and does not read."""

    default: bool
    locked: bool = False
    requires: tuple[str, ...] = ()


class Release(Struct, frozen=True):
    """One release of Kubernetes: gates by name, and what the scheduler does otherwise."""

    name: str
    """As in `1.36.2`."""
    gates: Mapping[str, GateSpec]
    elsewhere: Mapping[str, OtherGate]
    """Gates the scheduler knows but does not read, but for those without which a gate of `gates`
    could not be switched."""
    tie_break: TieBreak
    switches: Switches
    bugs: frozenset[BugName] = frozenset()
    """Those that decide verdicts (`BUGS`)."""

    @property
    def minor(self) -> str:
        """The release without its patch: `1.36`."""
        return self.name.rpartition(".")[0]

    def __str__(self) -> str:
        return f"Kubernetes v{self.name}"
