"""What a followed cluster tells goes into the run of an extender's session: two sources, one run.

A scheduler does not tell its extender which node it chose, what its nodes look like, or why a pod
waits; its cluster does. Events of the followed run are read as they are stored, and written again
with the numbers of the session's run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from msgspec.structs import replace

from scheduler_core.trace.events import (
    Bound,
    ClockAdvanced,
    EventRecorded,
    HeaderEvent,
    NodeAdded,
    NodeDeleted,
    NodeUpdated,
    NominationChanged,
    PodAdded,
    PodDeleted,
    PodUpdated,
    ResourcesDefined,
)
from scheduler_core.trace.recorder import Recorder
from scheduler_core.trace.records import NONE


@dataclass
class Filling:
    """Reads the events of a followed run: `known` are names behind its numbers."""

    own: Recorder
    """Of the session's run."""
    _nodes: dict[int, str] = field(default_factory=dict)
    _pods: dict[int, str] = field(default_factory=dict)
    _resources: list[str] = field(default_factory=list)

    def learn(self, event: HeaderEvent) -> None:
        """Take in names, without writing anything."""
        match event:
            case ResourcesDefined():
                self._resources += event.names
            case NodeAdded():
                self._nodes[event.node] = event.name
            case PodAdded():
                self._pods[event.pod] = event.uid
            case _:
                pass

    def translated(self, event: HeaderEvent) -> Iterator[HeaderEvent]:
        """Yield what an event of the followed run says, in numbers of the session's run."""
        self.learn(event)
        match event:
            case NodeAdded() | NodeUpdated():
                yield self._node_as_it_is(event)
            case NodeDeleted():
                yield replace(event, node=self._node(event.node))
            case PodAdded():
                yield from self._pod_added(event)
            case PodUpdated():
                pod, requests = self._pod(event.pod), self._amounts(event.requests)
                yield replace(event, pod=pod, requests=requests)
            case PodDeleted() | EventRecorded():
                yield replace(event, pod=self._pod(event.pod))
            case Bound() | NominationChanged():
                yield replace(event, pod=self._pod(event.pod), node=self._node(event.node))
            case ClockAdvanced():
                yield event
            case _:
                pass

    def _node_as_it_is(self, event: NodeAdded | NodeUpdated) -> HeaderEvent:
        name = self._nodes[event.node]
        is_new = name not in self.own.nodes
        allocatable = self._amounts(event.allocatable)
        node = self.own.node(name)
        if is_new:
            assert isinstance(event, NodeAdded)
            return replace(event, node=node, allocatable=allocatable)
        return NodeUpdated(
            node, event.zone, event.labels, event.taints, event.unschedulable, allocatable
        )

    def _pod_added(self, event: PodAdded) -> Iterator[HeaderEvent]:
        is_new = event.uid not in self.own.pods
        node, pod = self._node(event.node), self.own.pod(event.uid)
        if is_new:
            nominated, requests = self._node(event.nominated_node), self._amounts(event.requests)
            yield replace(event, pod=pod, node=node, nominated_node=nominated, requests=requests)
        elif node != NONE:
            yield Bound(pod, node)

    def _node(self, number: int) -> int:
        return self.own.node(self._nodes.get(number, ""))

    def _pod(self, number: int) -> int:
        return self.own.pod(self._pods[number])

    def _amounts(self, amounts: tuple[int, ...]) -> tuple[int, ...]:
        named = zip(self._resources, amounts, strict=False)
        return self.own.amounts({name: amount for name, amount in named if amount})
