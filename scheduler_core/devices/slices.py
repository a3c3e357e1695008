"""Resource slices by node, with their devices.

Upstream: v1.36 dynamic-resource-allocation/resourceslice/tracker and structured (NodeMatches).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import NamedTuple

from scheduler_core.api import Device, DeviceTaintRule, Node, NodeSelector, ResourceSlice
from scheduler_core.api.selectors import node_selector_error, node_selector_matches
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.config.features import FeatureGates
from scheduler_core.devices.cel import CelProblem
from scheduler_core.devices.device_selection import evaluate
from scheduler_core.devices.taint_rules import rules_in_effect, tainted


class PoolId(NamedTuple):
    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceId(NamedTuple):
    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class NodeSelectorError(ValueError):
    """A slice or a device has a node selector that is not valid."""


@dataclass(frozen=True, eq=False, slots=True)
class SliceDevice:
    """A device of a slice, as long as the slice does not change.

    `answers` holds what selectors said of it, by expression and what they saw of its sharing;
    `lists` is whether they see attributes that are lists.
    """

    id: DeviceId
    device: Device
    slice: ResourceSlice
    lists: bool
    answers: dict[tuple[str, bool], bool | CelProblem] = field(default_factory=dict)

    def matches(self, expression: str, *, shareable: bool) -> bool | CelProblem:
        """Return what a selector says of the device; it is evaluated once."""
        asked = expression, shareable
        answer = self.answers.get(asked)
        if answer is None:
            answer = evaluate(
                expression, self.device, self.id.driver, shareable=shareable, lists=self.lists
            )
            self.answers[asked] = answer
        return answer

    def is_on(self, node: Node) -> bool:
        """Tell whether a device of a slice with selection per device can be used on a node.

        Raises NodeSelectorError.
        """
        device = self.device
        return node_matches(node, device.node_name, device.all_nodes, device.node_selector)


@dataclass(frozen=True, eq=False, slots=True)
class Slice:
    """A resource slice and its devices, in order.

    `item` has the taints of rules among those of its devices; `plain` is what its driver wrote.
    A slice `withheld` is taken for missing, so that its pool is incomplete.
    """

    item: ResourceSlice
    devices: tuple[SliceDevice, ...]
    plain: ResourceSlice
    withheld: bool

    @property
    def name(self) -> str:
        return self.item.name

    @property
    def pool(self) -> PoolId:
        return PoolId(self.item.spec.driver, self.item.spec.pool.name)

    def is_on(self, node: Node) -> bool:
        """Tell whether it is for a node, or any of its devices. Raises NodeSelectorError."""
        spec = self.item.spec
        if spec.node_name or spec.all_nodes or spec.node_selector is not None:
            return node_matches(node, spec.node_name, spec.all_nodes, spec.node_selector)
        return spec.per_device_node_selection and any(d.is_on(node) for d in self.devices)


def slice_of(plain: ResourceSlice, item: ResourceSlice, features: FeatureGates) -> Slice:
    driver, pool = item.spec.driver, item.spec.pool.name
    lists = features.switches.list_attributes_read
    devices = tuple(
        SliceDevice(DeviceId(driver, pool, device.name), device, item, lists)
        for device in item.spec.devices
    )
    return Slice(item, devices, plain, _withheld(item, features))


def _withheld(item: ResourceSlice, features: FeatureGates) -> bool:
    """Tell whether a device has compatibility groups, of which the allocator knows nothing.

    The gate DRADeviceCompatibilityGroups is off: no run may switch it on.

    Upstream: v1.37 structured/internal/incubating/compatibility_groups.go.
    """
    taken = chain.from_iterable(device.consumes_counters for device in item.spec.devices)
    switches = features.switches
    return switches.compatibility_groups_withheld and any(
        each.compatibility_groups for each in taken
    )


def node_matches(
    node: Node, node_name: str, all_nodes: bool, selector: NodeSelector | None
) -> bool:
    """Tell whether a slice's or device's selection includes a node. Raises NodeSelectorError."""
    if node_name:
        return node.name == node_name
    if all_nodes:
        return True
    if selector is None:
        return False
    if error := node_selector_error(selector):
        raise NodeSelectorError(error)
    return node_selector_matches(selector, node.metadata.labels, node.name)


class Slices:
    """All slices of the cluster, kept up to date with its objects.

    `features` say which DeviceTaintRules count, and which slices are withheld.
    """

    def __init__(self, objects: ObjectStore, features: FeatureGates) -> None:
        self._objects = objects
        self._features = features
        self._revision = 0
        self._rules_revision = 0
        self._slices: dict[str, Slice] = {}
        self._on_node: dict[str, list[Slice]] = {}
        self._counters_on_node: dict[str, list[Slice]] = {}
        self._shared: list[Slice] = []

    def fork(self, objects: ObjectStore) -> Slices:
        """Return a copy that follows a copy of the objects."""
        fork = Slices(objects, self._features)
        fork._rules_revision = self._rules_revision
        fork._revision, fork._slices = self._revision, self._slices.copy()
        fork._on_node, fork._counters_on_node = self._on_node, self._counters_on_node
        fork._shared = self._shared
        return fork

    def all(self) -> Sequence[Slice]:
        self._refresh()
        return list(self._slices.values())

    def candidates(self, node_name: str, *, counters_everywhere: bool) -> Iterator[Slice]:
        """Yield the slices that may concern a node: those local to it first.

        With `counters_everywhere` the shared counters of all other nodes are among them.
        """
        self._refresh()
        yield from self._on_node.get(node_name, ())
        yield from self._shared
        if counters_everywhere:
            yield from chain.from_iterable(self._counters_on_node.values())
        else:
            yield from self._counters_on_node.get(node_name, ())

    def _refresh(self) -> None:
        changed = self._objects.changed_since(ResourceSlice, self._revision)
        rules_revision = self._objects.revision(DeviceTaintRule)
        if not changed and rules_revision == self._rules_revision:
            return
        self._revision += len(changed)
        rules = rules_in_effect(self._objects, self._features)
        others = self._slices if rules_revision != self._rules_revision else ()
        self._rules_revision = rules_revision
        for key in dict.fromkeys([*changed, *others]):
            plain = self._objects.get(ResourceSlice, key)
            known = self._slices.get(key)
            if plain is None:
                self._slices.pop(key, None)
                continue
            item = tainted(plain, rules)
            if known is None or known.plain is not plain or known.item != item:
                self._slices[key] = slice_of(plain, item, self._features)
        self._on_node, self._counters_on_node, self._shared = {}, {}, []
        for each in self._slices.values():
            spec = each.item.spec
            if spec.node_name:
                local = self._counters_on_node if spec.shared_counters else self._on_node
                local.setdefault(spec.node_name, []).append(each)
            else:
                self._shared.append(each)
