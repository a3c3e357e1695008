"""Changes in two or three words, as names of runs have them: `tolerate gpu`, `cordon n7`."""

from __future__ import annotations

from typing import Final

import msgspec

from scheduler_core.api import Node, Pod
from scheduler_core.api.coerce import Plain
from scheduler_core.changes.vocabulary import (
    AddTaint,
    Change,
    CopyNode,
    Cordon,
    Create,
    Delete,
    Drain,
    Patch,
    Put,
    RemoveLabel,
    RemoveTaint,
    Restore,
    RuleChange,
    Scale,
    SetField,
    SetLabel,
    SetQueueOrder,
    SetScoring,
    SetSeed,
    SetWeight,
    SwitchGate,
    UseConfiguration,
)
from scheduler_core.wording import Text, say

MAX_VALUE_CHARS: Final = 24
"""A longer value is not part of a name."""


def name_of(change: Change) -> Text:
    """Name what a change makes different, without old values: its sentence has these."""
    match change:
        case SetField():
            return _of_field(change)
        case Patch(target, _):
            return say("short.patch", "patch {name}", name=target.name)
        case Delete(target, _):
            return say("short.delete", "delete {name}", name=target.name)
        case Create():
            return _of_objects(len(items := list(change.items())), items[0].name if items else "")
        case Put(objects):
            return _of_objects(len(objects), objects[0].name if objects else "")
        case CopyNode(node, 1):
            return say("short.node", "add a node like {node}", node=node)
        case CopyNode(node, copies):
            return say("short.nodes", "add {n:,} nodes like {node}", n=copies, node=node)
        case Scale():
            return say("short.scale", "scale {name} to {n}", name=change.name, n=change.replicas)
        case Restore():
            return say("short.restore", "restored")
        case Cordon() | Drain() | AddTaint() | RemoveTaint() | SetLabel() | RemoveLabel():
            return _of_node(change)
        case _:
            return _of_rule(change)


def _of_objects(n: int, first: str) -> Text:
    if n == 1:
        return say("short.create", "create {name}", name=first)
    return say("short.creates", "create {n:,} objects", n=n)


def _of_node(
    change: Cordon | Drain | AddTaint | RemoveTaint | SetLabel | RemoveLabel,
) -> Text:
    node = change.node
    match change:
        case Cordon():
            if change.unschedulable:
                return say("short.cordon", "cordon {node}", node=node)
            return say("short.uncordon", "uncordon {node}", node=node)
        case Drain():
            return say("short.drain", "drain {node}", node=node)
        case AddTaint(_, taint):
            return say("short.taint", "taint {node} {key}", node=node, key=taint.key)
        case RemoveTaint(_, key, _):
            return say("short.untaint", "take taint {key} off {node}", node=node, key=key)
        case SetLabel(_, key, value):
            return say("short.label", "label {node} {key}={value}", node=node, key=key, value=value)
        case RemoveLabel(_, key):
            return say("short.unlabel", "unlabel {node} {key}", node=node, key=key)


def _of_rule(change: RuleChange) -> Text:
    match change:
        case UseConfiguration(""):
            return say("short.default_configuration", "default configuration")
        case UseConfiguration():
            return say("short.configuration", "another configuration")
        case SetWeight(plugin, weight):
            return say("short.weight", "{plugin} weight {weight}", plugin=plugin, weight=weight)
        case SetScoring(strategy, _):
            return say("short.scoring", "scoring {strategy}", strategy=strategy)
        case SwitchGate(gate, True):
            return say("short.gate_on", "{gate} on", gate=gate)
        case SwitchGate(gate, _):
            return say("short.gate_off", "{gate} off", gate=gate)
        case SetSeed(seed):
            return say("short.seed", "seed {seed}", seed=seed)
        case SetQueueOrder(order):
            return say("short.queue_order", "queue order {order}", order=order)


def _of_field(change: SetField) -> Text:
    target, path, value = change.target, change.path, change.value
    if path == "spec.tolerations[+]" and isinstance(value, dict):
        return say("short.tolerate", "tolerate {key}", key=value.get("key") or "*")
    if path == "spec.priorityClassName":
        return say("short.priority", "priority {name}", name=value)
    field = path.rstrip("]").replace("[", ".").split(".")[-1].removeprefix("name=")
    field = "" if field == "+" else field
    if value is None:
        return say("short.without_field", "{name} without {field}", name=target.name, field=field)
    shown = _shown(value)
    if field and shown:
        if target.kind is Pod or target.kind is Node:
            return say(
                "short.field", "{name} {field} {value}", name=target.name, field=field, value=shown
            )
        return say("short.value", "{field} {value}", field=field, value=shown)
    return say("short.patch", "patch {name}", name=target.name)


def _shown(value: Plain) -> str:
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= MAX_VALUE_CHARS else ""
