"""Which devices are in use, according to allocated claims.

Upstream: v1.36 plugins/dynamicresources/allocateddevices.go and structured/schedulerapi/types.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from scheduler_core.api import AllocationResult, DeviceRequestAllocationResult, ResourceClaim
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.devices.amounts import nano
from scheduler_core.devices.slices import DeviceId

Consumed = dict[str, int]
"""Consumed capacity in billionths, by name."""


@dataclass
class AllocatedState:
    """Devices given away whole; shares of others; and what those consume of each device."""

    devices: set[DeviceId] = field(default_factory=set)
    shares: set[tuple[DeviceId, str]] = field(default_factory=set)
    capacity: dict[DeviceId, Consumed] = field(default_factory=dict)

    def copy(self) -> AllocatedState:
        capacity = {device: dict(consumed) for device, consumed in self.capacity.items()}
        return AllocatedState(set(self.devices), set(self.shares), capacity)

    def is_allocated(self, device: DeviceId) -> bool:
        """Tell whether a device is in use, as a whole or a share of it."""
        return device in self.devices or device in self.capacity or self.has_share(device)

    def has_share(self, device: DeviceId) -> bool:
        """Tell whether a share of a device was given, also one that consumes nothing."""
        return any(shared == device for shared, _ in self.shares)

    def add(self, allocation: AllocationResult | None, *, sharing: bool) -> None:
        """Count an allocation's devices as in use; those with admin access are not."""
        for result in _counted(allocation):
            device = device_of(result)
            if not (sharing and result.share_id):
                self.devices.add(device)
                continue
            self.shares.add((device, result.share_id))
            if result.consumed_capacity:
                add_consumed(self.capacity, device, consumption(result.consumed_capacity))

    def remove(self, allocation: AllocationResult | None, *, sharing: bool) -> None:
        """Count an allocation's devices as free, even if another claim holds them too."""
        for result in _counted(allocation):
            device = device_of(result)
            if not (sharing and result.share_id):
                self.devices.discard(device)
                continue
            self.shares.discard((device, result.share_id))
            if result.consumed_capacity:
                remove_consumed(self.capacity, device, consumption(result.consumed_capacity))


def _counted(allocation: AllocationResult | None) -> Iterable[DeviceRequestAllocationResult]:
    results = allocation.devices.results if allocation is not None else ()
    return (result for result in results if not result.admin_access)


def device_of(result: DeviceRequestAllocationResult) -> DeviceId:
    return DeviceId(result.driver, result.pool, result.device)


def consumption(amounts: Mapping[str, str]) -> Consumed:
    return {name: nano(text) for name, text in amounts.items()}


def add_consumed(
    capacity: dict[DeviceId, Consumed], device: DeviceId, consumed: Mapping[str, int]
) -> None:
    known = capacity.setdefault(device, {})
    for name, amount in consumed.items():
        known[name] = known.get(name, 0) + amount


def remove_consumed(
    capacity: dict[DeviceId, Consumed], device: DeviceId, consumed: Mapping[str, int]
) -> None:
    """Take off what was consumed; a device of which nothing is, is forgotten."""
    known = capacity.get(device)
    if known is None:
        return
    for name, amount in consumed.items():
        if name in known:
            known[name] -= amount
    if not any(known.values()):
        del capacity[device]


class AllocatedDevices:
    """The devices of all allocated claims, followed from claim to claim as they change.

    `sharing` is the gate DRAConsumableCapacity; without it a share counts as the whole device.
    """

    def __init__(self, objects: ObjectStore, *, sharing: bool) -> None:
        self._objects = objects
        self._sharing = sharing
        self._revision = 0
        self._known: dict[str, AllocationResult] = {}
        self._state = AllocatedState()

    def fork(self, objects: ObjectStore) -> AllocatedDevices:
        """Return a copy that follows a copy of the objects."""
        fork = AllocatedDevices(objects, sharing=self._sharing)
        fork._revision, fork._known = self._revision, self._known.copy()
        fork._state = self._state.copy()
        return fork

    def state(self) -> AllocatedState:
        """Return a copy of what is in use now."""
        changed = self._objects.changed_since(ResourceClaim, self._revision)
        self._revision += len(changed)
        for key in changed:
            claim = self._objects.get(ResourceClaim, key)
            self._follow(key, claim.status.allocation if claim is not None else None)
        return self._state.copy()

    def _follow(self, key: str, now: AllocationResult | None) -> None:
        before = self._known.pop(key, None)
        if before is not None and (now is None or now.devices != before.devices):
            self._state.remove(before, sharing=self._sharing)
            before = None
        if now is not None:
            self._known[key] = now
            if before is None:
                self._state.add(now, sharing=self._sharing)
