"""What a change asks of a real cluster that kviz cannot know or does not wait for, in words.

A change that cannot be made at all is refused (`refusals`). Here is what the API server might say
to one that can: said before a run, so that nobody takes its end for a promise.

Upstream: v1.36 pkg/apis/core/validation (ValidatePodUpdate, ValidatePodResize), the admission
plugins ResourceQuota, LimitRanger and Priority, and the attach/detach controller.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from scheduler_core.api import KubeObject, Pod, PriorityClass, ResourceSlice, VolumeAttachment
from scheduler_core.api.coerce import Plain
from scheduler_core.api.priority import DEFAULT_PRIORITY, SYSTEM_PRIORITY_CLASSES
from scheduler_core.changes.applying import RestingCluster, carry_out, leaving
from scheduler_core.changes.owners import pods_of
from scheduler_core.changes.refusals import Objects, Refused
from scheduler_core.changes.sentences import touched
from scheduler_core.changes.vocabulary import (
    Change,
    CopyNode,
    Create,
    ObjectChange,
    Patch,
    Put,
    RuleChange,
    Scale,
    SetField,
)
from scheduler_core.wording import say, some_of

_REQUEST: Final = re.compile(r"spec\.(containers|initContainers)?.*\bresources\b")
_RESIZED: Final = re.compile(
    r"spec\.((containers|initContainers)\[[^\]]*\]\.)?resources\.(requests|limits)[.\[](cpu|memory)\]?"
)
_IN_PLACE: Final = re.compile(
    r"metadata\b|status\b|spec\.(tolerations\[\+\]|schedulingGates|activeDeadlineSeconds"
    r"|terminationGracePeriodSeconds|(containers|initContainers)\[[^\]]*\]\.image)"
)
_LAST_STEP: Final = re.compile(r"\[([^\[\]]+)\]$|\.([^.\[\]]+)$")
_NARROWED_WHILE_GATED: Final = re.compile(r"spec\.(nodeSelector|affinity)\b")


def limits_of(change: ObjectChange, objects: Objects) -> Iterator[str]:
    """Yield sentences about a change of objects as they are before it. May raise Refused."""
    pods = list(_made(change, objects))
    if pods:
        yield _quota(pods)
    if isinstance(change, SetField | Patch) and change.target.kind is Pod:
        pod = objects.get(Pod, change.target.key)
        if pod is not None:
            yield from _of_edit(pod, _fields(change), objects)
    yield from _volumes(leaving(change, objects), objects)
    if isinstance(change, CopyNode):
        slices = [each for each in objects.all(ResourceSlice) if each.spec.node_name == change.node]
        if slices:
            yield say(
                "limit.no_devices_copied",
                "the copies have none of the devices of node {node}",
                node=change.node,
            )


def limits(objects: Sequence[KubeObject], changes: Iterable[Change]) -> list[tuple[str, ...]]:
    """Return the notes on each change, one after the other; none for refused ones."""
    cluster, found = RestingCluster(objects), []
    for change in changes:
        said: tuple[str, ...] = ()
        if not isinstance(change, RuleChange):
            try:
                said = tuple(limits_of(change, cluster))
                carry_out(change, cluster)
            except Refused:
                said = ()
        found.append(said)
    return found


def _made(change: ObjectChange, objects: Objects) -> Iterator[Pod]:
    """Yield the pods that are made by a change, or as many of their template."""
    match change:
        case Create(items) | Put(items):
            for item in items:
                if isinstance(item, Pod) and objects.get(Pod, item.key) is None:
                    yield item
        case Scale(kind, namespace, name, replicas):
            there = pods_of(objects, kind, namespace, name)
            if there and replicas > len(there):
                yield there[0]
        case _:
            pass


def _quota(pods: Sequence[Pod]) -> str:
    spaces = sorted({pod.namespace or "default" for pod in pods})
    of = (
        say("limit.namespace", "namespace {names}", names=spaces[0])
        if len(spaces) == 1
        else say("limit.namespaces", "namespaces {names}", names=some_of(spaces))
    )
    return say(
        "limit.admission_unknown",
        "whether quotas, limit ranges and webhooks of {of} would let "
        "it in is not known: kviz reads none of them",
        of=of,
    )


def _fields(change: SetField | Patch) -> list[tuple[str, Plain]]:
    """Return the paths that a change sets, with the values."""
    if isinstance(change, SetField):
        return [(change.path, change.value)]
    spec = change.merge.get("spec")
    priority = spec.get("priority") if isinstance(spec, dict) else None
    return [(path, priority) for path in touched(change.merge)]


def _of_edit(pod: Pod, fields: Sequence[tuple[str, Plain]], objects: Objects) -> Iterator[str]:
    for path, value in fields:
        if path == "spec.priority" and isinstance(value, int):
            yield from _priority(value, objects)
    if any(_REQUEST.match(path) for path, _ in fields):
        yield _quota([pod])
    fixed = sorted({_field(path) for path, _ in fields if not _is_in_place(path, pod)})
    if fixed:
        yield (
            say(
                "limit.immutable",
                "{fixed} of an existing pod cannot change: this is the result for a pod recreated "
                "from a changed template",
                fixed=some_of(fixed),
            )
        )


def _is_in_place(path: str, pod: Pod) -> bool:
    gated = bool(pod.spec.scheduling_gates) and _NARROWED_WHILE_GATED.match(path)
    return bool(gated or _IN_PLACE.match(path) or _RESIZED.fullmatch(path))


def _field(path: str) -> str:
    """Name the field of the spec that a path is in: `spec.affinity`; requests as such."""
    if _REQUEST.match(path):
        resource = _LAST_STEP.search(path)
        return (
            say(
                "limit.request_of", "the request of {resource}", resource=resource[1] or resource[2]
            )
            if resource
            else say("limit.requested", "what is requested")
        )
    return ".".join(re.split(r"[.\[]", path)[:2])


def _priority(value: int, objects: Objects) -> Iterator[str]:
    classes = [*SYSTEM_PRIORITY_CLASSES, *objects.all(PriorityClass)]
    if value != DEFAULT_PRIORITY and all(each.value != value for each in classes):
        yield (
            say(
                "limit.no_priority_class",
                "no PriorityClass has the value {value}: a pod gets its "
                "priority from its class, so one has to be made first",
                value=value,
            )
        )


def _volumes(pods: Sequence[Pod], objects: Objects) -> Iterator[str]:
    """Say that volumes of pods that leave are still attached, which kviz does not wait for."""
    with_claims = [
        pod
        for pod in pods
        if any(volume.persistent_volume_claim is not None for volume in pod.spec.volumes)
    ]
    if not with_claims:
        return
    nodes = sorted({pod.spec.node_name for pod in with_claims})
    counted = any(each.spec.node_name in nodes for each in objects.all(VolumeAttachment))
    text = say(
        "limit.volumes_attached",
        "volumes of {pods} are attached to {nodes}: a real cluster detaches them before another "
        "node gets them, kviz does not wait for that",
        pods=some_of([pod.key for pod in with_claims]),
        nodes=some_of(nodes),
    )
    if counted:
        text = say(
            "limit.attachments_stay",
            "{what}; its VolumeAttachments still count there",
            what=text,
        )
    yield text
