"""The pools of devices that can be used on a node.

Upstream: v1.36 dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from scheduler_core.api import Counter, Node
from scheduler_core.devices.slices import NodeSelectorError, PoolId, Slice, SliceDevice, Slices

CounterSets = Mapping[str, Mapping[str, Counter]]
"""Counters by the name of their set and their own."""


@dataclass(frozen=True, eq=False, slots=True)
class Pool:
    """The part of a pool that matters to a node.

    An incomplete pool is being updated by its driver, an `invalid` one (the reason) contradicts
    itself; neither gives devices. `elsewhere` are slices for other nodes: their devices consume
    the same counters.
    """

    id: PoolId
    slices: Sequence[Slice] = ()
    elsewhere: Sequence[Slice] = ()
    counter_sets: CounterSets = field(default_factory=dict)
    incomplete: bool = False
    invalid: str = ""

    @property
    def usable(self) -> bool:
        return not self.incomplete and not self.invalid

    @property
    def devices(self) -> list[SliceDevice]:
        """Return the devices in the order in which they are tried."""
        return [device for each in self.slices for device in each.devices]


class PoolError(ValueError):
    """Pools cannot be gathered: a slice's node selector is not valid."""


def gather_pools(
    slices: Slices, node: Node, *, partitionable: bool, counters_everywhere: bool
) -> list[Pool]:
    """Return the pools for a node by driver and name, those with binding conditions last.

    Slices of older generations do not count. `partitionable` is the gate
    DRAPartitionableDevices. With `counters_everywhere` shared counters concern all nodes, not only
    those that their slice is for. Raises PoolError.
    """
    by_pool = _relevant(
        slices, node, partitionable=partitionable, counters_everywhere=counters_everywhere
    )
    pools = [
        pool
        for pool_id, members in by_pool.items()
        if (pool := _pool(pool_id, members, slices, partitionable)) is not None
    ]
    return sorted(pools, key=lambda pool: (_has_binding_conditions(pool), pool.id))


def _relevant(
    slices: Slices, node: Node, *, partitionable: bool, counters_everywhere: bool
) -> dict[PoolId, list[Slice]]:
    """Return the slices for a node by pool, each pool's newest generation."""
    found: dict[PoolId, list[Slice]] = {}
    for each in slices.candidates(node.name, counters_everywhere=counters_everywhere):
        spec = each.item.spec
        if not partitionable and (spec.per_device_node_selection or spec.shared_counters):
            continue
        if each.withheld:
            continue
        try:
            if not (counters_everywhere and spec.shared_counters) and not each.is_on(node):
                continue
        except NodeSelectorError as error:
            what = f"failed to perform node selection for slice {each.name}: {error}"
            raise PoolError(what) from None
        members = found.setdefault(each.pool, [])
        newest = members[0].item.spec.pool.generation if members else spec.pool.generation
        if spec.pool.generation > newest:
            members.clear()
        if spec.pool.generation >= newest:
            members.append(each)
    return found


def _pool(
    pool_id: PoolId, members: list[Slice], slices: Slices, partitionable: bool
) -> Pool | None:
    """Build a pool; None if a newer generation, with nothing for this node, replaces it."""
    first = members[0].item.spec.pool
    if len(members) == first.resource_slice_count:
        return _build(pool_id, members, members, partitionable)
    same = [each for each in slices.all() if each.pool == pool_id]
    if any(each.item.spec.pool.generation > first.generation for each in same):
        return None
    of_today = (each for each in same if each.item.spec.pool.generation == first.generation)
    current = [each for each in of_today if not each.withheld]
    if len(current) != first.resource_slice_count:
        return Pool(pool_id, incomplete=True)
    return _build(pool_id, members, current, partitionable)


def _build(
    pool_id: PoolId, members: Sequence[Slice], current: Sequence[Slice], partitionable: bool
) -> Pool:
    members = sorted(members, key=lambda each: each.name)
    with_devices = [
        each for each in members if not (partitionable and each.item.spec.shared_counters)
    ]
    names = {each.name for each in members}
    elsewhere = [each for each in current if partitionable and each.name not in names]
    counter_sets: dict[str, Mapping[str, Counter]] = {}
    problem = _repeated_device(with_devices)
    if partitionable and not problem:
        problem = _add_counter_sets(counter_sets, (*members, *elsewhere))
    if partitionable and not problem:
        problem = _unknown_counter(counter_sets, members)
    problem = problem or _unknown_counter(counter_sets, elsewhere)
    if problem:
        return Pool(pool_id, invalid=problem)
    return Pool(pool_id, with_devices, elsewhere, counter_sets)


def _repeated_device(slices: Iterable[Slice]) -> str:
    seen: set[str] = set()
    for each in slices:
        for device in each.devices:
            if device.id.device in seen:
                return f"duplicate device name {device.id.device}"
            seen.add(device.id.device)
    return ""


def _add_counter_sets(
    counter_sets: dict[str, Mapping[str, Counter]], slices: Iterable[Slice]
) -> str:
    for each in slices:
        for shared in each.item.spec.shared_counters:
            if shared.name in counter_sets:
                return f"duplicate counter set name {shared.name}"
            counter_sets[shared.name] = shared.counters
    return ""


def _unknown_counter(counter_sets: CounterSets, slices: Iterable[Slice]) -> str:
    for each in slices:
        for device in each.item.spec.devices:
            for consumed in device.consumes_counters:
                known = counter_sets.get(consumed.counter_set)
                if known is None:
                    return f"counter set {consumed.counter_set} not found"
                for name in consumed.counters:
                    if name not in known:
                        return f"counter {name} not found in counter set {consumed.counter_set}"
    return ""


def _has_binding_conditions(pool: Pool) -> bool:
    return any(device.device.binding_conditions for device in pool.devices)
