"""What a node lacks of what a pod requests, from the amounts that the fold knows.

Upstream: v1.36 plugins/noderesources/fit.go (fitsRequest), with the nominated pods that Filter
counts as if they were there (runtime/framework.go, addNominatedPods).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from scheduler_core.trace.fold import PodState, TraceState, Usage
from scheduler_core.trace.records import NONE, NominatedOnNode
from scheduler_core.trace.tables import (
    FIT,
    INSUFFICIENT,
    INSUFFICIENT_OTHERS,
    OCCUPYING,
    PODS,
    TOO_MANY_PODS,
)


@dataclass(frozen=True, slots=True)
class Shortage:
    """What a node lacks of a resource: cpu in milli, others in bytes or units.

    `nominated` of what is free is kept for pods that are nominated to the node.
    """

    resource: str
    requested: int
    free: int
    allocatable: int
    nominated: int = 0

    @property
    def short(self) -> int:
        return self.requested - (self.free - self.nominated)

    @property
    def missing_part(self) -> float:
        """The part of the request that is short; above 1 on a node that is overcommitted."""
        return self.short / self.requested


_NONE: Final = Usage(0, [])


class Room:
    """The room that nodes have for one pod at one moment.

    `counted` are nodes with the nominated pods that Filter is known to have counted there; on the
    others count those that the state knows.
    """

    def __init__(self, state: TraceState, pod: int, counted: Mapping[int, NominatedOnNode]) -> None:
        self._state = state
        requests = state.pods[pod].requests if pod in state.pods else ()
        self._asked = [(number, amount) for number, amount in enumerate(requests) if amount > 0]
        resources = state.resources
        self._places = resources.index(PODS) if PODS in resources else NONE
        self._nominated = _nominated(state, pod) | {
            node: _taken((pod.requests for pod in each.pods), len(state.resources))
            for node, each in counted.items()
        }
        plugins = state.names.plugins
        self.fit_plugin = plugins.index(FIT) if FIT in plugins else NONE

    def shortages_named(self, node: int, reasons: Collection[str]) -> tuple[Shortage, ...]:
        """Return the shortages that NodeResourcesFit gave as reasons."""
        found = self.shortages(node)
        if INSUFFICIENT_OTHERS in reasons:
            return found
        return tuple(shortage for shortage in found if shortage_reason(shortage) in reasons)

    def shortages(self, node: int) -> tuple[Shortage, ...]:
        """Return what the node lacks: places for pods first, then resources by their numbers."""
        facts = self._state.nodes.get(node)
        if facts is None:
            return ()
        usage = self._state.usage.get(node, _NONE)
        nominated = self._nominated.get(node, _NONE)
        found = []
        if self._places != NONE:
            allowed = _at(facts.allocatable, self._places)
            if allowed - usage.n_pods - nominated.n_pods < 1:
                place = Shortage(PODS, 1, allowed - usage.n_pods, allowed, nominated.n_pods)
                found.append(place)
        for resource, amount in self._asked:
            allocatable = _at(facts.allocatable, resource)
            free = allocatable - _at(usage.requested, resource)
            kept = _at(nominated.requested, resource)
            if amount > free - kept:
                name = self._state.resources[resource]
                found.append(Shortage(name, amount, free, allocatable, kept))
        return tuple(found)


def _at(amounts: list[int] | tuple[int, ...], resource: int) -> int:
    """Return an amount; what came before a resource was first named has none of it."""
    return amounts[resource] if resource < len(amounts) else 0


def shortage_reason(shortage: Shortage) -> str:
    """Return how NodeResourcesFit names the shortage."""
    return TOO_MANY_PODS if shortage.resource == PODS else INSUFFICIENT + shortage.resource


def _nominated(state: TraceState, pod: int) -> dict[int, Usage]:
    """Return, by node, what pods take that Filter counts there because they are nominated."""
    requests: dict[int, list[tuple[int, ...]]] = {}
    own = state.pods.get(pod)
    for number, other in state.pods.items():
        if number != pod and own is not None and _counts(other, own):
            requests.setdefault(other.nominated_node, []).append(other.requests)
    return {node: _taken(each, len(state.resources)) for node, each in requests.items()}


def _taken(requests: Iterable[tuple[int, ...]], n_resources: int) -> Usage:
    usage = Usage(0, [0] * n_resources)
    for amounts in requests:
        usage.n_pods += 1
        for resource, amount in enumerate(amounts):
            usage.requested[resource] += amount
    return usage


def _counts(other: PodState, own: PodState) -> bool:
    """Tell whether `other` is nominated somewhere, not there yet, and no less important."""
    waits = other.nominated_node != NONE and other.cache not in OCCUPYING
    return waits and other.priority >= own.priority
