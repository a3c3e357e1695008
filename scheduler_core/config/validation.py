"""Validation of a configuration after defaults, with upstream's rules and words.

Upstream: v1.36 pkg/scheduler/apis/config/validation/validation.go and
staging/src/k8s.io/component-base/config/validation.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from scheduler_core.api.labels import label_key_problems
from scheduler_core.config.duration import format_duration
from scheduler_core.config.features import FeatureGates
from scheduler_core.config.problems import ByName, Path, Problem, duplicate, invalid, required
from scheduler_core.config.types import (
    API_VERSION,
    Args,
    ExtenderManagedResource,
    ExtenderTLSConfig,
    KubeSchedulerConfiguration,
    LeaderElection,
    NodeResourcesFitArgs,
    PluginSet,
    Profile,
)
from scheduler_core.config.validation_args import args_problems

_REMOVED_PLUGINS: Final = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
_REMOVED: Final = (
    f'was invalid in version "v1" (KubeSchedulerConfiguration is version "{API_VERSION}")'
)
_REQUESTS_PREFIX: Final = "requests."
_NATIVE_PREFIX: Final = "kubernetes.io/"


def validate(configuration: KubeSchedulerConfiguration, gates: FeatureGates) -> list[Problem]:
    """Everything that is wrong with the values of a configuration, nothing when it is valid."""
    return [
        *_client_connection_problems(configuration),
        *_leader_election_problems(configuration.leader_election),
        *_positive(("parallelism",), configuration.parallelism),
        *_profiles_problems(configuration.profiles, gates),
        *_percentage_problems(
            ("percentageOfNodesToScore",), configuration.percentage_of_nodes_to_score
        ),
        *_backoff_problems(configuration),
        *_extenders_problems(configuration),
    ]


def _client_connection_problems(configuration: KubeSchedulerConfiguration) -> Iterator[Problem]:
    burst = configuration.client_connection.burst
    if burst < 0:
        yield invalid(("clientConnection", "burst"), burst, "must be non-negative")


def _leader_election_problems(given: LeaderElection) -> Iterator[Problem]:
    if not given.leader_elect:
        return
    for field, duration_ns in (
        ("leaseDuration", given.lease_duration_ns),
        ("renewDeadline", given.renew_deadline_ns),
        ("retryPeriod", given.retry_period_ns),
    ):
        if duration_ns <= 0:
            shown = format_duration(duration_ns)
            yield invalid(("leaderElection", field), shown, "must be greater than zero")
    if given.lease_duration_ns <= given.renew_deadline_ns:
        shown = format_duration(given.renew_deadline_ns)
        detail = "must be greater than `RenewDeadline`"
        yield invalid(("leaderElection", "leaseDuration"), shown, detail)
    if given.resource_lock != "leases":
        detail = 'resourceLock value must be "leases"'
        yield invalid(("leaderElection", "resourceLock"), given.resource_lock, detail)


def _positive(path: Path, value: int) -> Iterator[Problem]:
    if value <= 0:
        yield invalid(path, value, "should be an integer value greater than zero")


def _percentage_problems(path: Path, value: int | None) -> Iterator[Problem]:
    if value is not None and not 0 <= value <= 100:
        yield invalid(path, value, "not in valid range [0-100]")


def _backoff_problems(configuration: KubeSchedulerConfiguration) -> Iterator[Problem]:
    initial = configuration.pod_initial_backoff_seconds
    longest = configuration.pod_max_backoff_seconds
    if initial <= 0:
        yield invalid(("podInitialBackoffSeconds",), initial, "must be greater than 0")
    if longest < initial:
        detail = "must be greater than or equal to PodInitialBackoffSeconds"
        yield invalid(("podMaxBackoffSeconds",), longest, detail)


def _profiles_problems(profiles: Sequence[Profile], gates: FeatureGates) -> Iterator[Problem]:
    last_of_name: dict[str, int] = {}
    for index, profile in enumerate(profiles):
        path: Path = ("profiles", index)
        name = profile.scheduler_name
        if not name:
            yield required((*path, "schedulerName"))
        percentage = profile.percentage_of_nodes_to_score
        yield from _percentage_problems((*path, "percentageOfNodesToScore"), percentage)
        yield from _plugin_problems(path, profile, gates)
        if name in last_of_name:
            other = f"profiles[{last_of_name[name]}].schedulerName"
            yield duplicate((*path, "schedulerName"), other)
        last_of_name[name] = index
    yield from _queue_sort_problems(profiles)


def _plugin_problems(path: Path, profile: Profile, gates: FeatureGates) -> Iterator[Problem]:
    for point, plugin_set in profile.plugins.by_point().items():
        for place, plugin in enumerate(plugin_set.enabled):
            if plugin.name in _REMOVED_PLUGINS:
                here = (*path, "plugins", point.config_field, "enabled", place)
                yield invalid(here, plugin.name, _REMOVED)
    # Upstream looks at the arguments of NodeResourcesFit only when it creates the plugin.
    created = profile.plugins.enabled_names()
    seen: set[str] = set()
    for index, config in enumerate(profile.plugin_config):
        here = (*path, "pluginConfig", index)
        if config.name in seen:
            yield duplicate(here, config.name)
        seen.add(config.name)
        if config.name in _REMOVED_PLUGINS:
            yield invalid(here, config.name, _REMOVED)
        elif not isinstance(config.args, NodeResourcesFitArgs) or config.name in created:
            yield from args_problems((*here, "args"), config.args, gates)


def _queue_sort_problems(profiles: Sequence[Profile]) -> Iterator[Problem]:
    """All profiles feed one queue, so they have to sort it in one way."""
    canon = profiles[0].plugins.queue_sort
    path: Path = ("profiles", 0, "plugins", "queueSort")
    if len(canon.enabled) > 1:
        detail = "only one queue sort plugin can be enabled"
        yield invalid((*path, "enabled"), len(canon.enabled), detail)
    name = canon.enabled[0].name if canon.enabled else ""
    for index, profile in enumerate(profiles[1:], start=1):
        current = profile.plugins.queue_sort
        if current != canon:
            path = ("profiles", index, "plugins", "queueSort")
            yield invalid(path, _names(current), "must be the same for all profiles")
        if name and _args_of(profile, name) != _args_of(profiles[0], name):
            path = ("profiles", index, "pluginConfig", ByName(name), "args")
            yield invalid(path, name, "queueSort must be the same for all profiles")


def _names(plugin_set: PluginSet) -> dict[str, list[str]]:
    return {
        "enabled": [plugin.name for plugin in plugin_set.enabled],
        "disabled": [plugin.name for plugin in plugin_set.disabled],
    }


def _args_of(profile: Profile, name: str) -> Args | None:
    return next((config.args for config in profile.plugin_config if config.name == name), None)


def _extenders_problems(configuration: KubeSchedulerConfiguration) -> Iterator[Problem]:
    managed: set[str] = set()
    for index, extender in enumerate(configuration.extenders):
        path: Path = ("extenders", index)
        if extender.prioritize_verb and extender.weight <= 0:
            detail = "must have a positive weight applied to it"
            yield invalid((*path, "weight"), extender.weight, detail)
        if extender.tls_config is not None:
            yield from _tls_problems((*path, "tlsConfig"), extender.tls_config)
        for place, resource in enumerate(extender.managed_resources):
            here = (*path, "managedResources", place, "name")
            yield from _managed_resource_problems(here, resource)
            if resource.name in managed:
                yield invalid(here, resource.name, "duplicate extender managed resource name")
            managed.add(resource.name)
    binders = sum(1 for extender in configuration.extenders if extender.bind_verb)
    if binders > 1:
        found = f"found {binders} extenders implementing bind"
        yield invalid(("extenders",), found, "only one extender can implement bind")


def _tls_problems(path: Path, tls: ExtenderTLSConfig) -> Iterator[Problem]:
    """What stops kube-scheduler when it opens the connection's transport."""
    if tls.insecure and (tls.ca_file or tls.ca_data):
        detail = "specifying a root certificates file with the insecure flag is not allowed"
        yield invalid((*path, "insecure"), True, detail)


def _managed_resource_problems(path: Path, resource: ExtenderManagedResource) -> Iterator[Problem]:
    """Upstream: v1.36 pkg/apis/core/v1/helper IsExtendedResourceName."""
    name = resource.name
    malformed = label_key_problems(name)
    for message in malformed:
        yield invalid(path, name, message)
    native = "/" not in name or _NATIVE_PREFIX in name
    reserved = name.startswith(_REQUESTS_PREFIX) or label_key_problems(_REQUESTS_PREFIX + name)
    if not malformed and (native or reserved):
        yield invalid(path, name, "is an invalid extended resource name")
