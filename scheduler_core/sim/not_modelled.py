"""What an input asks for and the engine does not do, in words for every screen of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from scheduler_core.api import CSIStorageCapacity, DeviceClass, KubeObject, ResourceSlice
from scheduler_core.api.findings import not_modelled
from scheduler_core.config.defaults import FILTER_TIMEOUT_NS
from scheduler_core.config.duration import format_duration
from scheduler_core.config.features import FeatureGates
from scheduler_core.config.types import (
    DynamicResourcesArgs,
    Extender,
    KubeSchedulerConfiguration,
    NodeResourcesBalancedAllocationArgs,
)
from scheduler_core.devices.cel import unknown_functions
from scheduler_core.devices.classes import IMPLICIT_PREFIX
from scheduler_core.devices.device_selection import expressions_of
from scheduler_core.releases.bugs import bug_met
from scheduler_core.wording import say, series

# Where the real kube-scheduler panics and kviz continues: kviz says that first.
#
# Which panics a release has is in its table.

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


def inputs_not_modelled(
    objects: Sequence[KubeObject],
    ignored: Mapping[str, int],
    uncalled: Iterable[Extender],
    left_out: Iterable[str],
    configuration: KubeSchedulerConfiguration,
    features: FeatureGates,
) -> Iterator[str]:
    """Name what is not done of a cluster and its extenders.

    `ignored` counts the objects that were not read by kind; `uncalled` are the extenders of the
    configuration that nobody calls; `left_out` says what of the cluster could not be read. First
    comes what the real scheduler of the release does not survive.
    """
    yield from panics(objects, configuration, features)
    yield from left_out
    yield from not_modelled(objects, ignored)
    yield from _selectors_not_modelled(objects)
    if any(isinstance(item, ResourceSlice) for item in objects):
        yield from _timeouts_not_modelled(configuration)
    yield from (
        say("note.extender_not_called", "the extender {url} was not called", url=each.url_prefix)
        for each in uncalled
    )
    if features.unread:
        yield say(
            "note.gates_unread",
            "feature gates of other components, which kube-scheduler takes and does not read: "
            "{gates}",
            gates=series(features.unread),
        )


def _timeouts_not_modelled(configuration: KubeSchedulerConfiguration) -> Iterator[str]:
    """Name a limit of wall time that was set: there is no wall time (docs/adr/0025)."""
    timeouts_ns = {
        each.args.filter_timeout_ns
        for profile in configuration.profiles
        for each in profile.plugin_config
        if isinstance(each.args, DynamicResourcesArgs) and each.args.filter_timeout_ns is not None
    }
    for timeout_ns in sorted(timeouts_ns - {FILTER_TIMEOUT_NS}):
        yield say(
            "note.filter_timeout",
            "filterTimeout {timeout} of DynamicResources: the search for devices ends after so "
            "many candidates, whatever the time",
            timeout=format_duration(timeout_ns),
        )


def _selectors_not_modelled(objects: Iterable[KubeObject]) -> Iterator[str]:
    """Name what CEL selectors of devices call that kviz lacks."""
    functions = {
        name
        for item in objects
        for expression in expressions_of(item)
        for name in unknown_functions(expression)
    }
    if functions:
        yield say(
            "note.cel_functions",
            "CEL functions of device selectors: {functions}; such a selector ends in an error",
            functions=series(sorted(functions)),
        )
