"""Counters that the partitions of a device share.

Upstream: v1.36 structured/internal/incubating/allocator_incubating.go (checkAvailableCounters). As
there, pools of one name share one account before a switch of the releases, whichever drivers they
belong to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler_core.api import Device
from scheduler_core.devices.allocated import AllocatedState
from scheduler_core.devices.amounts import nano
from scheduler_core.devices.pools import Pool
from scheduler_core.devices.slices import PoolId
from scheduler_core.plugins.dynamic_resources.requests import Candidate

Amounts = dict[str, dict[str, int]]
"""Billionths by counter set and counter."""


class AvailableCounters:
    """What allocated devices have left of each pool's counters, worked out once per cycle."""

    def __init__(self, allocated: AllocatedState, *, by_driver: bool) -> None:
        self._allocated = allocated
        self._by_driver = by_driver
        self._pools: dict[PoolId | str, Amounts] = {}

    def of(self, pool: Pool) -> Amounts:
        account = self.account(pool)
        known = self._pools.get(account)
        if known is None:
            known = self._pools[account] = self._left(pool)
        return known

    def account(self, pool: Pool) -> PoolId | str:
        """Return what the counters of a pool are kept under."""
        return pool.id if self._by_driver else pool.id.pool

    def _left(self, pool: Pool) -> Amounts:
        left = {
            name: {counter: nano(each.value) for counter, each in counters.items()}
            for name, counters in pool.counter_sets.items()
        }
        for each in (*pool.slices, *pool.elsewhere):
            for device in each.devices:
                if self._allocated.is_allocated(device.id):
                    _take(left, device.device)
        return left


def _take(left: Amounts, device: Device) -> None:
    for consumed in device.consumes_counters:
        counters = left.get(consumed.counter_set, {})
        for name, each in consumed.counters.items():
            if name in counters:
                counters[name] -= nano(each.value)


@dataclass(frozen=True, slots=True)
class CounterShort:
    """A device needs so much more of a counter than is `left`, both in billionths."""

    counter_set: str
    counter: str
    needed: int
    left: int


class CounterAccount:
    """What the devices of one search consume."""

    def __init__(self, available: AvailableCounters) -> None:
        self._available = available
        self._consumed: dict[PoolId | str, Amounts] = {}

    def take(self, candidate: Candidate) -> bool:
        """Book what a device consumes, if all of the pool's counters allow it."""
        self._book(candidate, 1)
        if self._overdrawn(candidate) is None:
            return True
        self._book(candidate, -1)
        return False

    def shortage(self, candidate: Candidate) -> CounterShort | None:
        """Return the counter of which a device would take more than is left, None if none."""
        self._book(candidate, 1)
        overdrawn = self._overdrawn(candidate)
        self._book(candidate, -1)
        if overdrawn is None:
            return None
        name, counter, left = overdrawn
        mine = (n for s, c, n in _consumption(candidate.device.device) if (s, c) == (name, counter))
        needed = sum(mine)
        return CounterShort(name, counter, needed, left + needed)

    def _overdrawn(self, candidate: Candidate) -> tuple[str, str, int] | None:
        """Return set, name and balance of the pool's first counter that is below zero."""
        consumed = self._consumed.get(self._available.account(candidate.pool), {})
        for name, counters in self._available.of(candidate.pool).items():
            taken = consumed.get(name, {})
            for counter, amount in counters.items():
                if amount < taken.get(counter, 0):
                    return name, counter, amount - taken.get(counter, 0)
        return None

    def give_back(self, candidate: Candidate) -> None:
        self._book(candidate, -1)

    def _book(self, candidate: Candidate, sign: int) -> None:
        account = self._consumed.setdefault(self._available.account(candidate.pool), {})
        for set_name, counter, amount in _consumption(candidate.device.device):
            counters = account.setdefault(set_name, {})
            counters[counter] = counters.get(counter, 0) + sign * amount


def _consumption(device: Device) -> Iterable[tuple[str, str, int]]:
    for consumed in device.consumes_counters:
        for name, each in consumed.counters.items():
            yield consumed.counter_set, name, nano(each.value)
