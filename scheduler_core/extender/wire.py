"""What goes over the wire to an extender and back: Go's field names, Kubernetes objects inside.

Replies are read as Go reads them: keys in any case, unknown keys ignored, null for nothing.

Upstream: v1.36 staging/src/k8s.io/kube-scheduler/extender/v1/types.go.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from scheduler_core.extender.go_json import GoJSONError, Literal, Plain, decode_first

Json = msgspec.Raw
"""One encoded Kubernetes object."""

MAX_INT64: Final = (1 << 63) - 1


@dataclass(frozen=True, slots=True)
class SentVictims:
    """The victims of one node: whole pods, or only their uids, and broken budgets."""

    uids: Sequence[str]
    n_pdb_violations: int
    pods: Sequence[Json] | None = None


@dataclass(frozen=True, slots=True)
class FilterResult:
    """`ExtenderFilterResult`; of `nodes` only the names. None where the reply has neither."""

    node_names: tuple[str, ...] | None = None
    nodes: tuple[str, ...] | None = None
    failed: Mapping[str, str] | None = None
    failed_and_unresolvable: Mapping[str, str] | None = None
    error: str = ""


@dataclass(frozen=True, slots=True)
class HostPriority:
    host: str
    score: int


@dataclass(frozen=True, slots=True)
class MetaVictims:
    """What an extender wants of one node."""

    uids: tuple[str, ...]
    n_pdb_violations: int


# ---------------------------------------------------------------- requests


def extender_args(pod: Json, *, nodes: Sequence[Json] | None, names: Sequence[str] | None) -> bytes:
    """Encode `ExtenderArgs`: either node objects or node names."""
    listed = None if nodes is None else {"metadata": {}, "items": nodes}
    return msgspec.json.encode({"Pod": pod, "Nodes": listed, "NodeNames": names})


def preemption_args(pod: Json, victims: Mapping[str, SentVictims], *, meta: bool) -> bytes:
    """Encode `ExtenderPreemptionArgs`; `meta` for uids instead of whole pods."""
    sent = {
        node: {
            "Pods": [{"UID": uid} for uid in each.uids] if meta else each.pods,
            "NumPDBViolations": each.n_pdb_violations,
        }
        for node, each in sorted(victims.items())
    }
    return msgspec.json.encode(
        {
            "Pod": pod,
            "NodeNameToVictims": None if meta else sent,
            "NodeNameToMetaVictims": sent if meta else None,
        }
    )


def binding_args(name: str, namespace: str, uid: str, node: str) -> bytes:
    """Encode `ExtenderBindingArgs`."""
    return msgspec.json.encode(
        {"PodName": name, "PodNamespace": namespace, "PodUID": uid, "Node": node}
    )


# ---------------------------------------------------------------- replies


def filter_result(body: bytes) -> FilterResult:
    """Decode a reply to filter. Raises GoJSONError."""
    at = _Place("ExtenderFilterResult", "v1.ExtenderFilterResult")
    found = _members(decode_first(body), at, _FILTER_FIELDS)
    return FilterResult(
        node_names=_node_names(found.get("NodeNames"), at.inner("NodeNames", "[]string")),
        nodes=_node_list(found.get("Nodes"), at.inner("Nodes", "v1.NodeList")),
        failed=_reasons(found, at, "FailedNodes"),
        failed_and_unresolvable=_reasons(found, at, "FailedAndUnresolvableNodes"),
        error=_text(found.get("Error"), at.inner("Error", "string")),
    )


def host_priorities(body: bytes) -> tuple[HostPriority, ...]:
    """Decode a reply to prioritize. Raises GoJSONError."""
    at = _Place("HostPriorityList", "v1.HostPriorityList")
    result = []
    for item, place in _items(decode_first(body), at, "v1.HostPriority"):
        fields = _members(item, place, ("Host", "Score"))
        host = _text(fields.get("Host"), place.inner("Host", "string"))
        score = _integer(fields.get("Score"), place.inner("Score", "int64"))
        result.append(HostPriority(host, score))
    return tuple(result)


def preemption_result(body: bytes) -> dict[str, MetaVictims]:
    """Decode a reply to preempt, in its own order of nodes. Raises GoJSONError."""
    at = _Place("ExtenderPreemptionResult", "v1.ExtenderPreemptionResult")
    found = _members(decode_first(body), at, ("NodeNameToMetaVictims",))
    by_node = at.inner("NodeNameToMetaVictims", "map[string]*v1.MetaVictims")
    return {
        name: _meta_victims(value, by_node.inner(name, "v1.MetaVictims"))
        for name, value in _mapping(found.get("NodeNameToMetaVictims"), by_node).items()
    }


def binding_error(body: bytes) -> str:
    """Decode a reply to bind: its error text. Raises GoJSONError."""
    at = _Place("ExtenderBindingResult", "v1.ExtenderBindingResult")
    found = _members(decode_first(body), at, ("Error",))
    return _text(found.get("Error"), at.inner("Error", "string"))


_FILTER_FIELDS: Final = ("Nodes", "NodeNames", "FailedNodes", "FailedAndUnresolvableNodes", "Error")


def _node_names(value: Plain, at: _Place) -> tuple[str, ...] | None:
    if value is None:
        return None
    return tuple(_text(item, place) for item, place in _items(value, at, "string"))


def _node_list(value: Plain, at: _Place) -> tuple[str, ...] | None:
    if value is None:
        return None
    items = at.inner("items", "[]v1.Node")
    return tuple(
        _node_name(item, place)
        for item, place in _items(_members(value, at, ("items",)).get("items"), items, "v1.Node")
    )


def _node_name(value: Plain, at: _Place) -> str:
    metadata = at.inner("metadata", "v1.ObjectMeta")
    node = _members(value, at, ("metadata",))
    fields = _members(node.get("metadata"), metadata, ("name",))
    return _text(fields.get("name"), metadata.inner("name", "string"))


def _reasons(found: Mapping[str, Plain], at: _Place, name: str) -> dict[str, str]:
    reasons = at.inner(name, "v1.FailedNodesMap")
    return {
        node: _text(text, reasons.inner(node, "string"))
        for node, text in _mapping(found.get(name), reasons).items()
    }


def _meta_victims(value: Plain, at: _Place) -> MetaVictims:
    fields = _members(value, at, ("Pods", "NumPDBViolations"))
    pods = _items(fields.get("Pods"), at.inner("Pods", "[]*v1.MetaPod"), "v1.MetaPod")
    violations = at.inner("NumPDBViolations", "int64")
    return MetaVictims(
        tuple(
            _text(_members(pod, place, ("UID",)).get("UID"), place.inner("UID", "string"))
            for pod, place in pods
        ),
        _integer(fields.get("NumPDBViolations"), violations),
    )


# ---------------------------------------------------------------- shapes


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a value stands in Go's types, for the error text."""

    root: str
    type: str
    path: str = ""

    def inner(self, name: str, type: str) -> _Place:
        return _Place(self.root, type, f"{self.path}.{name}")


