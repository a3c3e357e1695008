"""Pods and nodes in the JSON form in which the scheduler sends them, as far as kviz knows them.

kviz keeps of an object what scheduling reads (docs/extenders.md lists the rest); what it does not
keep is left out, never made up. As in Go, `kind` and `apiVersion` are left out too, and some
structs appear even when they are empty.
"""

from __future__ import annotations

from collections.abc import MutableMapping

import msgspec

from scheduler_core.api import Node, Pod
from scheduler_core.api.timestamps import timestamp_text

_Document = MutableMapping[str, object]


def pod_json(pod: Pod) -> msgspec.Raw:
    """Encode a pod."""
    document = _document(pod)
    _write_times(_child(document, "metadata"), "creationTimestamp", "deletionTimestamp")
    _write_times(_child(document, "status"), "startTime")
    spec = _child(document, "spec")
    for key in ("containers", "initContainers"):
        for container in _children(spec, key):
            container.setdefault("resources", {})
    return msgspec.Raw(msgspec.json.encode(document))


def node_json(node: Node) -> msgspec.Raw:
    """Encode a node."""
    document = _document(node)
    _write_times(_child(document, "metadata"), "creationTimestamp", "deletionTimestamp")
    for taint in _children(_child(document, "spec"), "taints"):
        _write_times(taint, "timeAdded")
    _child(document, "status")
    return msgspec.Raw(msgspec.json.encode(document))


def _document(item: Pod | Node) -> _Document:
    document = msgspec.to_builtins(item)
    assert isinstance(document, dict)
    return document


def _child(document: _Document, key: str) -> _Document:
    """Return an object inside another, which gets an empty one if it has none."""
    child = document.setdefault(key, {})
    assert isinstance(child, dict)
    return child


def _children(document: _Document, key: str) -> list[_Document]:
    """Return the objects of a list, of which `document` gets copies it may change."""
    listed = document.get(key)
    if not isinstance(listed, list | tuple):
        return []
    children: list[_Document] = [child for child in listed if isinstance(child, dict)]
    document[key] = children
    return children


def _write_times(document: _Document, *keys: str) -> None:
    """Turn nanoseconds into the text the API prints."""
    for key in keys:
        value = document.get(key)
        if isinstance(value, int):
            document[key] = timestamp_text(value)
