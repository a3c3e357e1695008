"""What the plugin writes: allocations and reservations, and how they are taken back.

The drivers that get devices ready for a node answer at once in the simulated cluster.

Upstream: v1.36 plugins/dynamicresources (bindClaim, Unreserve, PostFilter, deleteClaim).
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from scheduler_core.api import AllocationResult, Pod, ResourceClaim, ResourceClaimStatus
from scheduler_core.api.device import DELETE_PROTECTION
from scheduler_core.devices.inventory import Devices
from scheduler_core.framework.handle import Handle
from scheduler_core.plugins.dynamic_resources import conditions
from scheduler_core.plugins.dynamic_resources.extended_resources import (
    NodeClaim,
    is_in_memory,
    written_name,
)
from scheduler_core.plugins.dynamic_resources.pod_claims import consumer_of, is_reserved_for

MAX_CONSUMERS: Final = 256
"""So many users one claim may have (ResourceClaimReservedForMaxSize)."""

SECOND_NS: Final = 1_000_000_000


class BindingError(Exception):
    """A claim cannot be written; the message is upstream's."""


class ClaimWriter:
    """Writes claims through the API server. `timestamps`: allocations get the time they are made.

    That is so with the gates of binding conditions.
    """

    def __init__(self, handle: Handle, devices: Devices, *, timestamps: bool) -> None:
        self._handle = handle
        self._devices = devices
        self._timestamps = timestamps

    def bind(
        self, claim: ResourceClaim, pod: Pod, allocation: AllocationResult | None
    ) -> ResourceClaim:
        """Store an allocation, if it is new, and the pod as a user; return the claim as stored.

        Raises BindingError.
        """
        live = self._live(claim, "add finalizer to" if allocation is not None else "get updated")
        if live.metadata.deletion_timestamp is not None:
            raise BindingError(f"claim {claim.key} got deleted in the meantime")
        if allocation is not None:
            if live.status.allocation is not None:
                raise BindingError(f"claim {claim.key} got allocated elsewhere in the meantime")
            live = self._protected(live)
        return self._reserved(live, pod, allocation)

    def create(self, extended: NodeClaim, pod: Pod) -> ResourceClaim:
        """Create the claim that the scheduler made for a pod's extended resources."""
        name = written_name(pod, self._devices.new_claim_number())
        metadata = replace(extended.claim.metadata, name=name, uid="")
        created = replace(extended.claim, metadata=metadata, status=ResourceClaimStatus())
        self._handle.write(created)
        return self._live(created, "create")

    def deallocate(self, claim: ResourceClaim) -> None:
        """Take a claim's devices away. Raises BindingError if it is gone."""
        self._write(replace(self._live(claim, "update"), status=ResourceClaimStatus()))

    def release(self, claim: ResourceClaim, pod: Pod) -> None:
        """Take a pod out of a claim's users, if the claim is still there."""
        live = self._devices.claim(claim.key)
        if live is not None and is_reserved_for(live, pod):
            users = tuple(each for each in live.status.reserved_for if each.uid != pod.uid)
            self._write(replace(live, status=replace(live.status, reserved_for=users)))

    def delete(self, claim: ResourceClaim) -> None:
        """Delete a claim made for extended resources, if it was written and is still there."""
        live = None if is_in_memory(claim) else self._devices.claim(claim.key)
        if live is None:
            return
        finalizers = tuple(each for each in live.metadata.finalizers if each != DELETE_PROTECTION)
        self._write(replace(live, metadata=replace(live.metadata, finalizers=finalizers)))
        self._handle.delete(live)

    def get_ready(self, claim: ResourceClaim) -> ResourceClaim:
        """Let the driver report that all the claim's devices are ready for the node."""
        ready = [conditions.made_ready(claim, result) for result in conditions.waiting(claim)]
        named = {(each.driver, each.pool, each.device) for each in ready}
        others = (
            each
            for each in claim.status.devices
            if (each.driver, each.pool, each.device) not in named
        )
        status = replace(claim.status, devices=(*others, *ready))
        return self._write(replace(claim, status=status))

    # ------------------------------------------------------------ single writes

    def _protected(self, claim: ResourceClaim) -> ResourceClaim:
        """Keep the claim from being deleted while it is allocated."""
        if DELETE_PROTECTION in claim.metadata.finalizers:
            return claim
        finalizers = (*claim.metadata.finalizers, DELETE_PROTECTION)
        return self._write(replace(claim, metadata=replace(claim.metadata, finalizers=finalizers)))

    def _reserved(
        self, claim: ResourceClaim, pod: Pod, allocation: AllocationResult | None
    ) -> ResourceClaim:
        what = "add allocation and reservation to" if allocation else "add reservation to"
        allocation = allocation or claim.status.allocation
        users = (*claim.status.reserved_for, consumer_of(pod))
        if len(users) > MAX_CONSUMERS:
            limit = f"Too many: {len(users)}: must have at most {MAX_CONSUMERS} items"
            invalid = f'ResourceClaim.resource.k8s.io "{claim.name}" is invalid'
            raise BindingError(f"{what} claim {claim.key}: {invalid}: status.reservedFor: {limit}")
        if self._timestamps:
            if allocation is None:
                raise BindingError(f"claim {claim.key} got deallocated elsewhere in the meantime")
            if allocation.allocation_timestamp is None:
                now_ns = self._handle.now_ns() // SECOND_NS * SECOND_NS
                allocation = replace(allocation, allocation_timestamp=now_ns)
        status = replace(claim.status, allocation=allocation, reserved_for=users)
        stored = self._write(replace(claim, status=status))
        # The scheduler's own cache of claims hears of the change once more (upstream: Assume).
        return self._write(stored)

    def _write(self, claim: ResourceClaim) -> ResourceClaim:
        self._handle.write(claim)
        return self._live(claim, "update")

    def _live(self, claim: ResourceClaim, what: str) -> ResourceClaim:
        live = self._devices.claim(claim.key)
        if live is None:
            missing = f'resourceclaims.resource.k8s.io "{claim.name}" not found'
            raise BindingError(f"{what} claim {claim.key}: {missing}")
        return live
