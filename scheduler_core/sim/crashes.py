"""Where the real kube-scheduler ends with a panic and kviz goes on: that is said first.

Which panics a release has is in its table.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from scheduler_core.api import CSIStorageCapacity, DeviceClass, KubeObject
from scheduler_core.config.features import FeatureGates
from scheduler_core.config.types import (
    KubeSchedulerConfiguration,
    NodeResourcesBalancedAllocationArgs,
)
from scheduler_core.devices.classes import IMPLICIT_PREFIX
from scheduler_core.releases.bugs import bug_met

T = TypeVar("T", bound=KubeObject)


def panics(
    objects: Sequence[KubeObject],
    configuration: KubeSchedulerConfiguration,
    features: FeatureGates,
) -> Iterator[str]:
    """Name the panics that a cluster and a configuration lead the release's kube-scheduler into."""
    known = features.release.bugs
    if "panic_balanced" in known and features.enabled("DRAExtendedResource"):
        yield from _balanced_device_classes(objects, configuration, str(features.release))
    if "panic_capacity" in known and features.enabled("StorageCapacityScoring"):
        yield from _capacities_without_amount(objects, str(features.release))


def _balanced_device_classes(
    objects: Sequence[KubeObject], configuration: KubeSchedulerConfiguration, release: str
) -> Iterator[str]:
    """Resources that NodeResourcesBalancedAllocation weighs and a class with a selector backs."""
    backed = {
        resource: each.name
        for each in _of(objects, DeviceClass)
        if each.spec.selectors
        for resource in (each.spec.extended_resource_name, IMPLICIT_PREFIX + each.name)
    }
    weighed = {
        resource.name
        for profile in configuration.profiles
        for each in profile.plugin_config
        if isinstance(each.args, NodeResourcesBalancedAllocationArgs)
        for resource in each.args.resources
    }
    for resource in sorted(weighed & backed.keys()):
        yield bug_met("panic_balanced", f"{resource}, DeviceClass {backed[resource]}", release)


def _capacities_without_amount(objects: Sequence[KubeObject], release: str) -> Iterator[str]:
    classes = {
        each.storage_class_name
        for each in _of(objects, CSIStorageCapacity)
        if each.maximum_volume_size and not each.capacity
    }
    for name in sorted(classes):
        yield bug_met("panic_capacity", f"StorageClass {name}", release)


def _of(objects: Sequence[KubeObject], kind: type[T]) -> Iterator[T]:
    return (each for each in objects if isinstance(each, kind))
