"""Shares of devices: how much of a capacity a request consumes, and whether it is there.

Upstream: v1.36 structured/internal/incubating/consumable_capacity.go.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from scheduler_core.api import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from scheduler_core.api.quantity import binary_text, canonical, value
from scheduler_core.devices.amounts import nano

MILLI_PER_UNIT: Final = 1000
NANO_PER_MILLI: Final = 10**6
MAX_INT64: Final = 2**63 - 1
NOT_REPRESENTABLE: Final = "capacity request cannot be represented in the device's range arithmetic"

NOTHING: Final[Mapping[str, int]] = {}


@dataclass(frozen=True, slots=True)
class LacksCapacity:
    """The device has no capacity of the name requested."""

    name: str


@dataclass(frozen=True, slots=True)
class AgainstPolicy:
    """The amount is none that the capacity's policy allows."""

    name: str
    amount: str


@dataclass(frozen=True, slots=True)
class CapacityShort:
    """The amount is more than what is left of the capacity's `total`; `left` is in billionths."""

    name: str
    amount: str
    total: str
    left: int


NoRoom = LacksCapacity | AgainstPolicy | CapacityShort


def no_room(
    capacity: Mapping[str, DeviceCapacity],
    requested: Mapping[str, str] | None,
    consumed: Mapping[str, int],
    being_consumed: Mapping[str, int],
    *,
    fractions: bool,
) -> NoRoom | None:
    """Return why a device's capacity does not hold one more request, None if it does.

    `consumed` and `being_consumed`, in billionths, are those of allocated claims and of the search
    so far. With `fractions` the bounds and steps of a range are read in thousandths. Requests for a
    capacity that the device lacks, or against its policy, are refused.
    """
    requested = requested or {}
    for name in requested:
        if name not in capacity:
            return LacksCapacity(name)
    for name, offered in capacity.items():
        amount = consumed_amount(requested.get(name), offered, fractions=fractions)
        if _violates(amount, offered.request_policy, fractions):
            return AgainstPolicy(name, amount)
        left = nano(offered.value) - consumed.get(name, 0) - being_consumed.get(name, 0)
        if nano(amount) > left:
            return CapacityShort(name, amount, offered.value, left)
    return None


def out_of_range(
    capacity: Mapping[str, DeviceCapacity],
    requested: Mapping[str, str] | None,
    *,
    fractions: bool,
) -> str:
    """Return why a request for a device cannot be computed with, empty if it can.

    That is one whose rounded amount passes 64 bits, or is negative.
    """
    requested = requested or {}
    if any(name not in capacity for name in requested):
        return ""
    for name, offered in sorted(capacity.items()):
        problem = _beyond_64_bits(requested.get(name), offered.request_policy, fractions)
        if problem:
            return f'capacity "{name}": {NOT_REPRESENTABLE}: {problem}'
        if nano(consumed_amount(requested.get(name), offered, fractions=fractions)) < 0:
            return f'capacity "{name}": capacity value is negative'
    return ""


def _beyond_64_bits(
    requested: str | None, policy: CapacityRequestPolicy | None, fractions: bool
) -> str:
    valid = policy.valid_range if policy is not None else None
    if requested is None or valid is None or not (valid.min and valid.step):
        return ""
    if nano(requested) < nano(valid.min):
        return ""
    asked = f"request {canonical(requested)}"
    if fractions and (nano(requested) % NANO_PER_MILLI or _milli(requested) > MAX_INT64):
        return f"{asked} is not a representable milli value"
    if not fractions and nano(requested) > MAX_INT64 * NANO_PER_MILLI * MILLI_PER_UNIT:
        return f"{asked} exceeds MaxInt64"
    if _steps_up(requested, valid, _milli if fractions else value) > MAX_INT64:
        limit = "the milli-value range" if fractions else "MaxInt64"
        return f"rounding {asked} up to the next step passes {limit}"
    return ""


def consumption_of(
    capacity: Mapping[str, DeviceCapacity],
    requested: Mapping[str, str] | None,
    *,
    fractions: bool,
) -> dict[str, str]:
    """Return what a request consumes of each capacity of a device."""
    requested = requested or {}
    return {
        name: canonical(consumed_amount(requested.get(name), offered, fractions=fractions))
        for name, offered in capacity.items()
    }


def consumed_amount(requested: str | None, offered: DeviceCapacity, *, fractions: bool) -> str:
    """Return what is consumed for a request, None being none: the policy's default, or all.

    A policy rounds requests up to its steps, or to one of its values.
    """
    policy = offered.request_policy
    if requested is None:
        return (policy.default if policy is not None else "") or offered.value
    if policy is None:
        return requested
    if policy.valid_range is not None and policy.valid_range.min:
        return _rounded_to_step(requested, policy.valid_range, fractions)
    for valid in policy.valid_values:
        if nano(requested) <= nano(valid):
            return valid
    return requested


def _rounded_to_step(requested: str, valid: CapacityRequestPolicyRange, fractions: bool) -> str:
    if nano(requested) < nano(valid.min):
        return valid.min
    if not valid.step:
        return requested
    rounded = _steps_up(requested, valid, _milli if fractions else value)
    if not fractions:
        return binary_text(rounded)
    return f"{rounded}m" if rounded % MILLI_PER_UNIT else binary_text(rounded // MILLI_PER_UNIT)


def _steps_up(
    requested: str, valid: CapacityRequestPolicyRange, count: Callable[[str], int]
) -> int:
    least, step = count(valid.min), count(valid.step)
    return least + -(-(count(requested) - least) // step) * step


def _milli(quantity: str) -> int:
    """Return thousandths, rounded up."""
    return -(-nano(quantity) // NANO_PER_MILLI)


def _violates(amount: str, policy: CapacityRequestPolicy | None, fractions: bool) -> bool:
    if policy is None or (policy.default and nano(amount) == nano(policy.default)):
        return False
    if policy.valid_range is not None:
        return _outside(amount, policy.valid_range, fractions)
    if policy.valid_values:
        return all(nano(amount) != nano(valid) for valid in policy.valid_values)
    return False


def _outside(amount: str, valid: CapacityRequestPolicyRange, fractions: bool) -> bool:
    if valid.max and nano(amount) > nano(valid.max):
        return True
    if not valid.step:
        return False
    count = _milli if fractions else value
    least = count(valid.min) if valid.min else 0
    return (count(amount) - least) % count(valid.step) != 0
