"""Claims and volumes that keep a pod from nodes: provided, made again, or copied elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final

from msgspec.structs import replace

from scheduler_core.analysis.advice.actions import Action, action
from scheduler_core.analysis.advice.leaving import MAX_LEAVING, Leaving
from scheduler_core.analysis.advice.pools import region_of, zone_of
from scheduler_core.api import (
    CSINode,
    CSINodeDriver,
    KubeObject,
    Node,
    ObjectMeta,
    ObjectReference,
    PersistentVolume,
    PersistentVolumeClaim,
    Pod,
    StorageClass,
    VolumeNodeResources,
)
from scheduler_core.api.claims import (
    BIND_COMPLETED,
    NO_PROVISIONER,
    WAIT_FOR_FIRST_CONSUMER,
    claim_class,
    mounted_claims,
)
from scheduler_core.api.volume import (
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    VolumeResourceRequirements,
)
from scheduler_core.changes.refusals import Objects
from scheduler_core.changes.vocabulary import Create, Delete, Put, SetLabel, target_of
from scheduler_core.evidence.pod_level import ClaimReady
from scheduler_core.evidence.volume_limits import DriverInstalled, VolumesAttachable
from scheduler_core.evidence.volumes import ClaimBindable, VolumeUsable

DEFAULT_SIZE = "1Gi"
"""Of a claim that is not there nobody knows how large it should be; it does not matter here."""
SOME_PROVISIONER: Final = "example.com/provisioner"
"""Who makes volumes of a class that is missing, where no other class says who does."""
READ_WRITE_MANY: Final = "ReadWriteMany"
SOME_CLASS: Final = "standard"
"""A class where the cluster has none."""
IS_DEFAULT: Final = "storageclass.kubernetes.io/is-default-class"
MAX_CLASSES: Final = 3
"""So many other storage classes are tried for a claim."""


def claim_provided(requirement: ClaimReady, objects: Objects) -> Iterator[Action]:
    """Yield what makes or binds a claim, where that is what is missing."""
    if requirement.problem not in ("missing", "ephemeralMissing", "unbound", "lost"):
        return
    claim = objects.get(PersistentVolumeClaim, requirement.claim)
    if claim is None:
        namespace, _, name = requirement.claim.partition("/")
        claim = PersistentVolumeClaim(
            metadata=ObjectMeta(name=name, namespace=namespace),
            spec=PersistentVolumeClaimSpec(
                access_modes=("ReadWriteOnce",),
                resources=VolumeResourceRequirements(requests={"storage": DEFAULT_SIZE}),
                storage_class_name="",
            ),
        )
    yield _provided(claim)
    if requirement.problem == "unbound" and not requirement.volume:
        yield from _default_class(claim, objects)
        if requirement.storage_class and not requirement.class_found:
            yield _missing_class(requirement.storage_class, objects)
        yield from _of_other_classes(claim, objects)
        yield from _waiting(claim, objects)


def claim_bindable(requirement: ClaimBindable, objects: Objects) -> Iterator[Action]:
    """Yield what lets a claim that waits for its pod have a volume on the node."""
    claim = objects.get(PersistentVolumeClaim, requirement.claim)
    if claim is not None:
        yield _provided(claim)
        yield from _of_other_classes(claim, objects)


def volume_usable(requirement: VolumeUsable, objects: Objects, node: str) -> Iterator[Action]:
    """Yield a volume that is missing, or a copy of one that the node can use."""
    claim = objects.get(PersistentVolumeClaim, requirement.claim)
    if not requirement.found and claim is not None:
        yield _provided(claim)
    elif requirement.found:
        labelled = list(_labelled(requirement, objects, node))
        yield from labelled
        if labelled:
            return  # the data are there
        yield from volume_there(requirement.volume, objects, node)
        if claim is not None and not _is_in_use(claim.key, objects):
            yield from _waiting(claim, objects)


def _labelled(requirement: VolumeUsable, objects: Objects, node: str) -> Iterator[Action]:
    """Yield the label that a volume asks for and a node lacks, put on by the volume's driver.

    A node of which it is known that it lies in another zone does not get it.
    """
    volume, there = objects.get(PersistentVolume, requirement.volume), objects.get(Node, node)
    if volume is None or volume.spec.csi is None or there is None:
        return
    for term in requirement.terms:
        labels = [
            SetLabel(node, each.key, each.values[0])
            for each in term.missed
            if each.operator == "In" and each.actual is None and each.values
        ]
        places = (zone_of(there), region_of(there))
        asked = [set(each.values) for each in term.missed]
        is_there = all(not any(places) or not each.isdisjoint(places) for each in asked)
        if not labels or len(labels) < len(term.missed) or not is_there:
            continue
        known = objects.get(CSINode, node)
        if known is not None and any(
            each.name == volume.spec.csi.driver for each in known.spec.drivers
        ):
            yield action("label", *labels)
        else:
            keys = tuple(each.key for each in labels)
            yield action("driver", _with_driver(volume.spec.csi.driver, keys, known, node), *labels)


def volume_there(name: str, objects: Objects, node: str) -> Iterator[Action]:
    """Yield a volume in place of one that lies elsewhere: a copy where the node is.

    It keeps its name, so that its claim stays as it is. One that a pod uses cannot be elsewhere,
    too: it is for all nodes then.
    """
    volume, there = objects.get(PersistentVolume, name), objects.get(Node, node)
    if volume is None or there is None:
        return
    labels = {
        key: there.metadata.labels.get(key, value) for key, value in volume.metadata.labels.items()
    }
    moved = replace(
        volume,
        metadata=replace(volume.metadata, labels=labels),
        spec=replace(volume.spec, node_affinity=None),
    )
    claimed = volume.spec.claim_ref
    if claimed is None or not _is_in_use(f"{claimed.namespace}/{claimed.name}", objects):
        yield action("volume", Put((moved,)))
        return
    shared = replace(moved.spec, access_modes=(READ_WRITE_MANY,))
    yield action("sharedVolume", Put((replace(moved, spec=shared),)))


def _is_in_use(claim: str, objects: Objects) -> bool:
    """Return whether a pod that has a node uses a claim (`namespace/name`)."""
    namespace, _, name = claim.partition("/")
    return any(
        pod.spec.node_name and pod.namespace == namespace and name in mounted_claims(pod)
        for pod in objects.all(Pod)
    )


def attachable(
    wanted: VolumesAttachable, objects: Objects, node: str, leaving: Leaving
) -> Iterator[Action]:
    """Yield what makes room for volumes of a driver on a node: a pod leaves, or the limit rises."""
    short = wanted.attached + wanted.new - (wanted.limit or 0)
    users = sorted(_users(wanted.driver, node, objects), key=lambda user: -user[1])
    enough = next((key for key, n in reversed(users) if n >= short), None)
    if enough is not None:
        yield from leaving.of([enough])
    elif sum(n for _, n in users[:MAX_LEAVING]) >= short:
        yield from leaving.of([key for key, _ in users[:MAX_LEAVING]])
    yield from _with_limit(wanted.driver, wanted.attached + wanted.new, objects, node)


def driver_installed(wanted: DriverInstalled, objects: Objects, node: str) -> Iterator[Action]:
    """Yield the driver installed on the node."""
    yield action("driver", _with_driver(wanted.driver, (), objects.get(CSINode, node), node))


def _with_driver(name: str, keys: tuple[str, ...], known: CSINode | None, node: str) -> Put:
    known = known or CSINode(metadata=ObjectMeta(name=node))
    driver = CSINodeDriver(name=name, node_id=node, topology_keys=keys)
    drivers = (*known.spec.drivers, driver)
    return Put((replace(known, spec=replace(known.spec, drivers=drivers)),))


def _users(driver: str, node: str, objects: Objects) -> Iterator[tuple[str, int]]:
    """Yield the pods on a node that use volumes of a driver, and how many each."""
    for pod in objects.all(Pod):
        if pod.spec.node_name == node:
            n = sum(
                _driver_of(pod.namespace, name, objects) == driver for name in mounted_claims(pod)
            )
            if n:
                yield pod.key, n


def _driver_of(namespace: str, name: str, objects: Objects) -> str:
    claim = objects.get(PersistentVolumeClaim, f"{namespace}/{name}")
    volume = objects.get(PersistentVolume, claim.spec.volume_name) if claim is not None else None
    return volume.spec.csi.driver if volume is not None and volume.spec.csi is not None else ""


def _with_limit(driver: str, limit: int, objects: Objects, node: str) -> Iterator[Action]:
    known = objects.get(CSINode, node)
    if known is None:
        return
    drivers = tuple(
        replace(each, allocatable=VolumeNodeResources(count=limit)) if each.name == driver else each
        for each in known.spec.drivers
    )
    if drivers != known.spec.drivers:
        raised = replace(known, spec=replace(known.spec, drivers=drivers))
        yield action("volumeLimit", Put((raised,)))


def _missing_class(name: str, objects: Objects) -> Action:
    return action("storageClass", Create((_class_made(name, objects),)))


def _class_made(name: str, objects: Objects) -> StorageClass:
    provisioners = (each.provisioner for each in objects.all(StorageClass))
    real = (each for each in provisioners if each and each != NO_PROVISIONER)
    return StorageClass(
        metadata=ObjectMeta(name=name),
        provisioner=next(real, SOME_PROVISIONER),
        volume_binding_mode=WAIT_FOR_FIRST_CONSUMER,
    )


def _default_class(claim: PersistentVolumeClaim, objects: Objects) -> Iterator[Action]:
    """Yield a class made the default, which a claim that names none then gets, if there is none.

    Upstream: v1.36 pkg/controller/volume/persistentvolume (assignDefaultStorageClass).
    """
    classes = list(objects.all(StorageClass))
    marked = any(IS_DEFAULT in each.metadata.annotations for each in classes)
    if claim_class(claim) or claim.spec.storage_class_name is not None or marked:
        return
    waiting = (
        each
        for each in classes
        if each.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
        and each.provisioner != NO_PROVISIONER
    )
    known = next(waiting, None)
    if known is None and classes:
        return
    made = known or _class_made(SOME_CLASS, objects)
    annotations = {**made.metadata.annotations, IS_DEFAULT: "true"}
    made = replace(made, metadata=replace(made.metadata, annotations=annotations))
    yield action("defaultClass", Put((made, _again(claim, made.name))))


def _of_other_classes(claim: PersistentVolumeClaim, objects: Objects) -> Iterator[Action]:
    """Yield the claim made again with each of the classes that make volumes."""
    others = (
        each.name
        for each in objects.all(StorageClass)
        if each.name != claim.spec.storage_class_name
        and each.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
        and each.provisioner != NO_PROVISIONER
    )
    for name in islice(others, MAX_CLASSES):
        yield action("storageClass", Put((_again(claim, name),)))


def _waiting(claim: PersistentVolumeClaim, objects: Objects) -> Iterator[Action]:
    """Yield the claim made again, of a class like its own that waits for where the pod goes."""
    known = objects.get(StorageClass, claim.spec.storage_class_name or "")
    if known is None or known.provisioner == NO_PROVISIONER:
        return
    if known.volume_binding_mode != WAIT_FOR_FIRST_CONSUMER:
        name = f"{known.name}-wait"
        waits = replace(
            known, metadata=ObjectMeta(name=name), volume_binding_mode=WAIT_FOR_FIRST_CONSUMER
        )
        yield _remade(claim, _again(claim, name), waits)
    elif claim.spec.volume_name:
        yield _remade(claim, _again(claim, known.name))


def _remade(old: PersistentVolumeClaim, new: PersistentVolumeClaim, *more: KubeObject) -> Action:
    """Return a claim made again: one that is bound has to be deleted first."""
    if not old.spec.volume_name:
        return action("storageClass", Put((*more, new)))
    new = replace(new, metadata=ObjectMeta(name=new.name, namespace=new.namespace))
    return action("storageClass", Delete(target_of(old)), Create((*more, new)))


def _again(claim: PersistentVolumeClaim, storage_class: str) -> PersistentVolumeClaim:
    spec = replace(claim.spec, storage_class_name=storage_class, volume_name="")
    metadata = replace(claim.metadata, annotations={})
    status = PersistentVolumeClaimStatus(phase="Pending")
    return replace(claim, metadata=metadata, spec=spec, status=status)


def _provided(claim: PersistentVolumeClaim) -> Action:
    return action("claim", Put((_volume_for(claim), _bound(claim))))


def _volume_name(claim: PersistentVolumeClaim) -> str:
    return claim.spec.volume_name or f"{claim.namespace}-{claim.name}"


def _volume_for(claim: PersistentVolumeClaim) -> PersistentVolume:
    return PersistentVolume(
        metadata=ObjectMeta(name=_volume_name(claim)),
        spec=PersistentVolumeSpec(
            capacity=dict(claim.spec.resources.requests),
            access_modes=claim.spec.access_modes,
            claim_ref=ObjectReference(
                kind="PersistentVolumeClaim",
                namespace=claim.namespace,
                name=claim.name,
                uid=claim.metadata.uid,
            ),
            storage_class_name=claim.spec.storage_class_name or "",
            volume_mode=claim.spec.volume_mode,
        ),
        status=PersistentVolumeStatus(phase="Bound"),
    )


def _bound(claim: PersistentVolumeClaim) -> PersistentVolumeClaim:
    annotations = {**claim.metadata.annotations, BIND_COMPLETED: "yes"}
    return replace(
        claim,
        metadata=replace(claim.metadata, annotations=annotations),
        spec=replace(claim.spec, volume_name=_volume_name(claim)),
        status=PersistentVolumeClaimStatus(phase="Bound"),
    )
