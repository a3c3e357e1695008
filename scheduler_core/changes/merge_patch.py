"""JSON merge patches (RFC 7386) on API objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from scheduler_core.api import KubeObject, Pod
from scheduler_core.api.coerce import Plain, coerce_struct
from scheduler_core.api.parse import decode_timestamp

SECOND_NS = 1_000_000_000

K = TypeVar("K", bound=KubeObject)

Tree = dict[str, Plain]


def merge_patch(item: K, patch: Tree) -> K:
    """Return the object with the patch applied: maps merge, null removes, lists replace.

    Raises FieldError for a value that its field cannot hold, msgspec.ValidationError if the
    result is no object of its kind.
    """
    kind = type(item)
    merged: Tree = msgspec.to_builtins(item)
    _set(merged, coerce_struct(without_nulls(patch), kind))
    _remove(merged, patch)
    return _through_json(msgspec.convert(merged, kind, dec_hook=decode_timestamp))


def _through_json(item: K) -> K:
    """Cut a pod's start to whole seconds: a patched object has been JSON, which holds no less."""
    if not isinstance(item, Pod) or item.status.start_time is None:
        return item
    start_ns = item.status.start_time // SECOND_NS * SECOND_NS
    return replace(item, status=replace(item.status, start_time=start_ns))


def without_nulls(patch: Mapping[str, Plain]) -> Tree:
    """Return a patch without the fields it removes."""
    return {
        key: without_nulls(value) if isinstance(value, dict) else value
        for key, value in patch.items()
        if value is not None
    }


def _set(target: Tree, patch: Mapping[str, Plain]) -> None:
    for key, value in patch.items():
        known = target.get(key)
        if isinstance(value, Mapping) and isinstance(known, dict):
            _set(known, value)
        else:
            target[key] = value


def _remove(target: Tree, patch: Tree) -> None:
    for key, value in patch.items():
        known = target.get(key)
        if value is None:
            target.pop(key, None)
        elif isinstance(value, dict) and isinstance(known, dict):
            _remove(known, value)
