"""Resolving a profile: which plugin runs at which extension point, in which order and weight.

Precedence at a point: what its own set enables, then what `multiPoint` enables. A plugin that both
name is configured by the point's set but keeps its place before the plugins of `multiPoint`.

Upstream: v1.36 pkg/scheduler/framework/runtime/framework.go NewFramework, profile/profile.go,
scheduler.go buildExtenders.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from scheduler_core.config.old_names import with_hint
from scheduler_core.config.problems import ByName, ConfigError, Path, Problem
from scheduler_core.config.types import (
    Args,
    ExtensionPoint,
    KubeSchedulerConfiguration,
    NodeResourcesFitArgs,
    Plugin,
    Plugins,
    PluginSet,
    Profile,
)

Implements: TypeAlias = Mapping[str, frozenset[ExtensionPoint]]
"""Every plugin there is, by name, with the points it implements."""

MAX_SCORE: Final = 100
"""Largest score of one plugin before its weight."""
MAX_TOTAL_SCORE: Final = 2**63 - 1


class PluginRef(NamedTuple):
    """A plugin at an extension point. `weight` is 0 everywhere but at Score."""

    name: str
    weight: int


class ResolvedProfile(Struct, frozen=True, kw_only=True):
    """A profile ready to run.

    `points` has an entry for every extension point. `plugin_names` are the plugins the profile
    creates, in the order of the configuration: also those every point disables, because their
    cluster events are registered all the same. `args` holds the arguments of these plugins.
    `percentage_of_nodes_to_score` 0 means adaptive.
    """

    scheduler_name: str
    points: Mapping[ExtensionPoint, tuple[PluginRef, ...]]
    plugin_names: tuple[str, ...]
    args: Mapping[str, Args]
    percentage_of_nodes_to_score: int


def resolve_profiles(
    configuration: KubeSchedulerConfiguration, implements: Implements
) -> dict[str, ResolvedProfile]:
    """All profiles by scheduler name, in the order of the file.

    Raises ConfigError with the problems of every profile: a plugin that does not exist, does not
    implement the point it is enabled at or is enabled there twice, weights that could overflow the
    total score, no or several queue sort plugins, no bind plugin, different queue sorts.
    """
    problems: list[Problem] = []
    resolved: dict[str, ResolvedProfile] = {}
    for index, profile in enumerate(_with_ignored_resources(configuration)):
        try:
            each = resolve_profile(
                profile,
                implements,
                percentage_of_nodes_to_score=configuration.percentage_of_nodes_to_score,
                path=("profiles", index),
            )
        except ConfigError as error:
            problems.extend(error.problems)
        else:
            problems.extend(_queue_sort_differences(resolved, each, index))
            resolved[each.scheduler_name] = each
    if problems:
        raise ConfigError(problems)
    return resolved


def resolve_profile(
    profile: Profile,
    implements: Implements,
    *,
    percentage_of_nodes_to_score: int = 0,
    path: Path = (),
) -> ResolvedProfile:
    """One profile's plugins. The percentage is the one for a profile that sets none.

    `path` is where the profile stands, for problems. Raises ConfigError, see `resolve_profiles`.
    """
    plugins = profile.plugins
    path = (*path, "plugins")
    problems = list(_unknown_plugins(plugins, implements, path))
    problems.extend(_multi_point_problems(plugins, implements, path))
    points: dict[ExtensionPoint, tuple[PluginRef, ...]] = {}
    weights = _score_weights(plugins, implements)
    for point, plugin_set in plugins.by_point().items():
        problems.extend(_set_problems(point, plugin_set, implements, path))
        points[point] = tuple(
            PluginRef(name, weights.get(name, 0) if point is ExtensionPoint.SCORE else 0)
            for name in _names_at(point, plugins, implements)
        )
    if not problems:
        problems.extend(_completeness_problems(profile.scheduler_name, points, path))
        problems.extend(_overflow_problems(weights, path))
    if problems:
        raise ConfigError(problems)
    own = profile.percentage_of_nodes_to_score
    names = _created_names(plugins)
    args = {config.name: config.args for config in profile.plugin_config}
    return ResolvedProfile(
        scheduler_name=profile.scheduler_name,
        points=points,
        plugin_names=names,
        args={name: args[name] for name in names if name in args},
        percentage_of_nodes_to_score=percentage_of_nodes_to_score if own is None else own,
    )


def _names_at(point: ExtensionPoint, plugins: Plugins, implements: Implements) -> list[str]:
    """The point's plugins in running order."""
    plugin_set = plugins.by_point()[point]
    own = [plugin.name for plugin in plugin_set.enabled]
    if any(plugin.name == "*" for plugin in plugin_set.disabled):
        return own
    expanded = [plugin.name for plugin in _expanded(point, plugins, implements)]
    overriding = [name for name in own if name in expanded]
    added = [name for name in expanded if name not in own]
    return [*overriding, *added, *(name for name in own if name not in expanded)]


