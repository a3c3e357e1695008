"""Feasibility of one node: every filter on its own line, with its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scheduler_core.amounts import Scale, scale_of
from scheduler_core.cluster.columns import PODS
from scheduler_core.evidence.cycle import CycleEvidence, PluginEvidence
from scheduler_core.evidence.requests import RequestParts
from scheduler_core.evidence.requirement import Requirement
from scheduler_core.evidence.resources import ResourceRoom
from scheduler_core.wording import say, series

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
        lines.append(
            Line(
                False,
                say(
                    "model.counting_nominated",
                    "with nominated pods counted: {pods}",
                    pods=series(found.with_nominated),
                ),
            )
        )
    return Conjunct(
        found.plugin,
        CLASSIC.get(found.plugin, ""),
        found.point,
        found.status.is_success,
        tuple(lines),
    )


def _text(requirement: Requirement, requests: Mapping[str, RequestParts]) -> str:
    if isinstance(requirement, ResourceRoom):
        return _room(requirement, requests.get(requirement.resource))
    if not requirement.met:
        return requirement.sentence
    asks, has = requirement.asks, requirement.has
    if asks == has:
        return say("model.node_has", "the node has {has}", has=has)
    return say("requirement.asks", "asks for {asks}, the node has {has}", asks=asks, has=has)


def _room(room: ResourceRoom, parts: RequestParts | None) -> str:
    """Return `cpu: max(init) 1, sum(main) 2: 2 <= 4 allocatable - 0.5 requested = 3.5`."""
    amounts = [room.requested, room.allocatable, room.used, room.free]
    if parts is not None:
        amounts += parts.init, parts.main, parts.overhead
    scale = scale_of(room.resource, amounts)
    amount = scale.text
    sign = "<=" if room.requested <= room.free else ">"
    if room.resource == PODS:
        return say(
            "model.pods_left",
            "{needed} {allocatable} allocatable - {used} there = {free} pods",
            needed=f"1 {sign}",
            allocatable=room.allocatable,
            used=room.used,
            free=room.free,
        )
    text = say(
        "model.amount_left",
        "{needed} {allocatable} allocatable - {used} requested = {free}",
        needed=f"{amount(room.requested)} {sign}",
        allocatable=amount(room.allocatable),
        used=amount(room.used),
        free=amount(room.free),
    )
    if parts is not None:
        text = say(
            "model.of_resource",
            "{resource}: {what}",
            resource=_sum(room.resource, parts, scale),
            what=text,
        )
    return (
        say("model.what_devices_decide", "{what}; devices decide", what=text)
        if room.by_devices
        else text
    )


def _sum(resource: str, parts: RequestParts, scale: Scale) -> str:
    """Return what the request is made of."""
    init, main, overhead = map(scale.text, (parts.init, parts.main, parts.overhead))
    text = f"{resource}: max(init) {init}, sum(main) {main}"
    if not parts.overhead:
        return text
    return say("model.with_overhead", "{parts}, overhead {overhead}", parts=text, overhead=overhead)