def _mismatch(value: Plain, at: _Place) -> GoJSONError:
    match value:
        case bool():
            word = "bool"
        case str():
            word = "string"
        case list():
            word = "array"
        case dict():
            word = "object"
        case _:
            text = value.text if isinstance(value, Literal) else str(value)
            word = f"number {text}" if at.type == "int64" else "number"
    target = f"Go struct field {at.root}{at.path}" if at.path else "Go value"
    return GoJSONError(f"json: cannot unmarshal {word} into {target} of type {at.type}")


def _mapping(value: Plain, at: _Place) -> Mapping[str, Plain]:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise _mismatch(value, at)
    return value


def _members(value: Plain, at: _Place, names: Sequence[str]) -> dict[str, Plain]:
    """Return the known members of an object under Go's names; the last of equals counts."""
    known = {name.casefold(): name for name in names}
    return {
        known[key.casefold()]: item
        for key, item in _mapping(value, at).items()
        if item is not None and key.casefold() in known
    }


def _items(value: Plain, at: _Place, type: str) -> Iterator[tuple[Plain, _Place]]:
    """Yield the items of a list, each with its place."""
    if value is None:
        return
    if not isinstance(value, list):
        raise _mismatch(value, at)
    for i, item in enumerate(value):
        yield item, at.inner(str(i), type)


def _text(value: Plain, at: _Place) -> str:
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _mismatch(value, at)
    return value


def _integer(value: Plain, at: _Place) -> int:
    if value is None:
        return 0
    in_range = isinstance(value, int) and -MAX_INT64 - 1 <= value <= MAX_INT64
    if not isinstance(value, int) or isinstance(value, bool) or not in_range:
        raise _mismatch(value, at)
    return value