def _expanded(point: ExtensionPoint, plugins: Plugins, implements: Implements) -> list[Plugin]:
    """What `multiPoint` contributes to a point that does not disable everything."""
    disabled = {plugin.name for plugin in plugins.by_point()[point].disabled}
    return [
        plugin
        for plugin in plugins.multi_point.enabled
        if plugin.name not in disabled and point in implements.get(plugin.name, ())
    ]


def _score_weights(plugins: Plugins, implements: Implements) -> dict[str, int]:
    """The weight of every plugin that can score; the Score set goes before `multiPoint`."""
    weights: dict[str, int] = {}
    for plugin in (*plugins.score.enabled, *plugins.multi_point.enabled):
        if ExtensionPoint.SCORE in implements.get(plugin.name, ()):
            weights.setdefault(plugin.name, plugin.weight or 1)
    return weights


def _created_names(plugins: Plugins) -> tuple[str, ...]:
    """Every enabled plugin once, those of `multiPoint` first. Upstream's order is a map's."""
    sets = (plugins.multi_point, *plugins.by_point().values())
    return tuple(dict.fromkeys(plugin.name for each in sets for plugin in each.enabled))


def _unknown_plugins(plugins: Plugins, implements: Implements, path: Path) -> Iterator[Problem]:
    sets = {point.value: each for point, each in plugins.by_point().items()}
    sets["PlacementGenerate"] = plugins.placement_generate
    sets["PlacementScore"] = plugins.placement_score
    sets["PodGroupPostFilter"] = plugins.pod_group_post_filter
    for kind, plugin_set in sets.items():
        for index, plugin in enumerate(plugin_set.enabled):
            if plugin.name not in implements:
                here = (*path, kind[0].lower() + kind[1:], "enabled", index)
                refused = f'{kind}Plugin "{plugin.name}" does not exist'
                yield Problem(here, with_hint(refused, plugin.name))
    for plugin in plugins.multi_point.enabled:
        if plugin.name not in implements:
            # The default plugins stand before the file's, so an index would mislead.
            here = (*path, "multiPoint", "enabled", ByName(plugin.name))
            refused = f'Plugin "{plugin.name}" does not exist'
            yield Problem(here, with_hint(refused, plugin.name))


def _set_problems(
    point: ExtensionPoint, plugin_set: PluginSet, implements: Implements, path: Path
) -> Iterator[Problem]:
    """What is wrong with the plugins a point enables itself."""
    seen: set[str] = set()
    for index, plugin in enumerate(plugin_set.enabled):
        name = plugin.name
        here = (*path, point.config_field, "enabled", index)
        if name in implements and point not in implements[name]:
            yield Problem(here, f'plugin "{name}" does not extend {point}Plugin plugin')
        if name in seen:
            yield Problem(here, f'plugin "{name}" already registered as "{point}Plugin"')
        seen.add(name)


