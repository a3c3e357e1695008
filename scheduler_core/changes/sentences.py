"""Changes in words, one sentence each: `pod default/web: requests.cpu 2 → 500m`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from scheduler_core.api import KubeObject, Node, Pod
from scheduler_core.api.coerce import Plain
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
from scheduler_core.wording import SEMICOLON, say, series

NOTHING: Final = say("value.none", "none")
"""Where no value is."""
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
            return say("change.create", "create {objects}", objects=_listed(list(change.items())))
        case Put(items):
            return _put(items, objects)
        case Restore():
            return _restore(change)
        case Patch(target, merge):
            return say(
                "change.patch",
                "patch {target}: {fields}",
                target=target,
                fields=series(touched(merge)),
            )
        case SetField():
            return _set(change, objects)
        case Delete(target, _):
            return say("change.delete", "delete {target}", target=target)
        case Scale():
            return _scale(change, objects)
        case CopyNode(node, copies):
            if copies == 1:
                return say("change.add_node", "add 1 node like {node}", node=node)
            return say("change.add_nodes", "add {n:,} nodes like {node}", n=copies, node=node)
        case _:
            return _of_node(change, objects)


def _of_node(change: NodeChange | Drain, objects: Objects) -> str:
    match change:
        case Cordon(node, unschedulable):
            if unschedulable:
                return say("change.cordon", "cordon node {node}", node=node)
            return say("change.uncordon", "uncordon node {node}", node=node)
        case Drain(node):
            return say("change.drain", "drain node {node}", node=node)
        case AddTaint(node, taint):
            return say(
                "change.taint", "taint node {node} {taint}", node=node, taint=taint_text(taint)
            )
        case RemoveTaint(node, key, effect):
            name = f"{key}:{effect}" if effect else key
            return say("change.untaint", "untaint node {node} {taint}", node=node, taint=name)
        case SetLabel(node, key, value):
            known = objects.get(Node, node)
            old = known.metadata.labels.get(key) if known is not None else None
            text = say(
                "change.label", "label node {node} {label}", node=node, label=f"{key}={value}"
            )
            if old is None or old == value:
                return text
            return say("change.was", "{what} (was {old})", what=text, old=old)
        case RemoveLabel(node, key):
            return say("change.unlabel", "unlabel node {node} {key}", node=node, key=key)


def _of_rule(change: RuleChange, rules: Rules) -> str:
    match change:
        case UseConfiguration(text):
            if text.strip():
                return say("change.configuration", "schedule with another configuration")
            return say("change.configuration_default", "schedule with the default configuration")
        case SetWeight(plugin, weight):
            return say(
                "change.weight",
                "weight of {plugin} {old} → {new}",
                plugin=plugin,
                old=_old(rules.weight_of(plugin)),
                new=weight,
            )
        case SetScoring():
            before = rules.scoring_now()
            old = _scoring(before) if before is not None else NOTHING
            return say(
                "change.scoring_strategy",
                "scoring strategy {old} → {new}",
                old=old,
                new=_scoring(change),
            )
        case SwitchGate(gate, enabled):
            return say(
                "change.gate",
                "feature gate {gate} {old} → {new}",
                gate=gate,
                old=_old(rules.gate(gate)),
                new=str(enabled).lower(),
            )
        case SetSeed(seed):
            return say("change.seed", "seed {old} → {new}", old=rules.seed, new=seed)
        case SetQueueOrder(order):
            return say(
                "change.queue_order", "queue order {old} → {new}", old=rules.queue_order, new=order
            )


def _old(value: int | bool | None) -> str:
    return NOTHING if value is None else str(value).lower()


def _scoring(change: SetScoring) -> str:
    points = ", ".join(f"{utilization} %: {score}" for utilization, score in change.shape)
    return f"{change.strategy.value} ({points})" if points else change.strategy.value


def _restore(change: Restore) -> str:
    back, remove = [each.item for each in change.objects], change.remove
    away = series(map(str, remove))
    if len(remove) > N_NAMED:
        away = say("count.objects", "{n:,} objects", n=len(remove))
    parts = [say("change.put_back", "put back {objects}", objects=_listed(back))] if back else []
    parts += [say("change.take_away", "take away {objects}", objects=away)] if away else []
    return series(parts, SEMICOLON) or say("change.undo_nothing", "undo nothing")


def _scale(change: Scale, objects: Objects) -> str:
    n = len(pods_of(objects, change.kind, change.namespace, change.name))
    owner, replicas = _owner(change), change.replicas
    if not n:
        return say("change.scale", "scale {owner} to {n}", owner=owner, n=replicas)
    return say(
        "change.scale_from", "scale {owner} from {before} to {n}", owner=owner, before=n, n=replicas
    )


def _put(items: Sequence[KubeObject], objects: Objects) -> str:
    there = [item for item in items if objects.get(type(item), item.key) is not None]
    fresh = [item for item in items if objects.get(type(item), item.key) is None]
    parts = [say("change.replace", "replace {objects}", objects=_listed(there))] if there else []
    parts += [say("change.create", "create {objects}", objects=_listed(fresh))] if fresh else []
    return series(parts, SEMICOLON) or say("change.put_nothing", "put nothing")


def _set(change: SetField, objects: Objects) -> str:
    target = change.target
    path = field_path(change.path, target.kind)
    known = objects.get(target.kind, target.key)
    field, new = _short_path(path, known), _shown(change.value)
    if path.adds:
        field = field.removesuffix("[+]")
        return say(
            "change.field_added", "{target}: {field} + {new}", target=target, field=field, new=new
        )
    old = value_at(msgspec.to_builtins(known), path) if known is not None else None
    return say(
        "change.field",
        "{target}: {field} {old} → {new}",
        target=target,
        field=field,
        old=_shown(old),
        new=new,
    )


def _short_path(path: FieldPath, item: KubeObject | None) -> str:
    """Return a path without what goes without saying."""
    text = str(path)
    if isinstance(item, Pod) and len(item.spec.containers) == 1:
        text = _OF_CONTAINER.sub("", text, count=1)
    return text.removeprefix("status.") if isinstance(item, Node) else text


def _shown(value: Plain) -> str:
    if value is None:
        return NOTHING
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
        return series(map(named, items))
    counts: dict[str, int] = {}
    for item in items:
        kind = item.kind.lower()
        counts[kind] = counts.get(kind, 0) + 1
    return series(_plural(n, kind) for kind, n in counts.items())


def named(item: KubeObject) -> str:
    return f"{item.kind.lower()} {item.key}"


def _plural(n: int, kind: str) -> str:
    if n == 1:
        return say("count.kind_same", "{n:,} {kind}", n=n, kind=kind)
    if kind.endswith("ss"):
        return say("count.kind_es", "{n:,} {kind}es", n=n, kind=kind)
    return say("count.kind_s", "{n:,} {kind}s", n=n, kind=kind)
