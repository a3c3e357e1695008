"""Turns names into the trace's numbers and hands events on.

One recorder serves one run. The receiver of the events (`sink`) may be a list, a writer, or
nobody: `details` says whether per-node columns are wanted at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from scheduler_core.trace.events import (
    AnyEvent,
    ResourcesDefined,
)
from scheduler_core.trace.records import NONE

Sink = Callable[[AnyEvent], None]


@dataclass
class Recorder:
    """Numbers nodes by name, pods by uid, plugins and resources by name."""

    sink: Sink
    details: bool = True
    plugins: dict[str, int] = field(default_factory=dict)
    nodes: dict[str, int] = field(default_factory=dict)
    pods: dict[str, int] = field(default_factory=dict)
    resources: dict[str, int] = field(default_factory=dict)

    def fork(self, sink: Sink, *, details: bool) -> Recorder:
        """Return an independent recorder with the same numbers."""
        return Recorder(
            sink,
            details,
            self.plugins.copy(),
            self.nodes.copy(),
            self.pods.copy(),
            self.resources.copy(),
        )

    def emit(self, event: AnyEvent) -> None:
        self.sink(event)

    def plugin(self, name: str) -> int:
        """Return the number of a plugin, -1 for none (or one that is not of this run)."""
        return self.plugins.get(name, NONE)

    def node(self, name: str) -> int:
        """Return the number of a node, giving it the next one when it is new; -1 for none."""
        return self.nodes.setdefault(name, len(self.nodes)) if name else NONE

    def all_nodes(self, names: Iterable[str]) -> tuple[int, ...]:
        """Return the numbers of nodes, as `node` does."""
        known = self.nodes
        return tuple([known[name] if name in known else self.node(name) for name in names])

    def pod(self, uid: str) -> int:
        """Return the number of a pod, giving it the next one when it is new."""
        return self.pods.setdefault(uid, len(self.pods))

    def amounts(self, resources: Mapping[str, int]) -> tuple[int, ...]:
        """Align amounts with the resource numbers, defining new ones first."""
        fresh = tuple(name for name in resources if name not in self.resources)
        if fresh:
            self.resources |= {name: len(self.resources) + i for i, name in enumerate(fresh)}
            self.emit(ResourcesDefined(fresh))
        return tuple([resources.get(name, 0) for name in self.resources])
