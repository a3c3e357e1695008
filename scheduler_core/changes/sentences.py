"""Changes in words, one sentence each: `pod default/web: requests.cpu 2 → 500m`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.coerce import Plain
from scheduler_core.api.findings import counted
from scheduler_core.changes.field_paths import FieldPath, field_path, value_at
from scheduler_core.changes.node_changes import taint_text
from scheduler_core.changes.owners import pods_of
from scheduler_core.changes.refusals import Objects
from scheduler_core.changes.rules import Rules
from scheduler_core.changes.vocabulary import (
    AddTaint,
    Change,
    CopyNode,
    Cordon,
    Create,
    Delete,
    Drain,
    NodeChange,
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

N_NAMED: Final = 3
"""So many objects are named in a sentence; more are counted."""
MAX_VALUE_CHARS: Final = 80
_OF_CONTAINER: Final = re.compile(r"spec\.containers\[(?:0|name=[^\]]*)\]\.resources\.")


def sentence(change: Change, objects: Objects, rules: Rules | None = None) -> str:
    """Say what a change does to a cluster as it is, and to the rules; old values where they are."""
    match change:
        case (
            UseConfiguration()
            | SetWeight()
            | SetScoring()
            | SwitchGate()
            | SetSeed()
            | SetQueueOrder()
        ):
            return _of_rule(change, rules or Rules())
        case Create():
            return f"create {_listed(list(change.items()))}"
        case Put(items):
            return _put(items, objects)
        case Restore(placed, remove):
            back = [each.item for each in placed]
            away = ", ".join(map(str, remove[:N_NAMED]))
            if len(remove) > N_NAMED:
                away = counted(len(remove), "object")
            parts = [f"put back {_listed(back)}"] if back else []
            return "; ".join([*parts, *([f"take away {away}"] if away else [])]) or "undo nothing"
        case Patch(target, merge):
            return f"patch {target}: {', '.join(touched(merge))}"
        case SetField():
            return _set(change, objects)
        case Delete(target, _):
            return f"delete {target}"
        case Scale():
            n = len(pods_of(objects, change.kind, change.namespace, change.name))
            before = f" from {n}" if n else ""
            return f"scale {_owner(change)}{before} to {change.replicas}"
        case CopyNode(node, copies):
            return f"add {counted(copies, 'node')} like {node}"
        case _:
            return _of_node(change, objects)


def _of_node(change: NodeChange | Drain, objects: Objects) -> str:
    match change:
        case Cordon(node, unschedulable):
            return f"{'cordon' if unschedulable else 'uncordon'} node {node}"
        case Drain(node):
            return f"drain node {node}"
        case AddTaint(node, taint):
            return f"taint node {node} {taint_text(taint)}"
        case RemoveTaint(node, key, effect):
            return f"untaint node {node} {key}{f':{effect}' if effect else ''}"
        case SetLabel(node, key, value):
            known = objects.get(Node, node)
            old = known.metadata.labels.get(key) if known is not None else None
            was = f" (was {old})" if old is not None and old != value else ""
            return f"label node {node} {key}={value}{was}"
        case RemoveLabel(node, key):
            return f"unlabel node {node} {key}"


def _of_rule(change: RuleChange, rules: Rules) -> str:
    match change:
        case UseConfiguration(text):
            return f"schedule with {'another' if text.strip() else 'the default'} configuration"
        case SetWeight(plugin, weight):
            return f"weight of {plugin} {_old(rules.weight_of(plugin))} → {weight}"
        case SetScoring():
            before = rules.scoring_now()
            old = _scoring(before) if before is not None else "none"
            return f"scoring strategy {old} → {_scoring(change)}"
        case SwitchGate(gate, enabled):
            return f"feature gate {gate} {_old(rules.gate(gate))} → {str(enabled).lower()}"
        case SetSeed(seed):
            return f"seed {rules.seed} → {seed}"
        case SetQueueOrder(order):
            return f"queue order {rules.queue_order} → {order}"


def _old(value: int | bool | None) -> str:
    return "none" if value is None else str(value).lower()


def _scoring(change: SetScoring) -> str:
    points = ", ".join(f"{utilization} %: {score}" for utilization, score in change.shape)
    return f"{change.strategy.value} ({points})" if points else change.strategy.value


def _put(items: Sequence[KubeObject], objects: Objects) -> str:
    there = [item for item in items if objects.get(type(item), item.key) is not None]
    fresh = [item for item in items if objects.get(type(item), item.key) is None]
    parts = [f"replace {_listed(there)}"] if there else []
    return "; ".join([*parts, *([f"create {_listed(fresh)}"] if fresh else [])]) or "put nothing"


def _set(change: SetField, objects: Objects) -> str:
    target = change.target
    path = field_path(change.path, target.kind)
    known = objects.get(target.kind, target.key)
    text = f"{target}: {_short_path(path, known)}"
    if path.adds:
        return f"{text.removesuffix('[+]')} + {_shown(change.value)}"
    old = value_at(msgspec.to_builtins(known), path) if known is not None else None
    return f"{text} {_shown(old)} → {_shown(change.value)}"


def _short_path(path: FieldPath, item: KubeObject | None) -> str:
    """Return a path without what goes without saying."""
    text = str(path)
    if isinstance(item, Pod) and len(item.spec.containers) == 1:
        text = _OF_CONTAINER.sub("", text, count=1)
    return text.removeprefix("status.") if isinstance(item, Node) else text


def _shown(value: Plain) -> str:
    if value is None:
        return "none"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return text if len(text) <= MAX_VALUE_CHARS else f"{text[: MAX_VALUE_CHARS - 1]}…"


def touched(merge: dict[str, object], path: str = "") -> Iterator[str]:
    """Name the fields a patch touches, the deepest maps it goes into."""
    for name, value in merge.items():
        at = f"{path}.{name}" if path else name
        if isinstance(value, dict) and value:
            yield from touched(value, at)
        else:
            yield at


def _owner(change: Scale) -> str:
    return f"{change.kind.lower()} {change.namespace}/{change.name}"


def _listed(items: Sequence[KubeObject]) -> str:
    if len(items) <= N_NAMED:
        return ", ".join(map(named, items))
    counts: dict[str, int] = {}
    for item in items:
        kind = item.kind.lower()
        counts[kind] = counts.get(kind, 0) + 1
    return ", ".join(_plural(n, kind) for kind, n in counts.items())


def named(item: KubeObject) -> str:
    return f"{item.kind.lower()} {item.key}"


def _plural(n: int, what: str) -> str:
    return counted(n, f"{what}e") if what.endswith("ss") and n != 1 else counted(n, what)
