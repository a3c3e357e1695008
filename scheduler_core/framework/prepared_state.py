"""What the plugins of a cycle prepared, as plain values a person can read.

A plugin's state is a typed value. Scalars, mappings, sequences, dataclasses and API
objects are described field by field; a state whose arrays mean something only with the cluster
(counts by the number of a domain) describes itself (`DescribesState`).

Upstream: the entries of CycleState, under the names upstream gives their fields.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, fields, is_dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import msgspec

from scheduler_core.api import KubeObject
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.framework.runtime import CycleState

Described: TypeAlias = "bool | int | float | str | list[Described] | dict[str, Described] | None"


@runtime_checkable
class DescribesState(Protocol):
    """A state that can say in plain values what it holds."""

    def described(self, nodes: Nodes) -> Mapping[str, object]:
        """Return its parts by name, each to be described in turn; `nodes` are all nodes."""


@dataclass(frozen=True, slots=True)
class PreparedState:
    """What a plugin prepared; None if it needs nothing prepared. `skipped`: it takes no part."""

    plugin: str
    skipped: bool
    value: Described


@dataclass(frozen=True, slots=True)
class CycleStateDescription:
    """The states of PreFilter and of PreScore, in the order in which the plugins ran."""

    pre_filter: tuple[PreparedState, ...]
    pre_score: tuple[PreparedState, ...]


def describe_cycle_state(state: CycleState, nodes: Nodes) -> CycleStateDescription:
    """Describe what a cycle's plugins prepared, while the cluster is as the cycle saw it."""
    return CycleStateDescription(
        _describe_point(state.pre_filter, state.skip_filter, nodes),
        _describe_point(state.pre_score, state.skip_score, nodes),
    )


def _describe_point(
    prepared: Mapping[str, object], skipped: Set[str], nodes: Nodes
) -> tuple[PreparedState, ...]:
    only_skipped = sorted(skipped - prepared.keys())
    return (
        *(PreparedState(name, name in skipped, plain(prepared[name], nodes)) for name in prepared),
        *(PreparedState(name, True, None) for name in only_skipped),
    )


def plain(value: object, nodes: Nodes) -> Described:
    """Return a state, or a part of one, as scalars, lists and dictionaries with names as keys."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, DescribesState):
        return _named(value.described(nodes), nodes)
    if isinstance(value, KubeObject):
        return value.key
    if isinstance(value, msgspec.Struct):
        built: Described = msgspec.to_builtins(value)
        return built
    if is_dataclass(value):
        public = (field.name for field in fields(value) if not field.name.startswith("_"))
        return _named({camel(name): getattr(value, name) for name in public}, nodes)
    if isinstance(value, Mapping):
        return _named(value, nodes)
    if isinstance(value, Set):
        return [plain(each, nodes) for each in sorted(value, key=str)]
    if isinstance(value, Sequence):
        return [plain(each, nodes) for each in value]
    return type(value).__name__


def _named(values: Mapping[str, object], nodes: Nodes) -> Described:
    return {str(name): plain(value, nodes) for name, value in values.items()}


def camel(name: str) -> str:
    """Return a field's name as the API would spell it: `max_skew` becomes `maxSkew`."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)
