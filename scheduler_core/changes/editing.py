"""What a change makes of one object, and what admission makes of a new one.

Shared by clusters at rest and by the steps of a simulation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from scheduler_core.api import CSINode, KubeObject, Node, Pod, PriorityClass
from scheduler_core.api.errors import FieldError
from scheduler_core.api.parse import decode_timestamp
from scheduler_core.api.priority import PriorityClasses, UnknownPriorityClassError
from scheduler_core.api.validate import validate
from scheduler_core.changes.admission import admit
from scheduler_core.changes.field_paths import field_path, set_value
from scheduler_core.changes.merge_patch import merge_patch
from scheduler_core.changes.node_changes import changed_node, copies_of
from scheduler_core.changes.refusals import Objects, Refused, why_immutable
from scheduler_core.changes.vocabulary import CopyNode, NodeChange, Patch, SetField
from scheduler_core.wording import OR, say, series, told

K = TypeVar("K", bound=KubeObject)


def found(kind: type[K], key: str, objects: Objects) -> K:
    """Return an object. Raises Refused if there is none."""
    known = objects.get(kind, key)
    if known is None:
        raise Refused(_missing(kind, key, objects))
    return known


def _missing(kind: type[KubeObject], key: str, objects: Objects) -> str:
    """Say that an object is not there, and which may have been meant: of that name elsewhere."""
    name = key.rpartition("/")[2]
    near = [item.key for item in objects.all(kind) if item.name == name][:3]
    if not near:
        return say("refused.absent", "there is none")
    return say("refused.absent_near", "there is none; is it {names}?", names=series(near, OR))


def admitted(item: KubeObject, objects: Objects) -> KubeObject:
    """Return an object as the API server's admission would let it in. Raises Refused."""
    if not isinstance(item, Pod):
        return item
    try:
        return PriorityClasses(objects.all(PriorityClass)).resolve(admit(item))
    except UnknownPriorityClassError as error:
        raise Refused(say("refused.forbidden", "forbidden, {why}", why=told(error))) from None


def edited_object(change: Patch | SetField | NodeChange, objects: Objects) -> KubeObject:
    """Return the object that a change edits, as it is. Raises Refused if there is none."""
    if isinstance(change, Patch | SetField):
        return found(change.target.kind, change.target.key, objects)
    return found(Node, change.node, objects)


def replacement(item: KubeObject, objects: Objects) -> tuple[KubeObject | None, KubeObject]:
    """Return the object of that name, if there is one, and what takes its place. Raises Refused.

    It keeps what the server gave the old one: uid, time of creation, and of deletion.
    """
    new, old = admitted(item, objects), objects.get(type(item), item.key)
    if old is None:
        return None, new
    metadata = replace(
        new.metadata,
        uid=old.uid,
        creation_timestamp=old.metadata.creation_timestamp,
        deletion_timestamp=old.metadata.deletion_timestamp,
        deletion_grace_period_seconds=old.metadata.deletion_grace_period_seconds,
    )
    new = replace(new, metadata=metadata)
    if reason := why_immutable(old, new):
        what = f"{item.kind.lower()} {item.key}"
        raise Refused(
            say("refused.object_why", "{object}: refused, {why}", object=what, why=reason)
        )
    return old, new


def edited(change: Patch | SetField | NodeChange, objects: Objects) -> KubeObject:
    """Return the changed object; the same one if it is so already. Raises Refused."""
    old = edited_object(change, objects)
    match change:
        case Patch(_, merge):
            return _accepted(old, _merged(old, merge), objects)
        case SetField():
            return _accepted(old, _with_field(old, change), objects)
        case _:
            assert isinstance(old, Node)
            return changed_node(old, change)


def _merged(old: KubeObject, merge: dict[str, object]) -> KubeObject:
    try:
        new = merge_patch(old, merge)
        validate(new)
    except (FieldError, msgspec.ValidationError) as error:
        raise Refused(say("refused.why", "refused, {why}", why=_words(error))) from None
    return new


def _with_field(old: KubeObject, change: SetField) -> KubeObject:
    tree = msgspec.to_builtins(old)
    try:
        set_value(tree, field_path(change.path, change.target.kind), change.value)
        new = msgspec.convert(tree, type(old), dec_hook=decode_timestamp)
        validate(new)
    except (FieldError, msgspec.ValidationError) as error:
        raise Refused(say("refused.why", "refused, {why}", why=_words(error))) from None
    return old if new == old else new


def _words(error: FieldError | msgspec.ValidationError) -> str:
    if isinstance(error, FieldError):
        return say("field.message", "{field}: {message}", field=error.field, message=error.message)
    return told(error)


def _accepted(old: KubeObject, new: KubeObject, objects: Objects) -> KubeObject:
    """Return what the API server stores of a changed object. Raises Refused."""
    if reason := why_immutable(old, new):
        raise Refused(say("refused.why", "refused, {why}", why=reason))
    if not isinstance(old, Pod) or not isinstance(new, Pod):
        return new
    if old.spec.priority_class_name == new.spec.priority_class_name:
        return new
    if old.spec.priority != new.spec.priority:
        return new
    spec = replace(new.spec, priority=None, preemption_policy="")
    return admitted(replace(new, spec=spec), objects)


def node_copies(change: CopyNode, objects: Objects) -> Iterator[Node | CSINode]:
    """Yield the nodes, and what belongs to them, that a change adds. Raises Refused."""
    node = found(Node, change.node, objects)
    taken = {each.name for each in objects.all(Node)}
    yield from copies_of(node, objects.get(CSINode, change.node), change.copies, taken)
