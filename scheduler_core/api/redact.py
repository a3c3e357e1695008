"""What parsing leaves out of objects: annotations and volumes nobody here reads.

Annotations may hold whole manifests (last-applied-configuration) and anything users put there.
Volumes whose source the scheduler does not know would only make equal pods differ, for their
names are random.
"""

from msgspec.structs import force_setattr

from scheduler_core.api.device import DELETE_PROTECTION, EXTENDED_RESOURCE_CLAIM
from scheduler_core.api.meta import KubeObject, ObjectMeta
from scheduler_core.api.pod import (
    ContainerStatus,
    EphemeralVolumeSource,
    PersistentVolumeClaimTemplate,
    Pod,
    Volume,
)

KEPT_ANNOTATIONS = frozenset(
    {
        "kubernetes.io/config.mirror",
        "kubernetes.io/config.source",
        "pv.kubernetes.io/bind-completed",
        "pv.kubernetes.io/bound-by-controller",
        "pv.kubernetes.io/migrated-to",
        "pv.kubernetes.io/provisioned-by",
        EXTENDED_RESOURCE_CLAIM,
        "storage.alpha.kubernetes.io/migrated-plugins",
        "storageclass.beta.kubernetes.io/is-default-class",
        "storageclass.kubernetes.io/is-default-class",
        "volume.beta.kubernetes.io/storage-class",
        "volume.beta.kubernetes.io/storage-provisioner",
        "volume.kubernetes.io/selected-node",
        "volume.kubernetes.io/storage-provisioner",
    }
)


KEPT_FINALIZERS = frozenset({DELETE_PROTECTION})


def redact(item: KubeObject) -> None:
    """Strips a freshly decoded object in place, before anyone else holds it."""
    _redact_annotations(item.metadata)
    _redact_finalizers(item.metadata)
    if isinstance(item, Pod):
        _redact_volumes(item)
        _redact_statuses(item)


def _redact_annotations(metadata: ObjectMeta) -> None:
    annotations = metadata.annotations
    if annotations.keys() - KEPT_ANNOTATIONS:
        kept = {name: text for name, text in annotations.items() if name in KEPT_ANNOTATIONS}
        force_setattr(metadata, "annotations", kept)


def _redact_finalizers(metadata: ObjectMeta) -> None:
    finalizers = metadata.finalizers
    if finalizers and not KEPT_FINALIZERS.issuperset(finalizers):
        kept = tuple(name for name in finalizers if name in KEPT_FINALIZERS)
        force_setattr(metadata, "finalizers", kept)


def _redact_volumes(pod: Pod) -> None:
    if not pod.spec.volumes:
        return
    kept = tuple(volume for volume in pod.spec.volumes if volume != Volume(name=volume.name))
    for volume in kept:
        ephemeral = volume.ephemeral
        template = ephemeral and ephemeral.volume_claim_template
        if template:
            bare = PersistentVolumeClaimTemplate(spec=template.spec)
            force_setattr(volume, "ephemeral", EphemeralVolumeSource(volume_claim_template=bare))
    force_setattr(pod.spec, "volumes", kept)


def _redact_statuses(pod: Pod) -> None:
    """Keeps the container statuses that say something about resources."""
    status = pod.status
    for name in ("container_statuses", "init_container_statuses"):
        statuses: tuple[ContainerStatus, ...] = getattr(status, name)
        if statuses:
            kept = tuple(
                reported
                for reported in statuses
                if reported.resources is not None or reported.allocated_resources
            )
            force_setattr(status, name, kept)
