"""What a reader of a snapshot should know: what was left out, and what does not fit together."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from scheduler_core.api.absent_kinds import RUNTIME_CLASS, lacks_runtime_class
from scheduler_core.api.claims import (
    SELECTED_NODE,
    WAIT_FOR_FIRST_CONSUMER,
    claim_class,
    claims_of,
)
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.counting import MORE_OBJECT, POD, counted
from scheduler_core.api.device import Device, ResourceSlice
from scheduler_core.api.errors import ParseError
from scheduler_core.api.meta import KubeObject
from scheduler_core.api.node import Node
from scheduler_core.api.pod import Pod
from scheduler_core.api.reach import stuck_pods
from scheduler_core.api.volume import PersistentVolumeClaim, StorageClass
from scheduler_core.wording import say, series, some_of

_LEFT_OUT_SHOWN = 5

DEVICES_NOT_MODELLED = (
    say("note.list_attributes", "constraints on attributes of devices that are lists"),
    say("note.allocatable_mappings", "nodeAllocatableResourceMappings of devices"),
    say("note.binding_conditions", "how long drivers take to meet binding conditions (none here)"),
)

_NOT_MODELLED_KINDS = (
    "PodGroup",
    "Workload",
)
_NOT_APPLIED = {
    "LimitRange": say(
        "note.limit_range", "what pods request by default, and what they may request at most"
    ),
    "ResourceQuota": say("note.resource_quota", "a pod that exceeds one is not made in a cluster"),
}
"""Kinds that an API server applies to pods that are created."""


def cluster_findings(objects: ClusterObjects, ignored: Mapping[str, int]) -> Iterator[str]:
    """Warnings about the objects of an upload, each a sentence."""
    pods = objects.of(Pod)
    nodes = {node.name for node in objects.of(Node)}
    lost = [pod.key for pod in pods if pod.spec.node_name and pod.spec.node_name not in nodes]
    if not nodes and not pods and len(objects):
        yield say(
            "note.no_pods_or_nodes",
            "There are no pods and no nodes here: add what `kubectl get nodes,pods -A -o yaml` "
            "prints",
        )
    if nodes and not pods:
        yield say(
            "note.no_pods",
            "There are nodes and no pods here: add what `kubectl get pods -A -o yaml` prints",
        )
    if nodes and lost:
        yield say(
            "note.bound_elsewhere",
            "{pods} bound to a node that was not read from the upload: {names}",
            pods=counted(len(lost), POD),
            names=some_of(lost),
        )
    yield from (sentence for _, sentence in stuck_pods(pods, objects.of(Node)))
    yield from _never_provisioned(objects)
    yield from (
        say("note.not_modelled", "Not modelled: {what}", what=text)
        for text in not_modelled(objects, ignored)
    )


def _never_provisioned(objects: ClusterObjects) -> Iterator[str]:
    """Pods that name their node and whose claim waits for the scheduler, which passes them over."""
    waiting = {
        each.name
        for each in objects.of(StorageClass)
        if each.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
    }
    claims = {
        each.key: each
        for each in objects.of(PersistentVolumeClaim)
        if not each.spec.volume_name
        and claim_class(each) in waiting
        and SELECTED_NODE not in each.metadata.annotations
    }
    for pod in objects.of(Pod) if claims else ():
        for use in claims_of(pod):
            if pod.spec.node_name and f"{pod.namespace}/{use.name}" in claims:
                yield say(
                    "note.never_provisioned",
                    "{pod} names its node itself (spec.nodeName), so the scheduler passes it over, "
                    "and its claim {claim} waits for the scheduler's choice: it never starts. Use "
                    "nodeSelector in place of nodeName",
                    pod=pod.key,
                    claim=use.name,
                )


_BETTER = {
    "Kustomization": say(
        "note.kustomization",
        "this is a Kustomization, which names other files; `kubectl kustomize DIR` prints what "
        "they make",
    ),
    "Config": say(
        "note.kubeconfig",
        "this is a kubeconfig, which says where a cluster is; `kviz import --kubeconfig FILE` "
        "reads that cluster",
    ),
}
"""What to do with files that have nothing but one kind."""


def only_others(ignored: Mapping[str, int], held: Sequence[tuple[str, str]]) -> str:
    """What to say of files that have nothing that scheduling reads, only these kinds.

    ``held`` are the ConfigMaps that hold manifests, each with the key.
    """
    if held:
        return say(
            "note.held",
            "ConfigMap {name} holds manifests below {key}: give them as a file of their own",
            name=held[0][0],
            key=held[0][1],
        )
    if len(ignored) == 1 and (text := _BETTER.get(*ignored)):
        return text
    return say(
        "note.only_others",
        "there are no pods or nodes here, only {kinds}: give what `kubectl get nodes,pods -A "
        "-o yaml` prints, too",
        kinds=series([counted(n, kind) for kind, n in sorted(ignored.items())]),
    )


def left_out(errors: Sequence[ParseError], unlisted: int = 0) -> Iterator[str]:
    """What is missing of an upload because it cannot be read, each a sentence; the first few.

    An object is named by kind and name, a file by its own. ``unlisted`` counts further ones.
    """
    yield from map(why_left_out, errors[:_LEFT_OUT_SHOWN])
    if more := len(errors[_LEFT_OUT_SHOWN:]) + unlisted:
        yield say(
            "note.unreadable_left_out",
            "{what} left out, as they cannot be read",
            what=counted(more, MORE_OBJECT),
        )


def why_left_out(error: ParseError) -> str:
    """What is missing because of one error, a sentence."""
    reason = error.message
    if error.field:
        reason = say(
            "field.message", "{field}: {message}", field=error.field, message=error.message
        )
    what = error.place.subject or str(error.place)
    return say("note.left_out", "{what} left out: {reason}", what=what, reason=reason)


def not_modelled(objects: Iterable[KubeObject], ignored: Mapping[str, int]) -> Iterator[str]:
    """What a cluster asks for and kviz does not do; ``ignored`` counts objects not read.

    A run adds what else it was given, and writes all of it into its first event, from which every
    screen has it (docs/adr/0009).
    """
    grouped, lists, mappings, conditions = [], [], [], []
    for item in objects:
        if isinstance(item, Pod) and (item.spec.scheduling_group or item.spec.workload_ref):
            grouped.append(item.key)
        elif isinstance(item, ResourceSlice):
            devices = item.spec.devices
            if any(map(_has_lists, devices)):
                lists.append(item.name)
            if any(device.node_allocatable_resource_mappings for device in devices):
                mappings.append(item.name)
            if any(device.binding_conditions for device in devices):
                conditions.append(item.name)
    if grouped:
        yield say(
            "note.scheduling_groups",
            "scheduling groups (gangs) of {pods}: {names}",
            pods=counted(len(grouped), POD),
            names=some_of(grouped),
        )
    of_slices = (lists, mappings, conditions)
    for what, slices in zip(DEVICES_NOT_MODELLED, of_slices, strict=True):
        if slices:
            yield say(
                "note.in_slices",
                "{what}, in {slices}: {names}",
                what=what,
                slices=counted(len(slices), "ResourceSlice"),
                names=some_of(slices),
            )
    yield from _not_applied(objects, ignored)
    unread = [counted(ignored[kind], kind) for kind in _NOT_MODELLED_KINDS if ignored.get(kind)]
    if unread:
        yield series(unread)


def _not_applied(objects: Iterable[KubeObject], ignored: Mapping[str, int]) -> Iterator[str]:
    """What an API server does with pods that are created and kviz does not."""
    pods = [each for each in objects if isinstance(each, Pod)]
    unlike = [each.key for each in pods if lacks_runtime_class(each)]
    if unlike and ignored.get(RUNTIME_CLASS):
        yield say(
            "note.runtime_class",
            "the RuntimeClass in the file is not applied: its overhead, node selector and "
            "tolerations are not added to {pods}",
            pods=some_of(unlike),
        )
    if any(not each.spec.node_name for each in pods):
        for kind, what in _NOT_APPLIED.items():
            if n := ignored.get(kind):
                yield say(
                    "note.not_applied",
                    "{objects} in the file not applied: {what}",
                    objects=counted(n, kind),
                    what=what,
                )


def _has_lists(device: Device) -> bool:
    return any(
        attribute.int_values
        or attribute.bool_values
        or attribute.string_values
        or attribute.version_values
        for attribute in device.attributes.values()
    )
