"""What a rule may ask for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from scheduler_core.api import KubeObject, LabelSelector, Node, Pod
from scheduler_core.api.selectors import label_selector_matches
from scheduler_core.trace.tables import TERMINAL_PHASES

Kind = Literal["bind", "spread", "survive", "avoid", "evict", "headroom", "utilisation"]
NODE: Literal["node"] = "node"
"""What is lost where a rule is about single nodes, instead of a label."""


@dataclass(frozen=True, slots=True)
class Pods:
    """Some pods: of a namespace (all if empty), with a name (any if empty), by labels."""

    namespace: str = ""
    name: str = ""
    labels: LabelSelector = field(default_factory=LabelSelector)

    def of(self, objects: Iterable[KubeObject]) -> list[Pod]:
        """Return the pods among the objects that are not finished."""
        return [
            item
            for item in objects
            if isinstance(item, Pod)
            and item.status.phase not in TERMINAL_PHASES
            and self.namespace in ("", item.namespace)
            and self.name in ("", item.name)
            and label_selector_matches(self.labels, item.metadata.labels)
        ]


@dataclass(frozen=True, slots=True)
class Nodes:
    """Some nodes: with a name (any if empty), by labels."""

    name: str = ""
    labels: LabelSelector = field(default_factory=LabelSelector)

    def of(self, objects: Iterable[KubeObject]) -> list[Node]:
        return [
            item
            for item in objects
            if isinstance(item, Node)
            and self.name in ("", item.name)
            and label_selector_matches(self.labels, item.metadata.labels)
        ]


@dataclass(frozen=True, slots=True)
class Bind:
    """All these pods are on nodes in the end."""

    kind: ClassVar[Kind] = "bind"
    pods: Pods


@dataclass(frozen=True, slots=True)
class Spread:
    """These pods are on nodes with at least so many values of a label."""

    kind: ClassVar[Kind] = "spread"
    pods: Pods
    over: str
    at_least: int


@dataclass(frozen=True, slots=True)
class Survive:
    """Without all nodes of any one value of a label, or any one node, these pods find nodes."""

    kind: ClassVar[Kind] = "survive"
    pods: Pods
    loss_of: str
    """A label, or NODE."""


@dataclass(frozen=True, slots=True)
class Avoid:
    """None of these pods is on one of these nodes."""

    kind: ClassVar[Kind] = "avoid"
    pods: Pods
    nodes: Nodes


@dataclass(frozen=True, slots=True)
class Evict:
    """No pod of a higher priority is evicted."""

    kind: ClassVar[Kind] = "evict"
    nobody_above: int


@dataclass(frozen=True, slots=True)
class Headroom:
    """So many copies of a pod fit beside all that is there."""

    kind: ClassVar[Kind] = "headroom"
    pod: Pod
    copies: int


@dataclass(frozen=True, slots=True)
class Utilisation:
    """What pods request of a resource is below a share of what these nodes have of it."""

    kind: ClassVar[Kind] = "utilisation"
    resource: str
    below: float
    """From 0 to 1."""
    nodes: Nodes


Demand: TypeAlias = Bind | Spread | Survive | Avoid | Evict | Headroom | Utilisation


@dataclass(frozen=True, slots=True)
class Rule:
    """A demand, and what people call it."""

    name: str
    demand: Demand
