"""What a comparison needs of a run's header events: a line per cycle, and how the run ended.

A run of 40,000 cycles has 800,000 header events. Of those that are not needed here nothing is
decoded but the name, and only those that change what nodes and pods are go through the fold.
"""

from __future__ import annotations

import gzip
import operator
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, Final, NamedTuple, cast, get_args

import msgspec

from scheduler_core.api.errors import UNREADABLE
from scheduler_core.api.gc_freeze import gc_spared
from scheduler_core.trace.checking import TraceError
from scheduler_core.trace.codec import Chunk
from scheduler_core.trace.cycle_record import device_name
from scheduler_core.trace.events import (
    AnyEvent,
    Assumed,
    Bound,
    CycleFinished,
    CycleStarted,
    DevicesAllocated,
    FilterFinished,
    Forgotten,
    HeaderEvent,
    NodeAdded,
    NodeDeleted,
    NodeOrderChanged,
    NodeSelected,
    NodeUpdated,
    PodAdded,
    PodDeleted,
    PodEvicted,
    PodUpdated,
    PreemptionDecided,
    ResourcesDefined,
    RunStarted,
)
from scheduler_core.trace.fold import HANDLERS, TraceState
from scheduler_core.trace.names import Names
from scheduler_core.trace.records import Result


class CycleLine(NamedTuple):
    """What the header events say that one cycle decided, in names.

    `rejected` counts nodes by the plugin that rejected them; `n_tied` nodes shared the `total`,
    both are 0 without scoring.
    """

    pod: str
    attempt: int
    result: Result
    node: str
    message: str
    nominated_node: str
    victims: tuple[str, ...]
    n_feasible: int
    rejected: tuple[tuple[str, int], ...]
    n_tied: int
    total: int
    devices: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def outcome(self) -> tuple[object, ...]:
        """What the cycle brought about, however it was decided."""
        return self.result, self.node, self.nominated_node, self.victims, self.devices


@dataclass
class RunLines:
    """One run, read once; `lines[i]` is of cycle i + 1.

    `pods` and `nodes` are those there were before the first cycle, by name; `names` are those of
    all pods there ever were. `orders` are the orders of the nodes, each with the first cycle that
    saw it. `starts` are the cycles' start indices.
    """

    chunks: Sequence[Chunk]
    lines: list[CycleLine] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    orders: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)
    end: TraceState = field(default_factory=TraceState)
    pods: dict[str, PodAdded] = field(default_factory=dict)
    nodes: dict[str, NodeAdded | NodeUpdated] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    evicted: list[str] = field(default_factory=list)

    @property
    def run(self) -> RunStarted | None:
        return self.end.run


def read_lines(chunks: Sequence[Chunk]) -> RunLines:
    """Read all header events of a trace. Raises TraceError if it is none."""
    reader = _Reader(RunLines(chunks))
    with gc_spared():
        for chunk in chunks:
            try:
                _, events = _HEADERS.decode(gzip.decompress(chunk.headers))
                reader.take(events)
            except (*UNREADABLE, OSError, EOFError, zlib.error) as error:
                raise TraceError(
                    f"after event {chunk.first_seq - 1} it is damaged: {error}"
                ) from None
            except (LookupError, ValueError) as error:
                cycle = len(reader.read.lines)
                raise TraceError(f"it contradicts itself after cycle {cycle}") from error
    return reader.read


