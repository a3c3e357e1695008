"""What an API server says of a cluster: lists, and changes as a watch sends them.

Objects are read as uploads are: secrets are dropped, and so is what scheduling does not read. Of
the Events only those that a scheduler wrote about pods are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import msgspec

from scheduler_core.api import KubeObject
from scheduler_core.api.errors import UNREADABLE, ParseError, Place
from scheduler_core.api.parse import decode
from scheduler_core.api.timestamps import TimestampError, parse_timestamp
from scheduler_core.api.types import KINDS

EVENTS: Final = "events"


def _plural(kind: str) -> str:
    name = kind.lower()
    if name.endswith("y"):
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith("s") else f"{name}s"


RESOURCES: Final[Mapping[str, type[KubeObject]]] = {
    _plural(name): kind for name, kind in KINDS.items()
}
"""The kinds that are followed, by the name that addresses have: `pods`, `storageclasses`."""

What = Literal["ADDED", "MODIFIED", "DELETED"]


class SchedulerEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A Kubernetes Event that a scheduler wrote about a pod, in its words.

    `pod_version` is the resourceVersion of the pod that it was about; `count` how often it came.
    """

    uid: str
    key: str
    pod_uid: str
    type: Literal["Normal", "Warning"]
    reason: str
    message: str
    component: str
    count: int = 1
    pod_version: str = ""


Item = KubeObject | SchedulerEvent


@dataclass(frozen=True, slots=True)
class Change:
    """One change of one object, as it is afterwards (deleted: as it was at last).

    `version` is the resourceVersion of the write, `at_ns` when the API server says it was written
    (nanoseconds since the epoch; 0 where it does not say).
    """

    resource: str
    what: What
    version: int
    at_ns: int
    item: Item


@dataclass(frozen=True, slots=True)
class Listed:
    """All objects of a kind at a resourceVersion."""

    resource: str
    version: int
    items: tuple[Item, ...]
    at_ns: int = 0


class UnreadableChange(ValueError):
    """What the API server sent is not what a watch sends."""


_Time = str | int | None
"""As the API server writes it, or in nanoseconds as kviz stores it."""


class _Written(msgspec.Struct):
    time: _Time = None


class _Metadata(msgspec.Struct, rename="camel"):
    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    creation_timestamp: _Time = None
    managed_fields: list[_Written] = []


class _Condition(msgspec.Struct, rename="camel"):
    last_transition_time: _Time = None


class _Status(msgspec.Struct):
    conditions: list[_Condition] | None = None


class _Envelope(msgspec.Struct):
    """Of any object: which version it is, and when that was written."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    status: object = None


class _Regarding(msgspec.Struct, rename="camel"):
    kind: str = ""
    namespace: str = ""
    name: str = ""
    uid: str = ""
    resource_version: str = ""


class _Series(msgspec.Struct, rename="camel"):
    count: int = 1
    last_observed_time: _Time = None


class _Source(msgspec.Struct):
    component: str = ""


class _Event(msgspec.Struct, rename="camel"):
    """An Event of the core group, or of events.k8s.io."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)
    involved_object: _Regarding | None = None
    regarding: _Regarding | None = None
    reason: str = ""
    message: str = ""
    note: str = ""
    type: str = "Normal"
    reporting_component: str = ""
    reporting_controller: str = ""
    source: _Source | None = None
    event_time: _Time = None
    last_timestamp: _Time = None
    series: _Series | None = None
    count: int | None = None


_ENVELOPE: Final = msgspec.json.Decoder(_Envelope)
_EVENT: Final = msgspec.json.Decoder(_Event)
SCHEDULING_REASONS: Final = frozenset({"Scheduled", "FailedScheduling", "Preempted"})
"""Of what a scheduler writes about pods, what says how it decided."""


def change_of(resource: str, what: What, raw: bytes) -> Change | None:
    """Read the object of a watch event; None for an Event that no scheduler wrote about a pod.

    Raises UnreadableChange.
    """
    try:
        envelope = _ENVELOPE.decode(raw)
    except UNREADABLE as error:
        raise UnreadableChange(f"{resource}: {error}") from None
    version = version_of(envelope.metadata.resource_version)
    item = _item(resource, raw)
    if item is None:
        return None
    at_ns = 0 if what == "DELETED" else _written_ns(resource, envelope, raw)
    return Change(resource, what, version, at_ns, item)


