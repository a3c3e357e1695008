"""What the engine knows of its plugins, as a run announces it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final

import msgspec

from kviz.out_of_tree import load_plugins
from scheduler_core.config import FeatureGates, load_configuration
from scheduler_core.config.types import ARGS_TYPES
from scheduler_core.registry import Registry
from scheduler_core.releases import LATEST, RELEASES
from scheduler_core.sim import RunOptions, simulate
from scheduler_core.teaching import TEACHING_PLUGINS
from scheduler_core.teaching.gang import DEFAULT_TIMEOUT_SECONDS, TIMEOUT_ARGUMENT, TeachingGang
from scheduler_core.trace.events import RunStarted

NORMALIZE_SCORE: Final = "NormalizeScore"
_ENABLED: Final = ", ".join(f"{{name: {name}}}" for name in TEACHING_PLUGINS)
_CONFIGURATION: Final = f"""\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {{multiPoint: {{enabled: [{_ENABLED}]}}}}
"""
"""The default profile, and behind its plugins kviz's own."""


@dataclass(frozen=True)
class PluginFacts:
    """`points` in upstream's order; `weight` is that of Score, 0 for a plugin that does not score.

    `wakes` are labels of the events it registers for, `defaults` its arguments in short.
    """

    points: tuple[str, ...]
    weight: int
    wakes: tuple[str, ...]
    defaults: Mapping[str, str]


@cache
def plugin_facts(release: str = LATEST.name) -> Mapping[str, PluginFacts]:
    """Return the plugins of a release: of the default profile in its order, then kviz's own."""
    gates = FeatureGates((), RELEASES[release])
    configuration = load_configuration(_CONFIGURATION, gates)
    registry = load_plugins(configuration, allowed=()).registry
    options = RunOptions(configuration=configuration, features=gates, registry=registry)
    started = next(iter(simulate([], options)))
    assert isinstance(started, RunStarted)
    return {name: _facts(started, number, registry) for number, name in enumerate(started.plugins)}


def _facts(started: RunStarted, number: int, registry: Registry) -> PluginFacts:
    name, profile = started.plugins[number], started.profiles[0]
    points: list[str] = []
    weight = 0
    for each in profile.points:
        if number in each.plugins:
            points.append(each.point)
            if each.weights:
                weight = each.weights[each.plugins.index(number)]
                points += [NORMALIZE_SCORE] if registry.normalizes(name) else []
    wakes = [label for each in profile.wakes if each.plugin == number for label in each.events]
    return PluginFacts(tuple(points), weight, tuple(wakes), dict(_defaults(name)))


def _defaults(name: str) -> Iterator[tuple[str, str]]:
    """Yield the arguments that a plugin has where a configuration gives it none."""
    if name == TeachingGang.name:
        yield TIMEOUT_ARGUMENT, str(DEFAULT_TIMEOUT_SECONDS)
    if name in ARGS_TYPES:
        for argument, value in msgspec.to_builtins(ARGS_TYPES[name]()).items():
            yield argument, _short(value)


def _short(value: object) -> str:
    """A list of resources is their names."""
    if isinstance(value, list | tuple):
        return ", ".join(str(each["name"]) for each in value if isinstance(each, dict))
    return str(value)
