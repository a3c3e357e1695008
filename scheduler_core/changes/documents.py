"""Changes and objects as small JSON documents: what REST, deep links and run files carry.

`reading` is the inverse.
"""

from __future__ import annotations

import msgspec
from msgspec import inspect

from scheduler_core.api import KubeObject
from scheduler_core.api.coerce import Plain, fields_of
from scheduler_core.api.timestamps import timestamp_text
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
    Target,
    UseConfiguration,
)

Document = dict[str, Plain]


def document_of(change: Change) -> Document:
    """Return a change as a JSON document with one key, which says what it does."""
    match change:
        case Create(objects, copies):
            made: Document = {"create": [object_document(item) for item in objects]}
            return made | ({"copies": copies} if copies else {})
        case Put(objects):
            return {"put": [object_document(item) for item in objects]}
        case Patch(target, merge):
            return {"patch": {**_named(target), "merge": merge}}
        case SetField(target, path, value):
            return {"set": {**_named(target), "path": path, "value": value}}
        case Delete(target, grace_seconds):
            grace = {} if grace_seconds is None else {"gracePeriodSeconds": grace_seconds}
            return {"delete": {**_named(target), **grace}}
        case Scale(kind, namespace, name, replicas):
            owner = {"kind": kind, "namespace": namespace, "name": name}
            return {"scale": {**owner, "replicas": replicas}}
        case Restore(objects, remove):
            placed = [{"place": p.place, "object": object_document(p.item)} for p in objects]
            return {"restore": {"objects": placed, "remove": [_named(each) for each in remove]}}
        case (
            UseConfiguration()
            | SetWeight()
            | SetScoring()
            | SwitchGate()
            | SetSeed()
            | SetQueueOrder()
        ):
            return _of_rule(change)
        case _:
            return _of_node(change)


def _of_node(change: NodeChange | Drain | CopyNode) -> Document:
    match change:
        case Cordon(node, unschedulable):
            return {"cordon" if unschedulable else "uncordon": node}
        case Drain(node):
            return {"drain": node}
        case AddTaint(node, taint):
            value = {"value": taint.value} if taint.value else {}
            return {"taint": {"node": node, "key": taint.key, **value, "effect": taint.effect}}
        case RemoveTaint(node, key, effect):
            return {"untaint": {"node": node, "key": key, **({"effect": effect} if effect else {})}}
        case SetLabel(node, key, value):
            return {"label": {"node": node, "key": key, "value": value}}
        case RemoveLabel(node, key):
            return {"unlabel": {"node": node, "key": key}}
        case CopyNode(node, copies):
            return {"copyNode": {"node": node, "copies": copies}}


def _of_rule(change: RuleChange) -> Document:
    match change:
        case UseConfiguration(text):
            return {"config": text}
        case SetWeight(plugin, weight):
            return {"weight": {"plugin": plugin, "weight": weight}}
        case SetScoring(strategy, shape):
            points: list[Plain] = [{"utilization": u, "score": s} for u, s in shape]
            return {"scoring": {"type": strategy.value, **({"shape": points} if shape else {})}}
        case SwitchGate(gate, enabled):
            return {"gate": {"name": gate, "enabled": enabled}}
        case SetSeed(seed):
            return {"seed": seed}
        case SetQueueOrder(order):
            return {"queueOrder": order}


def _named(target: Target) -> Document:
    namespace = {"namespace": target.namespace} if target.namespace else {}
    return {"kind": target.kind.kind, **namespace, "name": target.name}


def object_document(item: KubeObject) -> Document:
    """Return an object as the API server would print it: kubectl reads it, and so does kviz.

    A status that says nothing is left out.
    """
    document: Document = {"apiVersion": item.api_version, "kind": item.kind}
    plain = _with_times(msgspec.to_builtins(item), inspect.type_info(type(item)))
    assert isinstance(plain, dict)
    if not plain.get("status"):
        plain.pop("status", None)
    return document | plain


def _with_times(value: Plain, of: inspect.Type) -> Plain:
    """Return plain data with times as text."""
    match of:
        case inspect.CustomType() if isinstance(value, int):
            return timestamp_text(value)
        case inspect.StructType(cls=cls) if isinstance(value, dict):
            types = {field.name: field.type for field in fields_of(cls)}
            return {name: _with_times(item, types[name]) for name, item in value.items()}
        case inspect.VarTupleType(item_type=item_type) if isinstance(value, list | tuple):
            return [_with_times(item, item_type) for item in value]
        case inspect.DictType(value_type=value_type) if isinstance(value, dict):
            return {name: _with_times(item, value_type) for name, item in value.items()}
        case inspect.UnionType(types=types):
            choices = [each for each in types if not isinstance(each, inspect.NoneType)]
            return _with_times(value, choices[0]) if len(choices) == 1 else value
        case _:
            return value
