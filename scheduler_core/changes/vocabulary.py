"""The changes: typed values that say what is different.

A step of a scenario is a time and a change; a variant of a run is its parent and some changes. Two
families: changes of the objects of a cluster, possible at any time, and changes of the rules by
which a run schedules, possible only before it begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, TypeAlias

from msgspec.structs import replace

from scheduler_core.api import KubeObject, Taint
from scheduler_core.api.coerce import Plain
from scheduler_core.config.types import ScoringStrategyType
from scheduler_core.trace.records import QueueOrder

MAX_CREATED: Final = 100_000
"""Objects that all changes of a run together may create: more take minutes, and gigabytes."""
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")


@dataclass(frozen=True, slots=True)
class Target:
    """One object by kind, namespace (empty for kinds without) and name."""

    kind: type[KubeObject]
    namespace: str
    name: str

    @property
    def key(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    def __str__(self) -> str:
        return f"{self.kind.kind.lower()} {self.key}"


def target_of(item: KubeObject) -> Target:
    return Target(type(item), item.namespace, item.name)


# ---------------------------------------------------------------- objects


@dataclass(frozen=True, slots=True)
class Create:
    """Create objects in order; with `copies` each so often, as `NAME-1`, `NAME-2` and on."""

    objects: tuple[KubeObject, ...]
    copies: int = 0

    def items(self) -> Iterator[KubeObject]:
        """Yield the objects to create, with the names and namespaces they get."""
        for item in self.objects:
            for i in range(1, max(self.copies, 1) + 1):
                name = f"{item.name}-{i}" if self.copies else item.name
                namespace = item.namespace or ("default" if item.namespaced else "")
                yield replace(item, metadata=replace(item.metadata, name=name, namespace=namespace))


@dataclass(frozen=True, slots=True)
class Put:
    """Create objects in order, or replace those that are there."""

    objects: tuple[KubeObject, ...]


@dataclass(frozen=True, slots=True)
class Patch:
    """Apply a JSON merge patch."""

    target: Target
    merge: dict[str, object]


@dataclass(frozen=True, slots=True)
class SetField:
    """Set one field, add to a list, or with the value None take a field or an element away.

    `path` is as `field_paths.FieldPath` writes it, `value` as the field holds it in JSON.
    """

    target: Target
    path: str
    value: Plain


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object, a pod gracefully; `grace_seconds` None leaves that to the pod."""

    target: Target
    grace_seconds: int | None = None


@dataclass(frozen=True, slots=True)
class Cordon:
    """Mark a node unschedulable, or no longer so."""

    node: str
    unschedulable: bool


@dataclass(frozen=True, slots=True)
class Drain:
    """Cordon a node and evict its pods, but for those that belong to it."""

    node: str


@dataclass(frozen=True, slots=True)
class AddTaint:
    """Put a taint on a node, in place of one with its key and effect."""

    node: str
    taint: Taint


@dataclass(frozen=True, slots=True)
class RemoveTaint:
    """Take the taints with a key off a node; all effects if `effect` is empty."""

    node: str
    key: str
    effect: str = ""


@dataclass(frozen=True, slots=True)
class SetLabel:
    """Put a label on a node, in place of one with its key."""

    node: str
    key: str
    value: str


@dataclass(frozen=True, slots=True)
class RemoveLabel:
    """Take a label off a node."""

    node: str
    key: str


@dataclass(frozen=True, slots=True)
class CopyNode:
    """Add nodes like one that is there, empty, as `NAME-copy-1` and on."""

    node: str
    copies: int


@dataclass(frozen=True, slots=True)
class Scale:
    """Bring an owner's pods to a number; `kind` may be one that is not modelled."""

    kind: str
    namespace: str
    name: str
    replicas: int

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


@dataclass(frozen=True, slots=True)
class Placed:
    """An object and its place, from 0, among all objects of a cluster."""

    place: int
    item: KubeObject


@dataclass(frozen=True, slots=True)
class Restore:
    """Take objects away, and put others back as they were: what undoes a change.

    `objects` are in order of their places in the cluster that results. At rest only.
    """

    objects: tuple[Placed, ...]
    remove: tuple[Target, ...] = ()


NodeChange: TypeAlias = Cordon | AddTaint | RemoveTaint | SetLabel | RemoveLabel
"""What changes one node and nothing else."""

StepChange: TypeAlias = (
    Create | Put | Patch | SetField | Delete | NodeChange | Drain | CopyNode | Scale
)
"""What may also happen during a run."""

ObjectChange: TypeAlias = StepChange | Restore


def most_created(change: Change) -> int:
    """Return how many objects a change creates at most, beside those that it holds itself."""
    match change:
        case Create(objects, copies):
            return len(objects) * copies
        case CopyNode(_, copies):
            return copies
        case Scale():
            return change.replicas
        case _:
            return 0


# ---------------------------------------------------------------- rules


@dataclass(frozen=True, slots=True)
class UseConfiguration:
    """Schedule with a KubeSchedulerConfiguration, given as text; empty is the default one."""

    text: str


@dataclass(frozen=True, slots=True)
class SetWeight:
    """Give a plugin another weight at Score, in all profiles that score with it."""

    plugin: str
    weight: int


@dataclass(frozen=True, slots=True)
class SetScoring:
    """Let NodeResourcesFit score by another strategy, in all profiles that score with it.

    `shape` are points `(utilization, score)`, percent and 0 to 10, of a RequestedToCapacityRatio;
    empty: those of the configuration. The resources stay those of the configuration.
    """

    strategy: ScoringStrategyType
    shape: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class SwitchGate:
    """Switch a feature gate."""

    gate: str
    enabled: bool


@dataclass(frozen=True, slots=True)
class SetSeed:
    """Draw lots with another seed."""

    seed: int


@dataclass(frozen=True, slots=True)
class SetQueueOrder:
    """Queue the pods that are pending at the start in another order."""

    order: QueueOrder


RuleChange: TypeAlias = (
    UseConfiguration | SetWeight | SetScoring | SwitchGate | SetSeed | SetQueueOrder
)

Change: TypeAlias = ObjectChange | RuleChange
