"""Feasibility of one node: every filter on a line of its own, with the values put in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from scheduler_core.api.quantity import amount_text
from scheduler_core.cluster.columns import PODS
from scheduler_core.evidence.cycle import CycleEvidence, PluginEvidence
from scheduler_core.evidence.requests import RequestParts
from scheduler_core.evidence.requirement import Requirement
from scheduler_core.evidence.resources import ResourceRoom

CLASSIC: Final[Mapping[str, str]] = {
    "NodeUnschedulable": "1.1",
    "NodeResourcesFit": "1.2",
    "NodeAffinity": "1.3, 1.5",
    "TaintToleration": "1.4",
    "InterPodAffinity": "1.5",
}
"""The classic filter that a plugin does the work of; plugins without one came later."""


@dataclass(frozen=True, slots=True)
class Line:
    """One thing asked, with the values: whether it is so, and the values in a sentence."""

    holds: bool
    text: str


@dataclass(frozen=True, slots=True)
class Conjunct:
    """One filter. `classic` is its number in the classic model, empty for a newer one.

    A filter that asks nothing of this pod has no lines and holds. `stage` is PreFilter for what
    rejects the pod on all nodes at once.
    """

    plugin: str
    classic: str
    stage: str
    holds: bool
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Feasibility:
    """`holds` where the node is feasible: all conjuncts hold."""

    node: str
    holds: bool
    conjuncts: tuple[Conjunct, ...]


def feasibility(evidence: CycleEvidence, node: str, filters: tuple[str, ...]) -> Feasibility:
    """Evaluate every filter of the profile, `filters`, as if it were alone.

    Raises LookupError where the cycle saw no such node.
    """
    requests = {each.resource: each for each in evidence.requests}
    of_node = {each.plugin: each for each in evidence.node(node).plugins}
    found = [_conjunct(each, requests) for each in evidence.pod]
    for plugin in filters:
        known = of_node.get(plugin)
        if known is None:
            found.append(Conjunct(plugin, CLASSIC.get(plugin, ""), "Filter", True, ()))
        else:
            found.append(_conjunct(known, requests))
    return Feasibility(node, all(each.holds for each in found), tuple(found))


def _conjunct(found: PluginEvidence, requests: Mapping[str, RequestParts]) -> Conjunct:
    lines = [Line(each.met, _text(each, requests)) for each in found.requirements]
    if found.with_nominated and not found.status.is_success:
        lines.append(Line(False, f"counting the nominated pods {', '.join(found.with_nominated)}"))
    return Conjunct(
        found.plugin,
        CLASSIC.get(found.plugin, ""),
        found.point,
        found.status.is_success,
        tuple(lines),
    )


def _text(requirement: Requirement, requests: Mapping[str, RequestParts]) -> str:
    if isinstance(requirement, ResourceRoom):
        return "".join(_room(requirement, requests.get(requirement.resource)))
    if requirement.met:
        asks, has = requirement.asks, requirement.has
        return f"asks for {asks}, the node has {has}" if asks != has else f"the node has {has}"
    return requirement.sentence


def _room(room: ResourceRoom, parts: RequestParts | None) -> Iterator[str]:
    """Write `max(init) 1, sum(main) 2: 2 <= 4 allocatable - 1 requested = 3 cpu`."""

    def amount(value: int) -> str:
        return amount_text(room.resource, value)

    if room.resource == PODS:
        sign = "<=" if room.met else ">"
        yield f"1 {sign} {room.allocatable} allocatable - {room.used} there = {room.free} pods"
        return
    if parts is not None:
        yield f"{room.resource}: max(init) {amount(parts.init)}, sum(main) {amount(parts.main)}"
        yield f", overhead {amount(parts.overhead)}: " if parts.overhead else ": "
    sign = "<=" if room.met else ">"
    yield f"{amount(room.requested)} {sign} {amount(room.allocatable)} allocatable"
    yield f" - {amount(room.used)} requested = {amount(room.free)}"
    if room.by_devices:
        yield "; devices decide"
