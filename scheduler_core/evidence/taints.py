"""Taints against tolerations, and cordoned nodes.

Upstream: v1.36 plugins/tainttoleration and plugins/nodeunschedulable.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Final, Literal

from scheduler_core.api import Taint, Toleration
from scheduler_core.api.selectors import toleration_tolerates, tolerations_tolerate
from scheduler_core.evidence.raw_score import RawScore
from scheduler_core.evidence.requirement import AtNode, Parts, Requirement
from scheduler_core.plugins.node_unschedulable import UNSCHEDULABLE_TAINT
from scheduler_core.plugins.taint_toleration import (
    DO_NOT_SCHEDULE,
    PREFER_NO_SCHEDULE,
    TaintToleration,
    soft_tolerations,
)
from scheduler_core.wording import say

Part = Literal["key", "operator", "value", "effect"]

_SIGNS: Final = {"": "=", "Equal": "=", "Lt": "<", "Gt": ">"}

SIMILAR: Final = 0.7
"""Keys so much alike are taken for a slip of the pen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintTolerated(Requirement):
    """A hard taint of the node, and the pod's toleration that comes closest, if any does.

    `differs` are the parts of the toleration that keep it from tolerating the taint.
    """

    kind = "taint"
    taint: Taint
    toleration: Toleration | None
    differs: tuple[Part, ...]

    @property
    def asks(self) -> str:
        if self.toleration is None:
            return say("taints.tolerates_none_of", "tolerates no taint {key}", key=self.taint.key)
        return say("taints.tolerates", "tolerates {taint}", taint=toleration_text(self.toleration))

    @property
    def has(self) -> str:
        return taint_text(self.taint)

    @property
    def sentence(self) -> str:
        if self.toleration is None:
            return say("taints.not_tolerated", "does not tolerate taint {has}", has=self.has)
        return say("taints.asks", "{asks}, the node has {has}", asks=self.asks, has=self.has)

    @property
    def asks_parts(self) -> Parts:
        if self.toleration is None:
            return ((self.asks, not self.met),)
        pieces = toleration_pieces(self.toleration)
        return (
            (say("taints.tolerates_prefix", "tolerates "), False),
            *((text, part in self.differs) for part, text in pieces),
        )

    @property
    def has_parts(self) -> Parts:
        if self.toleration is None:
            return ((self.has, not self.met),)
        return tuple((text, part in self.differs) for part, text in taint_pieces(self.taint))


@dataclass(frozen=True, slots=True, kw_only=True)
class Cordoned(Requirement):
    """A node with `spec.unschedulable`."""

    kind = "cordoned"

    @property
    def asks(self) -> str:
        if not self.met:
            return say("taints.cordoned_not_tolerated", "does not tolerate cordoned nodes")
        return say("taints.tolerates", "tolerates {taint}", taint=taint_text(UNSCHEDULABLE_TAINT))

    @property
    def has(self) -> str:
        return say("taints.cordoned", "is cordoned (spec.unschedulable)")

    @property
    def sentence(self) -> str:
        return say(
            "taints.asks_and_node", "{asks}, and the node {has}", asks=self.asks, has=self.has
        )


def taints_tolerated(plugin: TaintToleration, at: AtNode) -> Iterator[TaintTolerated]:
    """Yield the hard taints of the node, in its order."""
    for taint in at.node.node(0).spec.taints:
        if taint.effect in DO_NOT_SCHEDULE:
            yield _tolerated(plugin, taint, at.pod.pod.spec.tolerations)


def not_cordoned(at: AtNode) -> Iterator[Cordoned]:
    if at.node.node(0).spec.unschedulable:
        tolerations = at.pod.pod.spec.tolerations
        yield Cordoned(met=tolerations_tolerate(tolerations, UNSCHEDULABLE_TAINT))


def _tolerated(
    plugin: TaintToleration, taint: Taint, tolerations: Sequence[Toleration]
) -> TaintTolerated:
    gate = plugin.comparison_operators
    by_distance = sorted(
        (each for each in tolerations if _is_about(each, taint)),
        key=lambda each: _distance(_differing(each, taint, gate)),
    )
    if not by_distance:
        return TaintTolerated(met=False, taint=taint, toleration=None, differs=())
    differs = _differing(by_distance[0], taint, gate)
    return TaintTolerated(met=not differs, taint=taint, toleration=by_distance[0], differs=differs)


