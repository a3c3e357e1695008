"""What undoes a change: of the same vocabulary, worked out against what was there before."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from scheduler_core.api import KubeObject, Node
from scheduler_core.api.coerce import Plain
from scheduler_core.changes.applying import RestingCluster, apply
from scheduler_core.changes.field_paths import field_path, value_at
from scheduler_core.changes.rules import Rules, undone_rule
from scheduler_core.changes.vocabulary import (
    Change,
    Cordon,
    Placed,
    RemoveLabel,
    Restore,
    RuleChange,
    SetField,
    SetLabel,
    Target,
    target_of,
)


def inverse(
    change: Change, objects: Sequence[KubeObject], rules: Rules | None = None
) -> tuple[Change, ...]:
    """Return what takes a change back, made to `objects` and `rules`; nothing if it did nothing.

    Said as a person would say it (`uncordon`, the old value) where that brings back the very same
    objects, else as a Restore. Raises ChangeError if the change cannot be carried out.
    """
    if isinstance(change, RuleChange):
        return undone_rule(change, rules or Rules())
    before = list(objects)
    after = apply(before, [change])
    if _same(after, before):
        return ()
    said = _in_words(change, RestingCluster(before))
    if said is not None and _same(apply(after, [said]), before):
        return (said,)
    return (_restoring(before, after),)


def _same(some: list[KubeObject], others: list[KubeObject]) -> bool:
    """Whether objects are the same, the order in their maps among it: the trace depends on it."""
    return len(some) == len(others) and all(map(_identical, some, others))


def _identical(one: KubeObject, other: KubeObject) -> bool:
    if one is other:
        return True
    return one == other and msgspec.msgpack.encode(one) == msgspec.msgpack.encode(other)


def _in_words(change: Change, before: RestingCluster) -> Change | None:
    """Return what undoes a change of one field, if that can be said; whether it does is open."""
    match change:
        case Cordon(node, unschedulable):
            return Cordon(node, not unschedulable)
        case SetLabel(node, key, _):
            known = before.get(Node, node)
            old = known.metadata.labels.get(key) if known is not None else None
            return RemoveLabel(node, key) if old is None else SetLabel(node, key, old)
        case SetField(target, path, _):
            where = field_path(path, target.kind)
            if where.adds:
                return None
            tree = msgspec.to_builtins(before.get(target.kind, target.key))
            return SetField(target, path, _plain(value_at(tree, where)))
        case _:
            return None


def _plain(value: Plain) -> Plain:
    """Return a value as JSON has it: lists for tuples."""
    plain: Plain = msgspec.json.decode(msgspec.json.encode(value))
    return plain


def _restoring(before: list[KubeObject], after: list[KubeObject]) -> Restore:
    """Return what makes the objects after a change into those before it."""
    now: dict[Target, KubeObject] = {target_of(item): item for item in after}
    placed = tuple(
        Placed(place, item)
        for place, item in enumerate(before)
        if (known := now.pop(target_of(item), None)) is None or not _identical(known, item)
    )
    return Restore(placed, tuple(now))