def listed(resource: str, version: str, raws: Sequence[bytes]) -> Listed:
    """Read the items of a whole list. Raises UnreadableChange."""
    items, at_ns = [], 0
    for raw in raws:
        change = change_of(resource, "ADDED", raw)
        if change is not None:
            items.append(change.item)
            at_ns = max(at_ns, change.at_ns)
    return Listed(resource, version_of(version), tuple(items), at_ns)


def version_of(text: str) -> int:
    """Return a resourceVersion as a number. Raises UnreadableChange."""
    if not text.isdecimal():
        raise UnreadableChange(f"the resourceVersion {text!r} is not a number")
    return int(text)


def _item(resource: str, raw: bytes) -> Item | None:
    if resource == EVENTS:
        return _scheduler_event(_EVENT.decode(raw))
    try:
        return decode(raw, RESOURCES[resource], Place("", 0), is_own=True)
    except ParseError as error:
        raise UnreadableChange(f"{resource}: {error}") from None


def _scheduler_event(event: _Event) -> SchedulerEvent | None:
    about = event.regarding or event.involved_object
    component = event.reporting_component or event.reporting_controller
    component = component or (event.source.component if event.source else "")
    if about is None or about.kind != "Pod" or event.reason not in SCHEDULING_REASONS:
        return None
    return SchedulerEvent(
        uid=event.metadata.uid,
        key=f"{event.metadata.namespace}/{event.metadata.name}",
        pod_uid=about.uid,
        type="Warning" if event.type == "Warning" else "Normal",
        reason=event.reason,
        message=event.message or event.note,
        component=component,
        count=event.series.count if event.series else event.count or 1,
        pod_version=about.resource_version,
    )


def _written_ns(resource: str, envelope: _Envelope, raw: bytes) -> int:
    """Return the latest time at which the object says that it was written; 0 if it does not."""
    metadata = envelope.metadata
    times = [metadata.creation_timestamp, *(each.time for each in metadata.managed_fields)]
    if resource == EVENTS:
        event = _EVENT.decode(raw)
        times += [event.event_time, event.last_timestamp]
        times += [event.series.last_observed_time] if event.series else []
    elif resource == "pods":
        times += _transitions(envelope.status)
    return max((_time_ns(each) for each in times if each), default=0)


def _transitions(status: object) -> Iterator[_Time]:
    try:
        conditions = msgspec.convert(status or {}, _Status).conditions
    except msgspec.ValidationError:
        return
    for condition in conditions or ():
        yield condition.last_transition_time


def _time_ns(time: str | int) -> int:
    if isinstance(time, int):
        return time
    try:
        return parse_timestamp(time)
    except TimestampError:
        return 0


def document_of(change: Change) -> dict[str, object]:
    """Return the object of a change as `change_of` reads it again, with the same version and time.

    It has what kviz reads of an object, and nothing else. Version 0 leaves the object its own.
    """
    item = change.item
    known: dict[str, object] = {"managedFields": [{"time": change.at_ns}]}
    if change.version:
        known["resourceVersion"] = str(change.version)
    if isinstance(item, KubeObject):
        document: dict[str, object] = msgspec.to_builtins(item)
        metadata = document.setdefault("metadata", {})
        assert isinstance(metadata, dict)
        metadata.update(known)
        return document
    namespace, _, name = item.key.rpartition("/")
    return {
        "metadata": {
            "namespace": namespace,
            "name": name,
            "uid": item.uid,
            "resourceVersion": str(change.version),
        }
        | known,
        "regarding": {
            "kind": "Pod",
            "uid": item.pod_uid,
            "resourceVersion": item.pod_version,
        },
        "reportingController": item.component,
        "type": item.type,
        "reason": item.reason,
        "note": item.message,
        "count": item.count,
    }


def identity(item: Item) -> str:
    """Return what an object goes by among those of its kind."""
    return item.key
