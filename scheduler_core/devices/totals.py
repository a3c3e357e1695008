"""How many devices of a class a node has, and how many of them are in use.

For scoring extended resources that classes of devices back: older than pools are, it counts the
devices of all slices.

Upstream: v1.36 plugins/noderesources/resource_allocation.go (calculateDRAResourceTotals).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scheduler_core.api import DeviceClass, Node
from scheduler_core.devices.allocated import AllocatedState
from scheduler_core.devices.slices import (
    NodeSelectorError,
    Slice,
    SliceDevice,
    Slices,
    node_matches,
)


class DeviceTotals(NamedTuple):
    n_devices: int = 0
    n_in_use: int = 0


def device_totals(
    slices: Slices, device_class: DeviceClass, state: AllocatedState, node: Node
) -> DeviceTotals:
    """Count the devices of a class on a node; none at all if a selector ends in an error."""
    found = []
    try:
        for each in slices.all():
            for device in _on_node(each, node):
                selected = _is_of_class(device, device_class)
                if selected is None:
                    return DeviceTotals()
                if selected:
                    found.append(device)
    except NodeSelectorError:
        return DeviceTotals()
    return DeviceTotals(len(found), sum(state.is_allocated(device.id) for device in found))


def _on_node(each: Slice, node: Node) -> Iterator[SliceDevice]:
    spec = each.item.spec
    if spec.per_device_node_selection:
        yield from (device for device in each.devices if _is_for(device, node))
        return
    elsewhere = not spec.all_nodes and spec.node_name != node.name
    if elsewhere and spec.node_selector is not None:
        if not node_matches(node, spec.node_name, spec.all_nodes, spec.node_selector):
            return
    elif elsewhere and spec.node_name:
        return
    yield from each.devices


def _is_for(device: SliceDevice, node: Node) -> bool:
    """Tell whether a device is on a node; here every node counts before a name does."""
    return device.device.all_nodes or device.is_on(node)


def _is_of_class(device: SliceDevice, device_class: DeviceClass) -> bool | None:
    """Tell whether all selectors of a class match; None if one ends in an error.

    They are shown no device as one that may be shared.
    """
    for selector in device_class.spec.selectors:
        if selector.cel is None:
            continue
        answer = device.matches(selector.cel.expression, shareable=False)
        if not isinstance(answer, bool):
            return None
        if not answer:
            return False
    return True
