"""What all plugins of a scheduler share about devices.

Upstream: v1.36 plugins/dynamicresources/dra_manager.go (DefaultDRAManager).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from scheduler_core.api import AllocationResult, DeviceClass, Pod, ResourceClaim
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.config.features import FeatureGates
from scheduler_core.devices.allocated import AllocatedDevices, AllocatedState
from scheduler_core.devices.classes import ExtendedResourceClasses
from scheduler_core.devices.slices import Slices


@dataclass(frozen=True, slots=True)
class PendingAllocation:
    """What Reserve keeps for a pod's claim; both as `namespace/name`."""

    claim: str
    pod: str
    allocation: AllocationResult


class Devices:
    """Claims, classes and slices, and the allocations that are on their way.

    An allocation is pending from Reserve until PreBind has written it: its devices are in use,
    and other pods with the same claim have to wait.
    """

    def __init__(self, objects: ObjectStore, features: FeatureGates) -> None:
        self._objects = objects
        self._features = features
        self._sharing = features.enabled("DRAConsumableCapacity")
        self._backs_extended_resources = features.enabled("DRAExtendedResource")
        self._allocated = AllocatedDevices(objects, sharing=self._sharing)
        self._classes = ExtendedResourceClasses(objects)
        self._pending: dict[str, PendingAllocation] = {}
        self._n_made = 0
        self._n_shares = 0
        self.slices = Slices(objects, features)

    def fork(self, objects: ObjectStore) -> Devices:
        """Return the devices of a copy of the objects, with the same pending allocations."""
        fork = Devices(objects, self._features)
        fork._allocated = self._allocated.fork(objects)
        fork.slices = self.slices.fork(objects)
        fork._pending = self._pending.copy()
        fork._n_made, fork._n_shares = self._n_made, self._n_shares
        return fork

    def claim(self, key: str) -> ResourceClaim | None:
        return self._objects.get(ResourceClaim, key)

    def claims(self) -> Iterator[ResourceClaim]:
        return self._objects.all(ResourceClaim)

    def device_class(self, name: str) -> DeviceClass | None:
        return self._objects.get(DeviceClass, name)

    def class_for(self, resource: str) -> DeviceClass | None:
        """Return the class that backs an extended resource (gate DRAExtendedResource)."""
        return self._classes.get(resource) if self._backs_extended_resources else None

    def allocated_state(self) -> AllocatedState:
        """Return what is in use now, pending allocations among it; the caller's to change."""
        state = self._allocated.state()
        for pending in self._pending.values():
            state.add(pending.allocation, sharing=self._sharing)
        return state

    def new_claim_number(self) -> int:
        """Return a number for the name of a claim made up for extended resources, from 1."""
        self._n_made += 1
        return self._n_made

    def new_share_id(self) -> str:
        """Return what names a share of a device. Upstream draws it; nothing depends on it."""
        self._n_shares += 1
        return f"share-{self._n_shares}"

    # ------------------------------------------------------------ pending allocations

    def pending_allocation(self, claim_uid: str) -> AllocationResult | None:
        pending = self._pending.get(claim_uid)
        return pending.allocation if pending is not None else None

    def pending(self) -> Iterator[PendingAllocation]:
        yield from self._pending.values()

    def set_pending(self, claim: ResourceClaim, pod: Pod, allocation: AllocationResult) -> None:
        self._pending[claim.uid] = PendingAllocation(claim.key, pod.key, allocation)

    def forget_pending(self, claim_uid: str) -> None:
        self._pending.pop(claim_uid, None)
