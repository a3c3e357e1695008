"""What all requirements have in common, and what their functions are given."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, TypeAlias, TypeVar

from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.wording import say, series

MAX_NAMED: Final = 5
"""So many pods, volumes or domains are named; how many there are is always said."""

_TOPOLOGY_PREFIXES: Final = (
    "kubernetes.io",
    "topology.kubernetes.io",
    "failure-domain.beta.kubernetes.io",
)

S = TypeVar("S")

Parts: TypeAlias = tuple[tuple[str, bool], ...]
"""Pieces of a text, each with whether it differs from the other side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement(ABC):
    """One thing a plugin asks of a node for a pod, with the values on both sides.

    The texts say what the pod `asks` and what the node `has`, and both in one `sentence` about
    the pod. Amounts are integers: cpu in milli, all else in bytes or units.
    """

    kind: ClassVar[str]
    met: bool

    @property
    @abstractmethod
    def asks(self) -> str: ...

    @property
    @abstractmethod
    def has(self) -> str: ...

    @property
    def sentence(self) -> str:
        """Return both sides in one sentence, without capital and full stop."""
        return say(
            "requirement.asks", "asks for {asks}, the node has {has}", asks=self.asks, has=self.has
        )

    @property
    def headline(self) -> str:
        """Return the sentence as it may lead: the values that decide, no list of pods or nodes."""
        return self.sentence

    @property
    def detail(self) -> str:
        """Return what the sentence says beyond both sides, empty if it says no more."""
        return ""

    @property
    def asks_parts(self) -> Parts:
        """Return the pod's side in pieces, of which those that keep it from the node differ."""
        return ((self.asks, False),)

    @property
    def has_parts(self) -> Parts:
        """Return the node's side likewise."""
        return ((self.has, False),)


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated(Requirement):
    """What a plugin said itself, where no values are known: plugins of others, and errors."""

    kind = "stated"
    reasons: tuple[str, ...]

    @property
    def asks(self) -> str:
        return ""

    @property
    def has(self) -> str:
        return series(self.reasons)

    @property
    def sentence(self) -> str:
        if not self.reasons:
            return say("requirement.no_reason", "is rejected without a reason")
        return say("requirement.rejected", "is rejected: {reasons}", reasons=self.has)


Requirements = Sequence[Requirement]


@dataclass(frozen=True, slots=True)
class AtNode:
    """A pod at one node as Filter saw it.

    `node` is a view of that node alone, in which nominated pods may have been added or lesser
    pods removed; `nodes` are all nodes of the cycle.
    """

    pod: PodInfo
    node: Nodes
    nodes: Nodes
    objects: ObjectStore
    node_name: str = field(init=False)
    row: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "node_name", self.node.name(0))
        object.__setattr__(self, "row", int(self.node.rows[0]))

    def label(self, key: str) -> str | None:
        """Return the value of one of the node's labels, None if it lacks the label."""
        column = self.node.label(key)
        number = int(column.ids[0])
        return None if number < 0 else column.values[number]


def state_of(kind: type[S], state: object) -> S:
    """Return what a plugin prepared, which must be of the given kind."""
    if not isinstance(state, kind):
        raise TypeError(f"a state of type {type(state).__name__} in place of {kind.__name__}")
    return state


def short_key(key: str) -> str:
    """Return what people call a topology key: `zone` for `topology.kubernetes.io/zone`."""
    prefix, _, name = key.rpartition("/")
    is_known = prefix in _TOPOLOGY_PREFIXES
    return name if is_known else key


def domain_word(key: str) -> str:
    """Return what a domain of a topology key is called: `node`, `zone`, or the key itself."""
    name = short_key(key)
    return say("topology.node", "node") if name == "hostname" else name


def domain_text(key: str, domain: str) -> str:
    """Return a domain of a topology key by name: a node's alone, else as a label, `zone=a`."""
    name = short_key(key)
    return domain if name == "hostname" else label_text(name, domain)


def label_text(key: str, value: str | None) -> str:
    """Return a label as people write it: `zone=a`, or that it is not there."""
    return say("labels.lacks_key", "no label {key}", key=key) if value is None else f"{key}={value}"
