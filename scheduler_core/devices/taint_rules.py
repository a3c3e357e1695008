"""Slices with the taints that DeviceTaintRules add to those of the driver.

Upstream: v1.36 dynamic-resource-allocation/resourceslice/tracker (applyPatches). There the rules
come in no order; here the oldest comes first. It only matters for which taint is named.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from scheduler_core.api import (
    Device,
    DeviceTaint,
    DeviceTaintRule,
    DeviceTaintSelector,
    ResourceSlice,
)
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.config.features import FeatureGates


def rules_in_effect(objects: ObjectStore, features: FeatureGates) -> list[DeviceTaintRule]:
    """Return the rules that count: none without the gate DRADeviceTaintRules.

    One without selector concerns all devices before a switch of the releases, and then none.
    """
    if not features.enabled("DRADeviceTaintRules"):
        return []
    rules = objects.all(DeviceTaintRule)
    if features.switches.rules_need_selector:
        return [rule for rule in rules if rule.spec.device_selector is not None]
    return list(rules)


def tainted(item: ResourceSlice, rules: Iterable[DeviceTaintRule]) -> ResourceSlice:
    """Return the slice as the scheduler sees it; the same one if no rule selects its devices."""
    spec = item.spec
    chosen = [rule.spec for rule in rules if _selects_pool(rule.spec.device_selector, item)]
    if not chosen:
        return item
    devices = tuple(
        _with(
            device,
            tuple(rule.taint for rule in chosen if _selects_device(rule.device_selector, device)),
        )
        for device in spec.devices
    )
    if all(new is old for new, old in zip(devices, spec.devices, strict=True)):
        return item
    return replace(item, spec=replace(spec, devices=devices))


def _with(device: Device, taints: tuple[DeviceTaint, ...]) -> Device:
    return replace(device, taints=device.taints + taints) if taints else device


def _selects_pool(selector: DeviceTaintSelector | None, item: ResourceSlice) -> bool:
    """Tell whether a rule concerns a slice."""
    if selector is None:
        return True
    return (selector.driver is None or selector.driver == item.spec.driver) and (
        selector.pool is None or selector.pool == item.spec.pool.name
    )


def _selects_device(selector: DeviceTaintSelector | None, device: Device) -> bool:
    return selector is None or selector.device is None or selector.device == device.name
