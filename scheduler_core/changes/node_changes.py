"""What changes make of a node: values in, values out."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping

from msgspec.structs import replace

from scheduler_core.api import CSINode, Node, ObjectMeta, Taint
from scheduler_core.changes.refusals import Refused
from scheduler_core.changes.vocabulary import (
    AddTaint,
    Cordon,
    NodeChange,
    RemoveLabel,
    RemoveTaint,
    SetLabel,
)
from scheduler_core.wording import say, series

HOSTNAME = "kubernetes.io/hostname"


def changed_node(node: Node, change: NodeChange) -> Node:
    """Return the node with the change; the same object if it is so already. Raises Refused."""
    match change:
        case Cordon(_, unschedulable):
            return marked(node, unschedulable)
        case AddTaint(_, taint):
            others = [
                known
                for known in node.spec.taints
                if (known.key, known.effect) != (taint.key, taint.effect)
            ]
            return _with_taints(node, (*others, taint))
        case RemoveTaint(_, key, effect):
            remaining = [
                known
                for known in node.spec.taints
                if known.key != key or (effect and known.effect != effect)
            ]
            if len(remaining) == len(node.spec.taints):
                there = series(map(taint_text, node.spec.taints))
                if not there:
                    raise Refused(say("refused.no_taint", "there is no such taint"))
                raise Refused(
                    say(
                        "refused.no_taint_but",
                        "there is no such taint; there is {taints}",
                        taints=there,
                    )
                )
            return _with_taints(node, remaining)
        case SetLabel(_, key, value):
            return _with_labels(node, {**node.metadata.labels, key: value})
        case RemoveLabel(_, key):
            if key not in node.metadata.labels:
                there = series(node.metadata.labels)
                if not there:
                    raise Refused(say("refused.no_label", "there is no such label"))
                raise Refused(
                    say(
                        "refused.no_label_but",
                        "there is no such label; there is {labels}",
                        labels=there,
                    )
                )
            labels = {name: text for name, text in node.metadata.labels.items() if name != key}
            return _with_labels(node, labels)


def taint_text(taint: Taint) -> str:
    """Return a taint as kubectl writes it."""
    return (
        f"{taint.key}={taint.value}:{taint.effect}"
        if taint.value
        else f"{taint.key}:{taint.effect}"
    )


def marked(node: Node, unschedulable: bool) -> Node:
    """Return the node cordoned or not; the same object if it is so already."""
    if node.spec.unschedulable == unschedulable:
        return node
    return replace(node, spec=replace(node.spec, unschedulable=unschedulable))


def _with_taints(node: Node, taints: Iterable[Taint]) -> Node:
    return replace(node, spec=replace(node.spec, taints=tuple(taints)))


def _with_labels(node: Node, labels: dict[str, str]) -> Node:
    return replace(node, metadata=replace(node.metadata, labels=labels))


def copies_of(
    node: Node, csi_node: CSINode | None, copies: int, taken: Container[str]
) -> Iterator[Node | CSINode]:
    """Yield nodes like one, each with what CSI drivers say about it (limits of volumes).

    A node's hostname label is its new name. Names that are `taken` are left out.
    """
    n, number = 0, 0
    while n < copies:
        number += 1
        name = f"{node.name}-copy-{number}"
        if name in taken:
            continue
        n += 1
        yield _renamed_node(node, name)
        if csi_node is not None:
            yield replace(csi_node, metadata=_fresh(csi_node, name))


def moved_to(node: Node, name: str, labels: Mapping[str, str]) -> Node:
    """Return a node of another name, with other values of those of the labels that it has."""
    renamed = _renamed_node(node, name)
    there = renamed.metadata.labels
    return _with_labels(renamed, {**there, **{k: v for k, v in labels.items() if k in there}})


def _renamed_node(node: Node, name: str) -> Node:
    metadata = _fresh(node, name)
    if metadata.labels.get(HOSTNAME) == node.name:
        metadata = replace(metadata, labels={**metadata.labels, HOSTNAME: name})
    return replace(node, metadata=metadata)


def _fresh(item: Node | CSINode, name: str) -> ObjectMeta:
    """Return the metadata of an object that is created under another name."""
    return replace(
        item.metadata,
        name=name,
        uid="",
        owner_references=(),
        creation_timestamp=None,
        generation=None,
        resource_version="",
    )
