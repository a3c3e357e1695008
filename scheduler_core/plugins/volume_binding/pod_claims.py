"""The claims of a pod, sorted by what is still to be done about them.

Upstream: v1.36 plugins/volumebinding (podHasPVCs, GetPodVolumeClaims).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from scheduler_core.api import PersistentVolume, PersistentVolumeClaim, Pod, StorageClass
from scheduler_core.api.claims import (
    WAIT_FOR_FIRST_CONSUMER,
    claim_class,
    claim_not_found,
    claims_of,
    foreign_claim_error,
    is_fully_bound,
)
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.plugins.volume_binding.assume import AssumeCache, VolumeIndex

LOST: Final = "Lost"


@dataclass(frozen=True, eq=False)
class PodClaims:
    """`bound`: bound both ways; `delayed`: to be bound to suit the node; `immediate`: overdue.

    `candidates` are the volumes each delayed claim, by position, may be given.
    """

    bound: tuple[PersistentVolumeClaim, ...]
    delayed: tuple[PersistentVolumeClaim, ...]
    immediate: tuple[PersistentVolumeClaim, ...]
    candidates: Mapping[int, Sequence[PersistentVolume]]


def claims_problem(pod: Pod, objects: ObjectStore) -> str:
    """Return why the pod's claims cannot be used at all, empty if they can."""
    for name, ephemeral in claims_of(pod):
        claim = objects.get(PersistentVolumeClaim, f"{pod.namespace}/{name}")
        if claim is None and ephemeral:
            what = f'create the persistentvolumeclaim "{name}"'
            return f"waiting for ephemeral volume controller to {what}"
        if claim is None:
            return claim_not_found(name)
        if claim.status.phase == LOST:
            volume = claim.spec.volume_name
            bound = f'bound to non-existent persistentvolume "{volume}"'
            return f'persistentvolumeclaim "{name}" {bound}'
        if claim.metadata.deletion_timestamp is not None:
            return f'persistentvolumeclaim "{name}" is being deleted'
        foreign = foreign_claim_error(pod, claim) if ephemeral else ""
        if foreign:
            return foreign
    return ""


class ClaimSorter:
    """Sorts claims, assumed changes to them and to volumes included."""

    def __init__(
        self,
        objects: ObjectStore,
        claims: AssumeCache[PersistentVolumeClaim],
        volumes: AssumeCache[PersistentVolume],
    ) -> None:
        self._objects = objects
        self._claims = claims
        self._volumes = volumes
        self._index = VolumeIndex(objects)

    def sort(self, pod: Pod) -> PodClaims:
        """Sort the claims of a pod that `claims_problem` has no objection to."""
        bound, delayed, immediate = [], [], []
        for claim in self._claims_of(pod):
            if is_fully_bound(claim):
                bound.append(claim)
            elif self._waits_for_consumer(claim) and not claim.spec.volume_name:
                delayed.append(claim)
            else:
                immediate.append(claim)
        candidates = {
            i: [
                self._volumes.current(volume)
                for volume in self._index.candidates(claim_class(claim), claim.key)
            ]
            for i, claim in enumerate(delayed)
        }
        return PodClaims(tuple(bound), tuple(delayed), tuple(immediate), candidates)

    def all_bound(self, pod: Pod) -> bool:
        return all(map(is_fully_bound, self._claims_of(pod)))

    def _claims_of(self, pod: Pod) -> list[PersistentVolumeClaim]:
        keys = (f"{pod.namespace}/{name}" for name, _ in claims_of(pod))
        return [claim for key in keys if (claim := self._claims.get(key)) is not None]

    def _waits_for_consumer(self, claim: PersistentVolumeClaim) -> bool:
        name = claim_class(claim)
        storage_class = self._objects.get(StorageClass, name) if name else None
        return (
            storage_class is not None
            and storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER
        )