def _multi_point_problems(
    plugins: Plugins, implements: Implements, path: Path
) -> Iterator[Problem]:
    """Plugins that `multiPoint` enables twice, unless every point is set otherwise."""
    names = [plugin.name for plugin in plugins.multi_point.enabled]
    for name in dict.fromkeys(name for name in names if names.count(name) > 1):
        for point, plugin_set in plugins.by_point().items():
            own = (plugin.name for plugin in (*plugin_set.enabled, *plugin_set.disabled))
            if point in implements.get(name, ()) and not {name, "*"}.intersection(own):
                here = (*path, "multiPoint", "enabled", ByName(name))
                yield Problem(here, f'plugin "{name}" already registered as "{point}Plugin"')
                break


def _completeness_problems(
    scheduler_name: str, points: Mapping[ExtensionPoint, tuple[PluginRef, ...]], path: Path
) -> Iterator[Problem]:
    of_profile = f'profile with scheduler name "{scheduler_name}"'
    sorts = len(points[ExtensionPoint.QUEUE_SORT])
    if sorts != 1:
        message = f"only one queue sort plugin required for {of_profile}, but got {sorts}"
        yield Problem((*path, "queueSort"), message)
    if not points[ExtensionPoint.BIND]:
        yield Problem((*path, "bind"), f"at least one bind plugin is needed for {of_profile}")


def _overflow_problems(weights: Mapping[str, int], path: Path) -> Iterator[Problem]:
    total = 0
    for name, weight in weights.items():
        # A negative sum makes upstream's own check overflow, and so refuse whatever follows.
        if total < 0 or weight * MAX_SCORE > MAX_TOTAL_SCORE - total:
            here = (*path, "score", "enabled", ByName(name))
            yield Problem(here, "score plugins: total score of Score plugins could overflow")
            return
        total += weight * MAX_SCORE


def _queue_sort_differences(
    earlier: Mapping[str, ResolvedProfile], profile: ResolvedProfile, index: int
) -> Iterator[Problem]:
    first = next(iter(earlier.values()), None)
    if first is None:
        return
    mine, theirs = _queue_sort(profile), _queue_sort(first)
    name = profile.scheduler_name
    if mine != theirs:
        message = f'different queue sort plugins for profile "{name}": "{mine}", first: "{theirs}"'
        yield Problem(("profiles", index, "plugins", "queueSort"), message)
    elif profile.args.get(mine) != first.args.get(mine):
        here = ("profiles", index, "pluginConfig", ByName(mine))
        yield Problem(here, f'different queue sort plugin args for profile "{name}"')


def _queue_sort(profile: ResolvedProfile) -> str:
    return profile.points[ExtensionPoint.QUEUE_SORT][0].name


def _ignored_by_scheduler(configuration: KubeSchedulerConfiguration) -> tuple[str, ...]:
    """The extended resources that extenders look after instead of NodeResourcesFit."""
    return tuple(
        resource.name
        for extender in configuration.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    )


def _with_ignored_resources(configuration: KubeSchedulerConfiguration) -> tuple[Profile, ...]:
    """The profiles after the extenders have had their say about NodeResourcesFit.

    They replace `ignoredResources`, they do not add to it. Raises ConfigError where there are no
    arguments to change.
    """
    ignored = _ignored_by_scheduler(configuration)
    if not ignored:
        return configuration.profiles
    missing = [
        Problem(("profiles", index), "can't find NodeResourcesFitArgs in plugin config")
        for index, profile in enumerate(configuration.profiles)
        if not any(isinstance(each.args, NodeResourcesFitArgs) for each in profile.plugin_config)
    ]
    if missing:
        raise ConfigError(missing)
    return tuple(
        replace(
            profile,
            plugin_config=tuple(
                replace(each, args=replace(each.args, ignored_resources=ignored))
                if isinstance(each.args, NodeResourcesFitArgs)
                else each
                for each in profile.plugin_config
            ),
        )
        for profile in configuration.profiles
    )
