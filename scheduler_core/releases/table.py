"""The shape of a release's table.

A row or a field is here because releases differ in it: what all have in common is code. A behaviour
is a name from a closed set, and what it does is written where it is looked up by that name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

Stage = Literal["alpha", "beta", "GA"]

TieBreak = Literal["heap", "draw"]
"""Which of several nodes with the top score is taken: the root of Go's heap, or lots are drawn."""

BatchRule = Literal["while nodes fill up"]
"""How long the results of one cycle serve the next pods of its kind: as long as each pod fills the
node it takes. What is left of a node is not scored again."""


class GateSpec(Struct, frozen=True):
    """A gate as a release has it.

    `locked` gates cannot be switched; `requires` must be on as well. A gate that the engine reads
    has a row in every release: one that a release has no longer, or not yet, is locked there.
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


class Messages(Struct, frozen=True):
    """Texts of the scheduler that a release has changed."""

    untolerated_taint: str
    """TaintToleration's reason for rejecting a node."""


class Release(Struct, frozen=True):
    """One minor release of Kubernetes: gates by name, and the named behaviours."""

    name: str
    """As in `1.36`."""
    gates: Mapping[str, GateSpec]
    elsewhere: Mapping[str, OtherGate]
    """Gates the scheduler knows but does not read, but for those without which a gate of `gates`
    could not be switched."""
    tie_break: TieBreak
    batching: BatchRule
    messages: Messages
    event_names: Mapping[str, str]
    """What the release calls a cluster event that v1.36 calls otherwise, by v1.36's name."""

    def __str__(self) -> str:
        return f"Kubernetes v{self.name}"
