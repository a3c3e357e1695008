"""Devices that have to get ready for a node before a pod can be bound.

Upstream: v1.36 plugins/dynamicresources/dynamicresources.go (isClaimReadyForBinding,
isClaimTimeout).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

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
    for result in waiting(claim):
        status = _status_of(claim, result)
        if status is None:
            return ""
        for failed in _true(status, result.binding_failure_conditions):
            message = json.dumps(failed.message, ensure_ascii=False)
            return f"{FAILED}: claim={claim.name}, reason={failed.reason}, message={message}"
        if not _is_ready(status, result):
            return ""
    return ""


def is_ready(claim: ResourceClaim) -> bool:
    """Tell whether all conditions of all the claim's devices are met."""
    if claim.status.allocation is None:
        return False
    for result in waiting(claim):
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
    return bool(waiting(claim))


def waiting(claim: ResourceClaim) -> list[DeviceRequestAllocationResult]:
    """Return the claim's devices that have to get ready first."""
    allocation = claim.status.allocation
    results = allocation.devices.results if allocation is not None else ()
    return [result for result in results if result.binding_conditions]


def made_ready(
    claim: ResourceClaim, result: DeviceRequestAllocationResult
) -> AllocatedDeviceStatus:
    """Return the status of a device as its driver reports it once all its conditions are met."""
    status = _status_of(claim, result) or AllocatedDeviceStatus(
        driver=result.driver, pool=result.pool, device=result.device
    )
    met = (DeviceCondition(type=name, status=TRUE) for name in result.binding_conditions)
    others = (each for each in status.conditions if each.type not in result.binding_conditions)
    return replace(status, conditions=(*others, *met))


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
