"""Where amounts stand in slices and claims of devices."""

from collections.abc import Iterator, Mapping

from scheduler_core.api.device import (
    CapacityRequestPolicy,
    CapacityRequirements,
    Device,
    DeviceClaim,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)

Amounts = tuple[str, Mapping[str, str]]
"""A field path and the amounts that stand there."""


def device_amounts(
    item: ResourceSlice | ResourceClaim | ResourceClaimTemplate,
) -> Iterator[Amounts]:
    """All amounts of an object, each with its field path."""
    match item:
        case ResourceSlice(spec=spec):
            for i, counters in enumerate(spec.shared_counters):
                amounts = {name: each.value for name, each in counters.counters.items()}
                yield f"spec.sharedCounters[{i}].counters", amounts
            for i, device in enumerate(spec.devices):
                yield from _of_device(device, f"spec.devices[{i}]")
                if device.basic is not None:
                    yield from _of_device(device.basic, f"spec.devices[{i}].basic")
        case ResourceClaim():
            yield from _of_claim(item.spec.devices, "spec.devices")
            allocation = item.status.allocation
            for i, result in enumerate(allocation.devices.results if allocation else ()):
                at = f"status.allocation.devices.results[{i}].consumedCapacity"
                yield at, result.consumed_capacity
        case ResourceClaimTemplate():
            yield from _of_claim(item.spec.spec.devices, "spec.spec.devices")


def _of_device(device: Device, path: str) -> Iterator[Amounts]:
    yield f"{path}.capacity", {name: each.value for name, each in device.capacity.items()}
    for name, capacity in device.capacity.items():
        if capacity.request_policy is not None:
            yield from _of_policy(capacity.request_policy, f"{path}.capacity[{name}].requestPolicy")
    for i, consumed in enumerate(device.consumes_counters):
        amounts = {name: each.value for name, each in consumed.counters.items()}
        yield f"{path}.consumesCounters[{i}].counters", amounts


def _of_policy(policy: CapacityRequestPolicy, path: str) -> Iterator[Amounts]:
    named = {"default": policy.default}
    yield path, {name: text for name, text in named.items() if text}
    yield f"{path}.validValues", {str(i): text for i, text in enumerate(policy.valid_values)}
    valid = policy.valid_range
    if valid is not None:
        bounds = {"min": valid.min, "max": valid.max, "step": valid.step}
        yield f"{path}.validRange", {name: text for name, text in bounds.items() if text}


def _of_claim(claim: DeviceClaim, path: str) -> Iterator[Amounts]:
    for i, request in enumerate(claim.requests):
        at = f"{path}.requests[{i}]"
        yield from _of_requirements(request.capacity, at)
        if request.exactly is not None:
            yield from _of_requirements(request.exactly.capacity, f"{at}.exactly")
        for k, alternative in enumerate(request.first_available):
            yield from _of_requirements(alternative.capacity, f"{at}.firstAvailable[{k}]")


def _of_requirements(capacity: CapacityRequirements | None, path: str) -> Iterator[Amounts]:
    if capacity is not None:
        yield f"{path}.capacity.requests", capacity.requests
