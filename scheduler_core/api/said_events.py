"""What the scheduler said of pods in events: as objects, in `kubectl describe`, and in tables.

A failed attempt writes its message into an event and into the pod's condition PodScheduled. Where
a file has the event alone, the pod gets the condition that its cluster has.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from scheduler_core.api.coerce import Plain
from scheduler_core.api.parse import MALFORMED
from scheduler_core.api.pod import Pod, PodCondition
from scheduler_core.yaml_text import NotYaml, value

KIND: Final = "Event"
MAX_SAID: Final = 20
"""So many pods that are not in a file are named with what was said of them."""
_FAILED: Final = "FailedScheduling"
_MESSAGE: Final = re.compile(r"\s*[0-9]+/[0-9]+ nodes are available[^\n]*")
_ANYWHERE: Final = re.compile(
    r"""(?:pod="(?P<pod>[^"]+)".*?)?(?P<message>\b[0-9]+/[0-9]+ nodes are available[^"\n]*)"""
)
_FIELD: Final = re.compile(r"(?P<name>Name|Namespace):\s+(?P<value>\S+)\s*")
_COLUMNS: Final = re.compile(r"\s{2,}")
_IN_TABLE: Final = re.compile(rf"(?P<before>.*?)\s+{_FAILED}\s+pod/(?P<pod>\S+)\s+(?P<message>.+)")


class SaidOfPod(NamedTuple):
    """The scheduler's message about a pod, and when, as written; both may be empty but the first.

    `pod` is `namespace/name`.
    """

    message: str
    pod: str = ""
    at: str = ""


class _About(msgspec.Struct):
    kind: str = ""
    name: str = ""
    namespace: str = "default"


class _Series(msgspec.Struct, rename="camel"):
    last_observed_time: str | None = None


class _Event(msgspec.Struct, rename="camel"):
    """Of v1, whose pod is the involvedObject, or of events.k8s.io/v1, where it is `regarding`."""

    reason: str = ""
    message: str | None = None
    note: str | None = None
    involved_object: _About | None = None
    regarding: _About | None = None
    last_timestamp: str | None = None
    deprecated_last_timestamp: str | None = None
    event_time: str | None = None
    series: _Series | None = None


def said_event(source: msgspec.Raw | Mapping[str, Plain] | str) -> SaidOfPod | None:
    """Read an event; None for one that is no failed attempt at a pod, or cannot be read."""
    try:
        if isinstance(source, msgspec.Raw):
            if _FAILED.encode() not in bytes(source):
                return None
            found = msgspec.json.decode(source, type=_Event)
        elif isinstance(source, str):
            if _FAILED not in source:
                return None
            plain = value(source)
            found = msgspec.convert(plain[0] if isinstance(plain, list) else plain, _Event)
        else:
            found = msgspec.convert(source, _Event)
    except (*MALFORMED, NotYaml, RecursionError, IndexError):
        return None
    about, message = found.involved_object or found.regarding, found.message or found.note
    if found.reason != _FAILED or about is None or about.kind != Pod.kind or not message:
        return None
    times = (
        found.series.last_observed_time if found.series else None,
        found.last_timestamp,
        found.deprecated_last_timestamp,
        found.event_time,
    )
    return SaidOfPod(
        message, f"{about.namespace}/{about.name}", max(filter(None, times), default="")
    )


def said_in_text(text: str) -> Iterator[SaidOfPod]:
    """Yield what the text of `kubectl describe` or `get events` says, or messages in other text."""
    found = list(_said_in_rows(text))
    yield from found or dict.fromkeys(
        SaidOfPod(_unquoted(each["message"]), each["pod"] or "")
        for each in _ANYWHERE.finditer(text)
    )


def _unquoted(message: str) -> str:
    return message.strip().rstrip("'").replace("''", "'")


def _said_in_rows(text: str) -> Iterator[SaidOfPod]:
    name, namespace = "", "default"
    has_namespaces = text.lstrip().startswith("NAMESPACE")
    for line in text.splitlines():
        if field := _FIELD.fullmatch(line):
            if field["name"] == "Name":
                name, namespace = field["value"], "default"
            else:
                namespace = field["value"]
        elif _FAILED not in line:
            continue
        elif row := _IN_TABLE.fullmatch(line.strip()):
            space = row["before"].split()[0] if has_namespaces else "default"
            yield SaidOfPod(row["message"], f"{space}/{row['pod']}")
        elif len(columns := _COLUMNS.split(line.strip(), maxsplit=4)) == 5 and name:
            yield SaidOfPod(columns[4], f"{namespace}/{name}")


def latest(said: Iterable[SaidOfPod]) -> dict[str, SaidOfPod]:
    """Return what was said last of each pod; of the same time, what comes later."""
    found: dict[str, SaidOfPod] = {}
    for each in said:
        if each.pod not in found or each.at >= found[each.pod].at:
            found[each.pod] = each
    return found


def with_said(pod: Pod, said: SaidOfPod) -> Pod:
    """Return a pod with the condition that goes with an event, unless it has that or a node."""
    conditions = pod.status.conditions
    if pod.spec.node_name or any(each.type == "PodScheduled" for each in conditions):
        return pod
    reason = "Unschedulable" if _MESSAGE.match(said.message) else "SchedulerError"
    added = PodCondition(type="PodScheduled", status="False", reason=reason, message=said.message)
    return replace(pod, status=replace(pod.status, conditions=(*conditions, added)))
