"""What a configuration comes to, profile by profile: the form beside its YAML shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from django.conf import settings

from kviz.out_of_tree import load_plugins
from kviz.runs.inputs import configuration_of
from scheduler_core.config import FeatureGates
from scheduler_core.config.profile import Implements, ResolvedProfile, resolve_profiles
from scheduler_core.config.types import (
    ExtensionPoint,
    NodeResourcesFitArgs,
    PodTopologySpreadArgs,
)


@dataclass(frozen=True)
class PluginOfProfile:
    """A plugin: the points that it has, those at which the profile runs it, its weight at Score.

    `weight` is None where Score does not run it.
    """

    name: str
    implements: tuple[ExtensionPoint, ...]
    points: tuple[ExtensionPoint, ...]
    weight: int | None


@dataclass(frozen=True)
class ProfileRow:
    """A profile as it runs. `percentage_of_nodes_to_score` 0 is adaptive."""

    scheduler_name: str
    percentage_of_nodes_to_score: int
    scoring_strategy: str
    default_spreading: str
    plugins: tuple[PluginOfProfile, ...]


def profiles_of(*, scheduler_config: str, gates: FeatureGates) -> list[ProfileRow]:
    """Return the profiles of a configuration that the engine accepts, in the order of the file."""
    configuration = configuration_of(scheduler_config, gates)
    implements = load_plugins(configuration, settings.ALLOWED_PLUGINS).registry.implements()
    return [_row(each, implements) for each in resolve_profiles(configuration, implements).values()]


def _row(profile: ResolvedProfile, implements: Implements) -> ProfileRow:
    fit = profile.args.get("NodeResourcesFit")
    spread = profile.args.get("PodTopologySpread")
    return ProfileRow(
        scheduler_name=profile.scheduler_name,
        percentage_of_nodes_to_score=profile.percentage_of_nodes_to_score,
        scoring_strategy=(
            fit.scoring_strategy.type if isinstance(fit, NodeResourcesFitArgs) else ""
        ),
        default_spreading=(
            spread.defaulting_type if isinstance(spread, PodTopologySpreadArgs) else ""
        ),
        plugins=tuple(_plugins(profile, implements)),
    )


def _plugins(profile: ResolvedProfile, implements: Implements) -> Iterator[PluginOfProfile]:
    """Yield the profile's plugins in its order, then those that it does not have, by name."""
    weights = {ref.name: ref.weight for ref in profile.points[ExtensionPoint.SCORE]}
    runs = {point: {ref.name for ref in refs} for point, refs in profile.points.items()}
    for name in dict.fromkeys([*profile.plugin_names, *sorted(implements)]):
        yield PluginOfProfile(
            name=name,
            implements=tuple(point for point in ExtensionPoint if point in implements[name]),
            points=tuple(point for point in ExtensionPoint if name in runs[point]),
            weight=weights.get(name),
        )
