"""Whether what the numbers of a trace stand for is there, for traces that came from elsewhere.

`MeaningChecker` takes the events of a trace in order. Every number in them has a role by the name
of its field: a node, pod or plugin that was introduced before, a count, an amount, a time. What
aligns with something else has its length. So a reader of a checked trace can look up every
number.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, Final, TypeAlias, get_type_hints

import msgspec
import numpy as np
import numpy.typing as npt

from scheduler_core.trace.events import (
    AnyEvent,
    Bound,
    CycleStarted,
    ExtenderColumns,
    FilterColumns,
    FilterFinished,
    NodeAdded,
    NodeOrderChanged,
    NodeUpdated,
    NominationChanged,
    PodAdded,
    PodUpdated,
    PointFinished,
    PostFilterFinished,
    PreemptionDecided,
    PreFilterFinished,
    PreScoreFinished,
    ResourcesDefined,
    RunStarted,
    ScoreColumns,
    Unreserved,
)
from scheduler_core.trace.records import (
    MAX_INT64,
    NONE,
    CandidateRecord,
    Column,
    NominatedOnNode,
    NominatedPod,
    PluginScores,
    PointPlugins,
    Record,
)

_DTYPES: Final = frozenset(("u1", "i1", "i2", "i4", "i8"))
_MAX_COUNT: Final = 2**31 - 1
_Values: TypeAlias = npt.NDArray[np.int64]


class MeaninglessError(ValueError):
    """A number of an event stands for nothing; the text says which."""


class MeaningChecker:
    """What was introduced so far."""

    def __init__(self) -> None:
        self.nodes: set[int] = set()
        self.pods: set[int] = set()
        self.n_plugins = self.n_profiles = self.n_resources = 0
        self._order: tuple[int, ...] = ()

    def take(self, event: AnyEvent) -> None:
        """Check the next event, of headers or details. Raises MeaninglessError."""
        self._introduce(event)
        self.check(event)
        match event:
            case CycleStarted():
                self._see(0 <= event.start_index <= event.n_nodes, event, "start_index")
            case FilterColumns():
                self._filter(event)
            case ScoreColumns():
                self._scores(event)
            case ExtenderColumns():
                self._extender(event)
            case PreemptionDecided():
                self._criteria(event)
            case _:
                pass

    def _introduce(self, event: AnyEvent) -> None:
        match event:
            case RunStarted():
                self._see(self.n_profiles == 0, event, "profiles")
                self.n_plugins, self.n_profiles = len(event.plugins), len(event.profiles)
            case ResourcesDefined():
                self.n_resources += len(event.names)
            case NodeAdded():
                self.nodes.add(event.node)
            case PodAdded():
                self.pods.add(event.pod)
            case NodeOrderChanged():
                self._order = event.nodes
            case _:
                pass

    def check(self, item: msgspec.Struct) -> None:
        """Check the numbers of an event, or of a part of one. Raises MeaninglessError."""
        for name, role in _roles_of(type(item)):
            if not role(self, getattr(item, name)):
                raise MeaninglessError(_text(item, name))

    def _see(self, is_right: bool, item: msgspec.Struct, name: str) -> None:
        if not is_right:
            raise MeaninglessError(_text(item, name))

    # ------------------------------------------------------------ what aligns

    def _filter(self, event: FilterColumns) -> None:
        status, feasible = event.status.array(), event.feasible.array()
        examined = self._order if event.nodes is None else event.nodes.array()
        self._see(len(status) <= len(examined), event, "status")
        self._see(_are_below(status, max(1, len(event.statuses))), event, "status")
        self._see(self._are_nodes(feasible), event, "feasible")
        self._see(event.nodes is None or self._are_nodes(event.nodes.array()), event, "nodes")
        for each in event.nominated:
            self._see(0 <= each.without < max(1, len(event.statuses)), each, "without")

    def _scores(self, event: ScoreColumns) -> None:
        nodes = event.nodes.array()
        self._see(self._are_nodes(nodes), event, "nodes")
        self._see(len(event.totals.array()) == len(nodes), event, "totals")
        for scores in event.plugins:
            self._see(len(scores.raw.array()) == len(nodes), scores, "raw")
            self._see(len(scores.normalized.array()) == len(nodes), scores, "normalized")

    def _extender(self, event: ExtenderColumns) -> None:
        removed, nodes = event.removed.array(), event.nodes.array()
        self._see(self._are_nodes(removed), event, "removed")
        self._see(len(event.reason.array()) == len(removed), event, "reason")
        self._see(_are_below(event.reason.array(), len(event.reasons)), event, "reason")
        self._see(self._are_nodes(nodes), event, "nodes")
        self._see(len(event.scores.array()) == len(nodes), event, "scores")

    def _criteria(self, event: PreemptionDecided) -> None:
        nodes: Sequence[int] = event.nodes
        for each in event.criteria:
            self._see(len(each.values) == len(nodes), each, "values")
            self._see(set(each.kept) <= set(nodes), each, "kept")
            nodes = each.kept

    def _are_nodes(self, nodes: _Values) -> bool:
        return self.nodes.issuperset(nodes.tolist())


def _are_below(values: _Values, n: int) -> bool:
    return bool(((values >= 0) & (values < n)).all())


def _text(item: msgspec.Struct, name: str) -> str:
    return f"{name} of a {type(item).__name__} stands for nothing: {getattr(item, name)!r:.60}"


# ---------------------------------------------------------------- what a number may be

Role: TypeAlias = Callable[[MeaningChecker, Any], bool]


def _is_int64(_: MeaningChecker, value: int) -> bool:
    return -MAX_INT64 - 1 <= value <= MAX_INT64


def _is_number(_: MeaningChecker, value: int) -> bool:
    return 0 <= value <= _MAX_COUNT


def _is_count(_: MeaningChecker, value: int) -> bool:
    """Return whether it is one; -1 stands for a count that is not known."""
    return NONE <= value <= _MAX_COUNT


def _is_known_pod(checker: MeaningChecker, value: int) -> bool:
    return value == NONE or value in checker.pods


def _is_known_node(checker: MeaningChecker, value: int) -> bool:
    return value == NONE or value in checker.nodes


def _is_known_plugin(checker: MeaningChecker, value: int) -> bool:
    return NONE <= value < checker.n_plugins


def _is_profile(checker: MeaningChecker, value: int) -> bool:
    return 0 <= value < checker.n_profiles


def _are_plugins(checker: MeaningChecker, values: Sequence[int]) -> bool:
    return all(0 <= value < checker.n_plugins for value in values)


def _are_nodes(checker: MeaningChecker, values: Sequence[int] | None) -> bool:
    return values is None or checker.nodes.issuperset(values)


def _are_pods(checker: MeaningChecker, values: Sequence[int]) -> bool:
    return checker.pods.issuperset(values)


def _are_amounts(checker: MeaningChecker, values: Sequence[int]) -> bool:
    return len(values) <= checker.n_resources and _are_int64(checker, values)


def _are_int64(checker: MeaningChecker, values: Sequence[int]) -> bool:
    return all(_is_int64(checker, value) for value in values)


def _is_column(_: MeaningChecker, column: Column | None) -> bool:
    if column is None:
        return True
    return column.dtype in _DTYPES and len(column.data) % int(column.dtype[1:]) == 0


def _are_whole(checker: MeaningChecker, records: Sequence[Record]) -> bool:
    for record in records:
        checker.check(record)
    return True


def _is_whole(checker: MeaningChecker, record: Record) -> bool:
    checker.check(record)
    return True


_BY_NAME: Final[Mapping[str, Role]] = {
    "by_pod": _is_known_pod,
    "candidates": _are_whole,
    "criteria": _are_whole,
    "deciders": _are_plugins,
    "feasible": _is_column,
    "gated_by": _is_known_plugin,
    "hints": _are_whole,
    "kept": _are_nodes,
    "narrowed": _are_nodes,
    "node": _is_known_node,
    "nominated": _are_whole,
    "normalized": _is_column,
    "pending_plugins": _are_plugins,
    "plugin": _is_known_plugin,
    "pod": _is_known_pod,
    "points": _are_whole,
    "profile": _is_profile,
    "profiles": _are_whole,
    "raw": _is_column,
    "rejected": _are_whole,
    "reprieves": _are_whole,
    "runner_up": _is_known_node,
    "scores": _is_column,
    "skipped": _are_plugins,
    "totals": _is_column,
    "unschedulable_plugins": _are_plugins,
    "values": _are_int64,
    "victims": _are_pods,
    "winner": _is_known_node,
}
"""Of fields that are called so, whatever they are part of."""
_BY_TYPE: Final[Mapping[type[msgspec.Struct], Mapping[str, Role]]] = {
    Bound: {"node": _is_count},  # a scenario may bind to a node that is not there
    CandidateRecord: {"removed": _are_pods, "status": _is_whole},
    ExtenderColumns: {"removed": _is_column, "reason": _is_column, "nodes": _is_column},
    FilterColumns: {"statuses": _are_whole, "status": _is_column, "nodes": _is_column},
    FilterFinished: {"hint": _is_known_node},
    NodeAdded: {"node": _is_number, "allocatable": _are_amounts},
    NodeOrderChanged: {"nodes": _are_nodes},
    NodeUpdated: {"allocatable": _are_amounts},
    NominatedOnNode: {"pods": _are_whole},
    NominatedPod: {"requests": _are_amounts},
    NominationChanged: {"node": _is_count},  # a dump may nominate to a node that it lacks
    PluginScores: {"weight": _is_int64},
    PodAdded: {
        "pod": _is_number,
        "requests": _are_amounts,
        "node": _is_count,  # or bind to one
        "nominated_node": _is_count,
    },
    PodUpdated: {"requests": _are_amounts},
    PointFinished: {"status": _is_whole},
    PointPlugins: {"plugins": _are_plugins, "weights": _are_int64},
    PostFilterFinished: {"status": _is_whole},
    PreFilterFinished: {"status": _is_whole},
    PreScoreFinished: {"status": _is_whole},
    PreemptionDecided: {"nodes": _are_nodes},
    ScoreColumns: {"nodes": _is_column, "plugins": _are_whole},
    Unreserved: {"plugins": _are_plugins},
}
"""Of fields whose name means something else elsewhere, or nothing."""


@cache
def _roles_of(kind: type[msgspec.Struct]) -> tuple[tuple[str, Role], ...]:
    """Return the fields of a type that have a role."""
    found = []
    for name, hint in get_type_hints(kind).items():
        role = _BY_TYPE.get(kind, {}).get(name) or _BY_NAME.get(name)
        if hint is int and role is None:
            role = _is_count if name.startswith("n_") else _is_int64
        if role is not None and hint not in (str, bool):
            found.append((name, role))
    return tuple(found)
