"""Upstream's defaults, and how a file's plugins are merged into the default ones.

Upstream: v1.36 pkg/scheduler/apis/config/v1/{defaults,default_plugins}.go.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from scheduler_core.config.features import FeatureGates
from scheduler_core.config.types import (
    ARGS_TYPES,
    DEFAULT_RESOURCES,
    DEFAULT_SCHEDULER_NAME,
    MAX_CUSTOM_SCORE,
    Args,
    ClientConnection,
    DefaultingType,
    DynamicResourcesArgs,
    KubeSchedulerConfiguration,
    LeaderElection,
    NodeResourcesBalancedAllocationArgs,
    NodeResourcesFitArgs,
    Plugin,
    PluginConfig,
    Plugins,
    PluginSet,
    PodTopologySpreadArgs,
    Profile,
    ResourceSpec,
    UtilizationShapePoint,
    VolumeBindingArgs,
)
from scheduler_core.config.v1 import ConfigurationV1, ProfileV1

_SECOND_NS: Final = 1_000_000_000
FILTER_TIMEOUT_NS: Final = 10 * _SECOND_NS
_BINDING_TIMEOUT_NS: Final = 600 * _SECOND_NS
_CAPACITY_SHAPE: Final = (
    UtilizationShapePoint(utilization=0, score=MAX_CUSTOM_SCORE),
    UtilizationShapePoint(utilization=100, score=0),
)
_DEFAULT_PLUGINS: Final = (
    Plugin(name="SchedulingGates"),
    Plugin(name="PrioritySort"),
    Plugin(name="NodeUnschedulable"),
    Plugin(name="NodeName"),
    Plugin(name="TaintToleration", weight=3),
    Plugin(name="NodeAffinity", weight=2),
    Plugin(name="NodePorts"),
    Plugin(name="NodeResourcesFit", weight=1),
    Plugin(name="VolumeRestrictions"),
    Plugin(name="NodeVolumeLimits"),
    Plugin(name="VolumeBinding"),
    Plugin(name="VolumeZone"),
    Plugin(name="PodTopologySpread", weight=2),
    Plugin(name="InterPodAffinity", weight=2),
    Plugin(name="DefaultPreemption"),
    Plugin(name="NodeResourcesBalancedAllocation", weight=1),
    Plugin(name="ImageLocality", weight=1),
    Plugin(name="DefaultBinder"),
)


def default_plugins(gates: FeatureGates) -> Plugins:
    """The plugins of a profile that names none, all of them through `multi_point`."""
    enabled = list(_DEFAULT_PLUGINS)
    if gates.switches.node_name_first:
        name = enabled.pop(enabled.index(Plugin(name="NodeName")))
        enabled.insert(enabled.index(Plugin(name="NodeUnschedulable")), name)
    if gates.enabled("NodeDeclaredFeatures"):
        enabled.append(Plugin(name="NodeDeclaredFeatures"))
    if gates.enabled("DynamicResourceAllocation"):
        # Giving up an idle claim is cheaper than evicting a pod, so its PostFilter goes first.
        preemption = enabled.index(Plugin(name="DefaultPreemption"))
        enabled.insert(preemption, Plugin(name="DynamicResources", weight=2))
    return Plugins(multi_point=PluginSet(enabled=tuple(enabled)))


def merge_plugins(default: Plugins, custom: Plugins) -> Plugins:
    """The default plugins with a file's plugins merged in, set by set."""
    customs = custom.sets()
    return Plugins(
        **{name: merge_plugin_set(each, customs[name]) for name, each in default.sets().items()}
    )


def merge_plugin_set(default: PluginSet, custom: PluginSet) -> PluginSet:
    """One set: defaults that are not disabled, re-configured in place, then the custom rest.

    A plugin that is named several times stays so; resolving the profile refuses it. What is
    disabled stays on record, because it also keeps `multi_point` out of an extension point.
    """
    disabled = tuple(Plugin(name=plugin.name) for plugin in (*custom.disabled, *default.disabled))
    disabled_names = {plugin.name for plugin in disabled}
    # The last of several entries for one plugin replaces the default one.
    last_entry = {plugin.name: index for index, plugin in enumerate(custom.enabled)}
    enabled: list[Plugin] = []
    replacing: set[int] = set()
    for plugin in () if "*" in disabled_names else default.enabled:
        if plugin.name in disabled_names:
            continue
        index = last_entry.get(plugin.name)
        if index is None:
            enabled.append(plugin)
        else:
            enabled.append(custom.enabled[index])
            replacing.add(index)
    enabled.extend(plugin for index, plugin in enumerate(custom.enabled) if index not in replacing)
    return PluginSet(enabled=tuple(enabled), disabled=disabled)


