"""Devices that have to get ready for a node before a pod can be bound.

Upstream: v1.36 plugins/dynamicresources/dynamicresources.go (isClaimReadyForBinding,
isClaimTimeout).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from scheduler_core.api import (
    AllocatedDeviceStatus,
    DeviceCondition,
    DeviceRequestAllocationResult,
    ResourceClaim,
)

TIMEOUT: Final = "device binding timeout"
FAILED: Final = "device binding failed"
TRUE: Final = "True"


def binding_failure(claim: ResourceClaim) -> str:
    """Return which condition says that a device of the claim failed, empty if none does."""
    for result in _waiting(claim):
        status = _status_of(claim, result)
        if status is None:
            return ""
        for failed in _true(status, result.binding_failure_conditions):
            what = f'reason={failed.reason}, message="{failed.message}"'
            return f"{FAILED}: claim={claim.name}, {what}"
        if not _is_ready(status, result):
            return ""
    return ""


def is_ready(claim: ResourceClaim) -> bool:
    """Tell whether all conditions of all the claim's devices are met."""
    if claim.status.allocation is None:
        return False
    for result in _waiting(claim):
        status = _status_of(claim, result)
        if status is None or not _is_ready(status, result):
            return False
    return True


def is_timed_out(claim: ResourceClaim, timeout_ns: int, now_ns: int) -> bool:
    """Tell whether the claim's devices have had their time to get ready."""
    allocation = claim.status.allocation
    if allocation is None or allocation.allocation_timestamp is None:
        return False
    return has_conditions(claim) and allocation.allocation_timestamp + timeout_ns < now_ns


def has_conditions(claim: ResourceClaim) -> bool:
    return bool(_waiting(claim))


def _waiting(claim: ResourceClaim) -> list[DeviceRequestAllocationResult]:
    allocation = claim.status.allocation
    results = allocation.devices.results if allocation is not None else ()
    return [result for result in results if result.binding_conditions]


def _status_of(
    claim: ResourceClaim, result: DeviceRequestAllocationResult
) -> AllocatedDeviceStatus | None:
    wanted = (result.driver, result.pool, result.device)
    reported = (
        status
        for status in claim.status.devices
        if (status.driver, status.pool, status.device) == wanted
    )
    return next(reported, None)


def _is_ready(status: AllocatedDeviceStatus, result: DeviceRequestAllocationResult) -> bool:
    met = {condition.type for condition in _true(status, result.binding_conditions)}
    return met.issuperset(result.binding_conditions)


def _true(status: AllocatedDeviceStatus, types: Sequence[str]) -> list[DeviceCondition]:
    return [each for each in status.conditions if each.type in types and each.status == TRUE]
