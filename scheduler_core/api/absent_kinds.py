"""Kinds that no object was read of from a file, though its pods ask for what only they tell.

Without CSINodes, say, no node has a limit of volumes, and a pod that would exceed it binds. What a
pod asks by name of a kind that is there is another matter: that object is missing in the cluster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.api.claims import (
    NO_PROVISIONER,
    WAIT_FOR_FIRST_CONSUMER,
    claim_class,
    claims_of,
)
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.device import DeviceClass, ResourceClaim, ResourceSlice
from scheduler_core.api.meta import KubeObject
from scheduler_core.api.node import Node
from scheduler_core.api.plurals import PLURALS
from scheduler_core.api.pod import Pod, PodAffinityTerm
from scheduler_core.api.volume import (
    CSIDriver,
    CSINode,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
)
from scheduler_core.api.workload import Namespace, PodDisruptionBudget, PriorityClass
from scheduler_core.wording import say, some_of

Kind = type[KubeObject]

RUNTIME_CLASS: Final = "RuntimeClass"
_FOLLOWS: Final[Mapping[Kind, str]] = {
    Node: say("absent.nodes", "no node can take them"),
    PersistentVolumeClaim: say("absent.claims", "their claims are not found"),
    PersistentVolume: say("absent.volumes", "their volumes are not found"),
    StorageClass: say("absent.storage_classes", "how their claims are provisioned is not known"),
    CSINode: say("absent.csi_nodes", "no node has a limit of volumes"),
    CSIDriver: say("absent.csi_drivers", "free storage is not compared"),
    CSIStorageCapacity: say("absent.capacities", "no node has storage for their claims"),
    Namespace: say("absent.namespaces", "their namespaceSelector chooses no namespace"),
    PriorityClass: say("absent.priority_classes", "their priority counts as 0"),
    ResourceClaim: say("absent.resource_claims", "their claims are not found"),
    DeviceClass: say("absent.device_classes", "the classes of their devices are not found"),
    ResourceSlice: say("absent.slices", "no node has devices"),
}
"""What is so as long as the file has none of a kind."""


@dataclass(frozen=True, slots=True)
class AbsentKind:
    """A kind without an object read, and the pods (`namespace/name`) that would have needed it."""

    kind: str
    needed_by: tuple[str, ...]
    get: str
    """What `kubectl get` calls it."""
    follows: str

    @property
    def document(self) -> dict[str, object]:
        """As scripts are told."""
        return {
            "kind": self.kind,
            "needed_by": list(self.needed_by),
            "get": self.get,
            "text": self.sentence,
        }

    @property
    def sentence(self) -> str:
        return say(
            "absent.kind",
            "kviz read no {kind} from the file, which {pods} would have needed: {follows}. "
            "Add what `kubectl get {get} -A -o yaml` prints.",
            kind=self.kind,
            follows=self.follows,
            pods=some_of(self.needed_by),
            get=self.get,
        )


def absent_kinds(
    objects: ClusterObjects, *pods: Pod, ignored: Collection[str]
) -> tuple[AbsentKind, ...]:
    """Return the kinds that pods without a node would need, in the order of `_FOLLOWS`.

    Those of all pods, or only of the ones that are given. `ignored` are kinds that the file has and
    that are not read, such as RuntimeClass.
    """
    needs = _Needs(objects)
    needed_by: dict[Kind, list[str]] = defaultdict(list)
    for pod in pods or objects.of(Pod):
        if pod.spec.node_name or pod.metadata.deletion_timestamp is not None:
            continue
        for kind in dict.fromkeys(needs.of(pod)):
            if not objects.of(kind):
                needed_by[kind].append(pod.key)
    found = [
        AbsentKind(kind.kind, tuple(needed_by[kind]), PLURALS[kind.kind], follows)
        for kind, follows in _FOLLOWS.items()
        if kind in needed_by
    ]
    unlike = tuple(pod.key for pod in pods or objects.of(Pod) if lacks_runtime_class(pod))
    if unlike and RUNTIME_CLASS not in ignored:
        follows = say(
            "absent.runtime_classes", "its overhead and node selector are not added to them"
        )
        found.append(AbsentKind(RUNTIME_CLASS, unlike, "runtimeclasses", follows))
    return tuple(found)


def absent_budgets(objects: ClusterObjects, preemptors: Sequence[str]) -> tuple[AbsentKind, ...]:
    """Return the budgets that a cluster lacks, if pods were evicted for the `preemptors`."""
    if not preemptors or objects.of(PodDisruptionBudget):
        return ()
    kind = PodDisruptionBudget.kind
    follows = say("absent.budgets", "whether an eviction breaks one is not known")
    return (AbsentKind(kind, tuple(preemptors), PLURALS[kind], follows),)


def lacks_runtime_class(pod: Pod) -> bool:
    """Whether a pod names a RuntimeClass that no API server has applied to it yet."""
    return bool(pod.spec.runtime_class_name) and not is_admitted(pod) and not pod.spec.node_name


def is_admitted(pod: Pod) -> bool:
    """Whether an API server has taken a pod in, so that what it adds is in the pod."""
    return bool(pod.uid) or pod.metadata.creation_timestamp is not None


class _Needs:
    """What pods of a cluster request, from the kinds that it has."""

    def __init__(self, objects: ClusterObjects) -> None:
        self._claims = {each.key: each for each in objects.of(PersistentVolumeClaim)}
        self._volumes = {each.name: each for each in objects.of(PersistentVolume)}
        self._classes = {each.name: each for each in objects.of(StorageClass)}
        self._drivers = {each.name: each for each in objects.of(CSIDriver)}
        self._device_claims = {each.key: each for each in objects.of(ResourceClaim)}

    def of(self, pod: Pod) -> Iterator[Kind]:
        """Yield the kinds, with repeats."""
        yield Node
        if pod.spec.priority is None and pod.spec.priority_class_name:
            yield PriorityClass
        if any(map(_selects_namespaces, _terms(pod))):
            yield Namespace
        for use in claims_of(pod):
            yield PersistentVolumeClaim
            claim = self._claims.get(f"{pod.namespace}/{use.name}")
            if claim is not None:
                yield from self._of_claim(claim)
        for asked in pod.spec.resource_claims:
            yield ResourceClaim
            held = self._device_claims.get(f"{pod.namespace}/{asked.resource_claim_name}")
            if held is None or held.status.allocation is None:
                yield from (DeviceClass, ResourceSlice)

    def _of_claim(self, claim: PersistentVolumeClaim) -> Iterator[Kind]:
        if claim.spec.volume_name:
            yield PersistentVolume
            volume = self._volumes.get(claim.spec.volume_name)
            if volume is not None and volume.spec.csi is not None:
                yield CSINode
        elif claim_class(claim):
            yield StorageClass
            found = self._classes.get(claim_class(claim))
            if found is not None and found.provisioner != NO_PROVISIONER:
                yield CSINode
                if found.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER:
                    yield from self._of_driver(found.provisioner)

    def _of_driver(self, name: str) -> Iterator[Kind]:
        yield CSIDriver
        driver = self._drivers.get(name)
        if driver is not None and driver.spec.storage_capacity:
            yield CSIStorageCapacity


def _terms(pod: Pod) -> Iterator[PodAffinityTerm]:
    affinity = pod.spec.affinity
    for each in (affinity.pod_affinity, affinity.pod_anti_affinity) if affinity else ():
        if each is not None:
            yield from each.required_during_scheduling_ignored_during_execution
            for weighted in each.preferred_during_scheduling_ignored_during_execution:
                yield weighted.pod_affinity_term


def _selects_namespaces(term: PodAffinityTerm) -> bool:
    selector = term.namespace_selector
    return selector is not None and bool(selector.match_labels or selector.match_expressions)
