"""Another scoring strategy of NodeResourcesFit, and which one a configuration has."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import structs

from scheduler_core.changes.vocabulary import SetScoring
from scheduler_core.config import ConfigError, FeatureGates, KubeSchedulerConfiguration, Problem
from scheduler_core.config.types import (
    NodeResourcesFitArgs,
    PluginConfig,
    Profile,
    RequestedToCapacityRatioParam,
    ScoringStrategy,
    ScoringStrategyType,
    UtilizationShapePoint,
)
from scheduler_core.config.validation_args import args_problems
from scheduler_core.wording import say

PLUGIN: Final = "NodeResourcesFit"


def scored(
    configuration: KubeSchedulerConfiguration, change: SetScoring | None, gates: FeatureGates
) -> KubeSchedulerConfiguration:
    """Return a configuration whose profiles let NodeResourcesFit score by a strategy.

    Raises ConfigError for a strategy that does not pass, and where no profile has the plugin.
    """
    if change is None:
        return configuration
    found = [args for profile in configuration.profiles for args in _args(profile)]
    if not found:
        raise ConfigError(
            [
                Problem(
                    ("scoring",),
                    say("change.plugin_not_enabled", "no profile enables {name}", name=PLUGIN),
                )
            ]
        )
    problems = list(args_problems(("scoring",), _with(found[0], change), gates))
    if problems:
        raise ConfigError(
            [Problem((*each.path[:1], *each.path[2:]), each.message) for each in problems]
        )
    profiles = tuple(_of_profile(profile, change) for profile in configuration.profiles)
    return structs.replace(configuration, profiles=profiles)


def scoring_of(profile: Profile) -> SetScoring | None:
    """Return what gives a profile the strategy it has; None if it lacks the plugin."""
    return next((_as_change(args.scoring_strategy) for args in _args(profile)), None)


def _as_change(strategy: ScoringStrategy) -> SetScoring:
    ratio = strategy.requested_to_capacity_ratio
    shape = () if ratio is None else tuple((p.utilization, p.score) for p in ratio.shape)
    return SetScoring(ScoringStrategyType(strategy.type), shape)


def _args(profile: Profile) -> Iterator[NodeResourcesFitArgs]:
    for each in profile.plugin_config:
        if isinstance(each.args, NodeResourcesFitArgs):
            yield each.args


def _of_profile(profile: Profile, change: SetScoring) -> Profile:
    return structs.replace(
        profile, plugin_config=tuple(_of_plugin(each, change) for each in profile.plugin_config)
    )


def _of_plugin(plugin: PluginConfig, change: SetScoring) -> PluginConfig:
    if not isinstance(plugin.args, NodeResourcesFitArgs):
        return plugin
    return structs.replace(plugin, args=_with(plugin.args, change))


def _with(args: NodeResourcesFitArgs, change: SetScoring) -> NodeResourcesFitArgs:
    old = args.scoring_strategy
    ratio = old.requested_to_capacity_ratio
    if change.shape:
        points = (UtilizationShapePoint(utilization=u, score=s) for u, s in change.shape)
        ratio = RequestedToCapacityRatioParam(shape=tuple(points))
    strategy = structs.replace(old, type=change.strategy, requested_to_capacity_ratio=ratio)
    return structs.replace(args, scoring_strategy=strategy)
