"""What the numbers of a trace stand for.

`Names` needs the defining events only, so that one cycle can be read out of the middle of a trace
without folding everything before it; the fold has one, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from scheduler_core.trace.events import (
    HeaderEvent,
    NodeAdded,
    NodeOrderChanged,
    PodAdded,
    ResourcesDefined,
    RunStarted,
)
from scheduler_core.trace.records import NONE, PointPlugins, ProfileRecord, StatusRecord

DEFINING: Final = (RunStarted, ResourcesDefined, NodeAdded, NodeOrderChanged, PodAdded)
"""Events that give names to numbers, or order to nodes: needed to read any later cycle."""


@dataclass(frozen=True, slots=True)
class Rejection:
    """What one plugin says of a node that it rejects."""

    plugin: str
    code: str
    reasons: tuple[str, ...]


@dataclass(slots=True)
class Names:
    """What numbers mean after the last event taken, also those of nodes and pods that are gone."""

    plugins: tuple[str, ...] = ()
    profiles: tuple[ProfileRecord, ...] = ()
    order: tuple[int, ...] = ()
    """All nodes in the order in which Filter examines them."""
    resources: tuple[str, ...] = ()
    """What amounts in events align with."""
    _nodes: dict[int, str] = field(default_factory=dict)
    _pods: dict[int, str] = field(default_factory=dict)

    def take(self, events: Iterable[HeaderEvent]) -> None:
        """Learn from the defining ones among `events`."""
        for event in events:
            self.learn(event)

    def learn(self, event: HeaderEvent) -> None:
        match event:
            case PodAdded():
                self._pods[event.pod] = f"{event.namespace}/{event.name}"
            case NodeAdded():
                self._nodes[event.node] = event.name
            case NodeOrderChanged():
                self.order = event.nodes
            case ResourcesDefined():
                self.resources += event.names
            case RunStarted():
                self.plugins, self.profiles = event.plugins, event.profiles
            case _:
                pass

    def plugin(self, plugin: int) -> str:
        return "" if plugin == NONE else self.plugins[plugin]

    def plugin_names(self, plugins: Iterable[int]) -> list[str]:
        return [self.plugins[plugin] for plugin in plugins]

    def node(self, node: int) -> str:
        """Return a node's name; empty for none, and for one that was never there.

        A dump may bind or nominate a pod to a node that it lacks.
        """
        return self._nodes.get(node, "")

    def knows_node(self, node: int) -> bool:
        """Return whether the trace names a node, or there is none to name."""
        return node == NONE or node in self._nodes

    def nodes(self, nodes: Iterable[int]) -> list[str]:
        return [self._nodes[node] for node in nodes]

    def pod(self, pod: int) -> str:
        """Return `namespace/name`."""
        return "" if pod == NONE else self._pods[pod]

    def pods(self, pods: Iterable[int]) -> list[str]:
        return [self._pods[pod] for pod in pods]

    def agrees_on_nodes(self, other: Names) -> bool:
        """Return whether no number stands for two nodes, one here and one there."""
        return _agree(self._nodes, other._nodes)

    def agrees_on_pods(self, other: Names) -> bool:
        """Return whether no number stands for two pods, one here and one there."""
        return _agree(self._pods, other._pods)

    def amounts(self, amounts: Iterable[int]) -> dict[str, int]:
        """Return amounts by resource, those that are 0 left out: cpu in milli, bytes or units."""
        return {
            name: amount for name, amount in zip(self.resources, amounts, strict=False) if amount
        }

    def rejection(self, status: StatusRecord) -> Rejection:
        return Rejection(self.plugin(status.plugin), status.code, status.reasons)

    def wakes(self, scheduler_name: str) -> dict[str, tuple[str, ...]]:
        """Return the labels of the events that each plugin of a profile registered for."""
        profile = next((p for p in self.profiles if p.scheduler_name == scheduler_name), None)
        found = profile.wakes if profile else ()
        return {self.plugins[each.plugin]: each.events for each in found}

    def attached(self, profile: int, point: str) -> PointPlugins:
        """Return the plugins at an extension point of a profile, in order."""
        found = (record for record in self.profiles[profile].points if record.point == point)
        return next(found, PointPlugins(point, ()))


def _agree(a: Mapping[int, str], b: Mapping[int, str]) -> bool:
    return all(b.get(number, name) == name for number, name in a.items())
