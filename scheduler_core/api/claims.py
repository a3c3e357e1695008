"""What claims, volumes and the pods that use them say about each other.

Upstream: v1.36 component-helpers/storage (volume/helpers.go, volume/pv_helpers.go,
ephemeral/ephemeral.go).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from scheduler_core.api.pod import Pod
from scheduler_core.api.volume import PersistentVolume, PersistentVolumeClaim

BETA_STORAGE_CLASS: Final = "volume.beta.kubernetes.io/storage-class"
BIND_COMPLETED: Final = "pv.kubernetes.io/bind-completed"
BOUND_BY_CONTROLLER: Final = "pv.kubernetes.io/bound-by-controller"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
NO_PROVISIONER: Final = "kubernetes.io/no-provisioner"
STORAGE: Final = "storage"
WAIT_FOR_FIRST_CONSUMER: Final = "WaitForFirstConsumer"
READ_WRITE_ONCE_POD: Final = "ReadWriteOncePod"


class ClaimUse(NamedTuple):
    """A claim that a pod mounts; `ephemeral`: made for this pod alone, with its own name."""

    name: str
    ephemeral: bool


def claims_of(pod: Pod) -> Iterator[ClaimUse]:
    """Yield the claims that the pod's volumes use, in order, with repeats."""
    for volume in pod.spec.volumes:
        if volume.persistent_volume_claim is not None:
            yield ClaimUse(volume.persistent_volume_claim.claim_name, ephemeral=False)
        elif volume.ephemeral is not None:
            yield ClaimUse(f"{pod.name}-{volume.name}", ephemeral=True)


def mounted_claims(pod: Pod) -> list[str]:
    """Return the names of the claims the pod's volumes use, without those of ephemeral ones."""
    return [use.name for use in claims_of(pod) if not use.ephemeral]


def foreign_claim_error(pod: Pod, claim: PersistentVolumeClaim) -> str:
    """Return why a claim found for an ephemeral volume is not the pod's, empty if it is."""
    owners = (owner for owner in claim.metadata.owner_references if owner.controller)
    owner = next(owners, None)
    if claim.namespace == pod.namespace and owner is not None and owner.uid == pod.uid:
        return ""
    return f"PVC {claim.key} was not created for pod {pod.key} (pod is not owner)"


def not_found(resource: str, name: str) -> str:
    """Return the API server's message about a missing object."""
    return f'{resource} "{name}" not found'


def claim_not_found(name: str) -> str:
    return not_found("persistentvolumeclaim", name)


def claim_class(claim: PersistentVolumeClaim) -> str:
    """Return the storage class a claim asks for, empty for none."""
    return claim.metadata.annotations.get(BETA_STORAGE_CLASS, claim.spec.storage_class_name or "")


def volume_class(volume: PersistentVolume) -> str:
    return volume.metadata.annotations.get(BETA_STORAGE_CLASS, volume.spec.storage_class_name)


def is_fully_bound(claim: PersistentVolumeClaim) -> bool:
    """Whether claim and volume are bound both ways."""
    return bool(claim.spec.volume_name) and BIND_COMPLETED in claim.metadata.annotations
