"""Shares of devices: how much of a capacity a request consumes, and whether it is there.

Upstream: v1.36 structured/internal/incubating/consumable_capacity.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scheduler_core.api import CapacityRequestPolicy, CapacityRequestPolicyRange, DeviceCapacity
from scheduler_core.api.quantity import binary_text, canonical, value
from scheduler_core.devices.amounts import nano

MILLI_PER_UNIT: Final = 1000
NANO_PER_MILLI: Final = 10**6

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
    count = _milli if fractions else value
    least, step = count(valid.min), count(valid.step)
    rounded = least + -(-(count(requested) - least) // step) * step
    if not fractions:
        return binary_text(rounded)
    return f"{rounded}m" if rounded % MILLI_PER_UNIT else binary_text(rounded // MILLI_PER_UNIT)


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
