"""A claim that a pod waits for, provided: bound to a volume of its own."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from scheduler_core.advice.actions import Action, action
from scheduler_core.api import ObjectMeta, ObjectReference, PersistentVolume, PersistentVolumeClaim
from scheduler_core.api.volume import (
    PersistentVolumeClaimSpec,
    PersistentVolumeClaimStatus,
    PersistentVolumeSpec,
    PersistentVolumeStatus,
    VolumeResourceRequirements,
)
from scheduler_core.changes.refusals import Objects
from scheduler_core.changes.vocabulary import Put
from scheduler_core.cluster.claims import BIND_COMPLETED
from scheduler_core.evidence.pod_level import ClaimReady

DEFAULT_SIZE = "1Gi"
"""Of a claim that is not there nobody knows how large it should be; it does not matter here."""


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
    yield action("claim", Put((_volume_for(claim), _bound(claim))))


def _volume_name(claim: PersistentVolumeClaim) -> str:
    return f"{claim.namespace}-{claim.name}"


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