@dataclass
class _Reader:
    read: RunLines
    _started: CycleStarted | None = None
    _filter: FilterFinished | None = None
    _selected: NodeSelected | None = None
    _decided: PreemptionDecided | None = None
    _devices: dict[int, list[DevicesAllocated]] = field(default_factory=dict)
    """By pod, what Reserve keeps for it in the running cycle."""

    def take(self, events: Iterable[HeaderEvent]) -> None:
        state, read = self.read.end, _READ
        for event in events:
            kind = type(event)
            if kind in read:
                fold, follow = read[kind]
                if fold is not None:
                    fold(state, event)
                if follow is not None:
                    follow(self, event)

    def begin(self, event: CycleStarted) -> None:
        self._started = event
        self._filter = self._selected = self._decided = None
        self._devices.clear()
        self.read.starts.append(event.start_index)

    def filtered(self, event: FilterFinished) -> None:
        self._filter = event

    def selected(self, event: NodeSelected) -> None:
        self._selected = event

    def decided(self, event: PreemptionDecided) -> None:
        self._decided = event

    def allocated(self, event: DevicesAllocated) -> None:
        self._devices.setdefault(event.pod, []).append(event)

    def finish(self, event: CycleFinished) -> None:
        """Add the running cycle's line, or correct that of one whose binding failed."""
        lines = self.read.lines
        if event.cycle <= len(lines):
            place = event.cycle - 1
            node = self.read.end.names.node(event.node)
            changed = lines[place]._replace(result=event.result, node=node, message=event.message)
            lines[place] = changed
        else:
            lines.append(self._line(event))

    def _line(self, event: CycleFinished) -> CycleLine:
        started, step, selected = self._started, self._filter, self._selected
        decided, names = self._decided, self.read.end.names
        if started is None or started.cycle != event.cycle:
            raise ValueError(f"cycle {event.cycle} ends without having begun")
        devices = self._devices.get(started.pod, ())
        return CycleLine(
            names.pod(started.pod),
            started.attempt,
            event.result,
            names.node(event.node),
            event.message,
            names.node(decided.winner) if decided else "",
            tuple(names.pods(decided.victims)) if decided else (),
            step.n_feasible if step else 0,
            _by_plugin(step, names) if step and step.rejected else (),
            selected.n_tied if selected else 0,
            selected.total if selected else 0,
            tuple([(each.claim, tuple(map(device_name, each.devices))) for each in devices])
            if devices
            else (),
        )

    # ------------------------------------------------------------ the cluster

    def order(self, event: NodeOrderChanged) -> None:
        self.read.orders.append((len(self.read.starts) + 1, event.nodes))

    def add_pod(self, event: PodAdded) -> None:
        name = f"{event.namespace}/{event.name}"
        self.read.names.add(name)
        if self._started is None:
            self.read.pods[name] = event

    def add_node(self, event: NodeAdded) -> None:
        if self._started is None:
            self.read.nodes[event.name] = event

    def update_node(self, event: NodeUpdated) -> None:
        if self._started is None:
            self.read.nodes[self.read.end.names.node(event.node)] = event

    def evict(self, event: PodEvicted) -> None:
        self.read.evicted.append(self.read.end.names.pod(event.pod))


def _by_plugin(step: FilterFinished, names: Names) -> tuple[tuple[str, int], ...]:
    return tuple([(names.plugin(each.plugin), each.n_nodes) for each in step.rejected])


_FOLDED: Final[frozenset[type[AnyEvent]]] = frozenset(
    (
        *(RunStarted, ResourcesDefined, NodeAdded, NodeUpdated, NodeDeleted, NodeOrderChanged),
        *(PodAdded, PodUpdated, PodDeleted, PodEvicted, Assumed, Forgotten, Bound),
    )
)
"""Events that change names, nodes, or which pods are where."""

_FOLLOWED: Final = cast(
    "dict[type[AnyEvent], Callable[[_Reader, AnyEvent], None]]",
    {
        CycleStarted: _Reader.begin,
        FilterFinished: _Reader.filtered,
        NodeSelected: _Reader.selected,
        PreemptionDecided: _Reader.decided,
        DevicesAllocated: _Reader.allocated,
        CycleFinished: _Reader.finish,
        NodeOrderChanged: _Reader.order,
        PodAdded: _Reader.add_pod,
        NodeAdded: _Reader.add_node,
        NodeUpdated: _Reader.update_node,
        PodEvicted: _Reader.evict,
    },
)


_READ: Final = {
    kind: (HANDLERS[kind] if kind in _FOLDED else None, _FOLLOWED.get(kind))
    for kind in {*_FOLDED, *_FOLLOWED}
}
"""By event that is read here: what it changes in the state, and in the lines."""


def _as_read(kind: type[msgspec.Struct]) -> Any:
    """Return an event's type, or one without fields if nobody here reads it."""
    if kind in _READ:
        return kind
    return msgspec.defstruct(
        kind.__name__, [], array_like=True, tag=True, tag_field="kind", frozen=True, gc=False
    )


_HEADERS: Final[msgspec.msgpack.Decoder[tuple[int, list[HeaderEvent]]]] = msgspec.msgpack.Decoder(
    tuple[int, list[reduce(operator.or_, map(_as_read, get_args(HeaderEvent)))]]  # type: ignore[misc]
)