def default_args(args: Args, gates: FeatureGates) -> Args:
    """The arguments of a plugin with what was left open filled in."""
    match args:
        case DynamicResourcesArgs():
            return _dynamic_resources_args(args, gates)
        case NodeResourcesBalancedAllocationArgs():
            return replace(args, resources=_weighted(args.resources))
        case NodeResourcesFitArgs(scoring_strategy=strategy):
            weighted = replace(strategy, resources=_weighted(strategy.resources))
            return replace(args, scoring_strategy=weighted)
        case PodTopologySpreadArgs():
            return replace(args, defaulting_type=args.defaulting_type or DefaultingType.SYSTEM)
        case VolumeBindingArgs() if not args.shape and gates.enabled("StorageCapacityScoring"):
            return replace(args, shape=_CAPACITY_SHAPE)
        case _:
            return args


def configuration(
    written: ConfigurationV1,
    plugin_configs: tuple[tuple[PluginConfig, ...], ...],
    gates: FeatureGates,
) -> KubeSchedulerConfiguration:
    """The complete configuration. `plugin_configs` has the decoded arguments of each profile."""
    written_profiles = written.profiles or (ProfileV1(),)
    decoded = plugin_configs or ((),)
    contention = written.enable_contention_profiling
    return KubeSchedulerConfiguration(
        parallelism=written.parallelism,
        percentage_of_nodes_to_score=written.percentage_of_nodes_to_score,
        pod_initial_backoff_seconds=written.pod_initial_backoff_seconds,
        pod_max_backoff_seconds=written.pod_max_backoff_seconds,
        profiles=tuple(
            _profile(profile, args, gates, alone=len(written_profiles) == 1)
            for profile, args in zip(written_profiles, decoded, strict=True)
        ),
        extenders=written.extenders,
        leader_election=_leader_election(written.leader_election),
        client_connection=_client_connection(written.client_connection),
        enable_profiling=written.enable_profiling,
        enable_contention_profiling=written.enable_profiling if contention is None else contention,
        delay_cache_until_active=written.delay_cache_until_active,
    )


def _profile(
    written: ProfileV1, plugin_config: tuple[PluginConfig, ...], gates: FeatureGates, *, alone: bool
) -> Profile:
    name = written.scheduler_name
    if name is None:
        # Among several profiles each has to say its name; validation asks for it.
        name = DEFAULT_SCHEDULER_NAME if alone else ""
    plugins = merge_plugins(default_plugins(gates), written.plugins)
    given = {config.name for config in plugin_config}
    missing = [
        PluginConfig(name=plugin, args=default_args(ARGS_TYPES[plugin](), gates))
        for plugin in plugins.enabled_names()
        if plugin in ARGS_TYPES and plugin not in given
    ]
    return Profile(
        scheduler_name=name,
        percentage_of_nodes_to_score=written.percentage_of_nodes_to_score,
        plugins=plugins,
        plugin_config=(*plugin_config, *missing),
    )


def _weighted(resources: tuple[ResourceSpec, ...]) -> tuple[ResourceSpec, ...]:
    """The resources with weight 1 where none (or 0) is given; cpu and memory when empty."""
    return (
        tuple(replace(resource, weight=resource.weight or 1) for resource in resources)
        or DEFAULT_RESOURCES
    )


def _dynamic_resources_args(
    args: DynamicResourcesArgs, gates: FeatureGates
) -> DynamicResourcesArgs:
    filter_ns, binding_ns = args.filter_timeout_ns, args.binding_timeout_ns
    if filter_ns is None and gates.enabled("DRASchedulerFilterTimeout"):
        filter_ns = FILTER_TIMEOUT_NS
    if binding_ns is None and binding_conditions(gates):
        binding_ns = _BINDING_TIMEOUT_NS
    return DynamicResourcesArgs(filter_timeout_ns=filter_ns, binding_timeout_ns=binding_ns)


def binding_conditions(gates: FeatureGates) -> bool:
    """Whether DynamicResources waits for devices to become ready before binding."""
    return gates.enabled("DRADeviceBindingConditions") and gates.enabled(
        "DRAResourceClaimDeviceStatus"
    )


def _leader_election(given: LeaderElection) -> LeaderElection:
    return replace(
        given,
        lease_duration_ns=given.lease_duration_ns or 15 * _SECOND_NS,
        renew_deadline_ns=given.renew_deadline_ns or 10 * _SECOND_NS,
        retry_period_ns=given.retry_period_ns or 2 * _SECOND_NS,
        resource_lock=given.resource_lock or "leases",
        resource_name=given.resource_name or "kube-scheduler",
        resource_namespace=given.resource_namespace or "kube-system",
    )


def _client_connection(given: ClientConnection) -> ClientConnection:
    return replace(
        given,
        content_type=given.content_type or "application/vnd.kubernetes.protobuf",
        qps=given.qps or 50.0,
        burst=given.burst or 100,
    )