def _differing(
    toleration: Toleration, taint: Taint, comparison_operators: bool
) -> tuple[Part, ...]:
    """Return the parts that keep a toleration from tolerating a taint, empty if it does."""
    if toleration_tolerates(toleration, taint, comparison_operators=comparison_operators):
        return ()
    found: list[Part] = []
    if toleration.key and toleration.key != taint.key:
        found.append("key")
    match toleration.operator:
        case "" | "Equal":
            if toleration.value != taint.value:
                found.append("value")
        case "Exists":
            pass
        case "Lt" | "Gt" if comparison_operators:
            by_value = Toleration(operator=toleration.operator, value=toleration.value)
            if not toleration_tolerates(by_value, taint, comparison_operators=True):
                found.append("value")
        case _:
            found.append("operator")
    if toleration.effect and toleration.effect != taint.effect:
        found.append("effect")
    return tuple(found)


def _distance(differs: tuple[Part, ...]) -> tuple[bool, int]:
    return "key" in differs, len(differs)


def _is_about(toleration: Toleration, taint: Taint) -> bool:
    """Whether a toleration may be meant for a taint: its key is equal, alike or left out."""
    if not toleration.key or toleration.key == taint.key:
        return True
    own_prefix, _, own = toleration.key.rpartition("/")
    prefix, _, name = taint.key.rpartition("/")
    alike = SequenceMatcher(None, own, name).ratio() >= SIMILAR
    return alike and (own_prefix == prefix or not own_prefix or not prefix)


def taint_text(taint: Taint) -> str:
    """Return a taint as kubectl writes it: `key=value:effect`."""
    return "".join(text for _, text in taint_pieces(taint))


def taint_pieces(taint: Taint) -> Iterator[tuple[Part, str]]:
    """Yield a taint in pieces, each with the part of a toleration that it stands against."""
    yield "key", taint.key
    if taint.value:
        yield "operator", "="
        yield "value", taint.value
    yield "effect", f":{taint.effect}"


def toleration_text(toleration: Toleration) -> str:
    """Return a toleration in the manner of a taint; `key` alone tolerates every value."""
    text, *more = (text for _, text in toleration_pieces(toleration))
    if not more or toleration.key:
        return "".join((text, *more)) if more else text
    return say("taints.every_with_effect", "{taints}{effect}", taints=text, effect="".join(more))


def toleration_pieces(toleration: Toleration) -> Iterator[tuple[Part, str]]:
    """Yield a toleration likewise."""
    if toleration.operator == "Exists":
        yield "key", toleration.key or say("taints.every_taint", "every taint")
    else:
        sign = _SIGNS.get(toleration.operator)
        yield "key", toleration.key
        yield "operator", f" {toleration.operator} " if sign is None else sign
        yield "value", toleration.value
    if toleration.effect:
        yield "effect", f":{toleration.effect}"


# ---------------------------------------------------------------- scoring


@dataclass(frozen=True, slots=True, kw_only=True)
class UntoleratedSoftTaints(RawScore):
    """The PreferNoSchedule taints of the node that the pod does not tolerate."""

    kind = "softTaints"
    formula = say(
        "taints.score_formula", "number of PreferNoSchedule taints that the pod does not tolerate"
    )
    taints: tuple[str, ...]

    @property
    def value(self) -> int:
        return len(self.taints)

    @property
    def text(self) -> str:
        return f"{self.value} ({', '.join(self.taints)})" if self.taints else "0"


def soft_taints(plugin: TaintToleration, at: AtNode) -> UntoleratedSoftTaints:
    tolerations = soft_tolerations(at.pod.pod.spec.tolerations)
    gate = plugin.comparison_operators
    return UntoleratedSoftTaints(
        taints=tuple(
            taint_text(taint)
            for taint in at.node.node(0).spec.taints
            if taint.effect == PREFER_NO_SCHEDULE
            and not tolerations_tolerate(tolerations, taint, comparison_operators=gate)
        )
    )
