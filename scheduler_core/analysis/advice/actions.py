"""What somebody might do so that a pod finds a node: changes, what they cost, in a few words.

The prices are a rough order of what people would rather do (docs/unblock.md): first what undoes a
slip and touches one pod, then what touches a node, then what other pods feel, then what costs
money. Nothing here says that an action helps; that is for a run to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from scheduler_core.api import Pod
from scheduler_core.changes import line_of
from scheduler_core.changes.vocabulary import Change, SetField, StepChange, target_of

Kind = Literal[
    "gate",
    "nodeTaints",
    "tolerate",
    "maxSkew",
    "minDomains",
    "labelKeys",
    "sidecar",
    "wait",
    "ready",
    "force",
    "rollout",
    "scale",
    "uncordon",
    "shrink",
    "soften",
    "selector",
    "schedule",
    "hostPort",
    "label",
    "untaint",
    "claim",
    "defaultClass",
    "storageClass",
    "devices",
    "deviceClass",
    "volume",
    "sharedVolume",
    "volumeLimit",
    "driver",
    "priority",
    "class",
    "move",
    "bring",
    "delete",
    "node",
]

PRICES: Final[dict[Kind, int]] = {
    "gate": 1,
    "nodeTaints": 1,
    "tolerate": 2,
    "maxSkew": 2,
    "minDomains": 2,
    "labelKeys": 2,
    "sidecar": 3,
    "wait": 1,
    "ready": 1,
    "force": 4,
    "rollout": 1,
    "scale": 6,
    "uncordon": 2,
    "shrink": 2,
    "soften": 3,
    "selector": 3,
    "schedule": 3,
    "hostPort": 3,
    "label": 3,
    "untaint": 4,
    "claim": 4,
    "defaultClass": 3,
    "storageClass": 4,
    "devices": 3,
    "deviceClass": 4,
    "volume": 12,
    "sharedVolume": 12,
    "volumeLimit": 6,
    "driver": 4,
    "priority": 4,
    "class": 5,
    "move": 5,
    "bring": 5,
    "delete": 8,
    "node": 10,
}
"""What an action of a kind costs at least."""

PAIR: Final = 1
"""Two things to do instead of one."""
PER_QUARTER: Final = 2
"""For each begun quarter of a request that is given up, after the first."""
BROKEN_BUDGET: Final = 10
"""For each pod that is moved or deleted though its disruption budget does not allow it."""
AGAINST_THE_NODE: Final = 5
"""For going where a node is cordoned or in bad health."""
EVICTED: Final = 6
"""For each pod that the run evicts more than it does without."""
NEWLY_PENDING: Final = 4
"""For each other pod that has no node then."""
NOT_HELPED: Final = 12
"""For each of several pods asked about that has no node then: more than a node for it costs."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing to do. `price` is without what follows from it for other pods.

    `parts` are what it was put together from, empty where it is one.
    """

    kind: Kind
    changes: tuple[StepChange, ...]
    price: int
    parts: tuple[Action, ...] = ()

    def dearer(self, by: int) -> Action:
        return replace(self, price=self.price + by)


def action(kind: Kind, *changes: StepChange) -> Action:
    return Action(kind, changes, PRICES[kind])


def together(actions: Sequence[Action]) -> Action:
    """Return several actions as one thing to do, of the kind of the dearest."""
    parts = tuple({tuple(map(line_of, each.changes)): each for each in actions}.values())
    if len(parts) == 1:
        return parts[0]
    dearest = max(parts, key=lambda each: each.price)
    changes = {line_of(change): change for each in parts for change in each.changes}
    return Action(dearest.kind, tuple(changes.values()), sum(each.price for each in parts), parts)


@dataclass(frozen=True, slots=True)
class Plan:
    """One action or two, to be tried."""

    actions: tuple[Action, ...]

    @property
    def parts(self) -> tuple[Action, ...]:
        """The actions, one by one, to be told."""
        return tuple(part for each in self.actions for part in each.parts or (each,))

    @property
    def changes(self) -> tuple[StepChange, ...]:
        return tuple(change for each in self.actions for change in each.changes)

    def risking(self, changes: Sequence[Change]) -> list[Change]:
        """Return those of its changes that others may feel.

        Not those that are waited for, nor a rollout's: it ends pods of its older revision anyway.
        """
        waits = (each for each in self.parts if each.kind in ("wait", "ready", "rollout"))
        waited = [one for each in waits for one in each.changes]
        return [each for each in changes if each not in waited]

    @property
    def lines(self) -> tuple[str, ...]:
        """The changes, one line each."""
        return tuple(map(line_of, self.changes))

    @property
    def price(self) -> int:
        return sum(each.price for each in self.actions) + PAIR * (len(self.actions) - 1)


def set_on(pod: Pod, path: str, value: object) -> SetField:
    """Return the change of one field of a pod; None takes it away."""
    return SetField(target_of(pod), path, value)


def in_map(key: str) -> str:
    """Return a key of a map as the end of a path."""
    return f".{key}" if key.isidentifier() and key.isascii() else f"[{key}]"
