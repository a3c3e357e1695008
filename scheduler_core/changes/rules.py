"""The rules by which a run schedules, and changes of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import msgspec

from scheduler_core.changes.scoring import scored, scoring_of
from scheduler_core.changes.vocabulary import (
    Change,
    RuleChange,
    SetQueueOrder,
    SetScoring,
    SetSeed,
    SetWeight,
    SwitchGate,
    UseConfiguration,
)
from scheduler_core.config import (
    ConfigError,
    FeatureGates,
    KubeSchedulerConfiguration,
    Problem,
    default_configuration,
    feature_gates,
    load_configuration,
)
from scheduler_core.config.types import ExtensionPoint, Plugin, PluginSet, Profile
from scheduler_core.registry import in_tree_registry
from scheduler_core.releases import UNNAMED
from scheduler_core.releases.table import Release
from scheduler_core.trace.records import QueueOrder
from scheduler_core.wording import say, series


@dataclass(frozen=True)
class Rules:
    """What besides the objects decides a run, the part that changes can change.

    `configuration` is a KubeSchedulerConfiguration as text, empty for the default one; `weights`
    and `scoring` go before what it says. `gates` are those that are switched, of `release`.
    """

    configuration: str = ""
    gates: Mapping[str, bool] = field(default_factory=dict)
    release: Release = UNNAMED
    weights: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    queue_order: QueueOrder = "listed"
    scoring: SetScoring | None = None

    def features(self) -> FeatureGates:
        """Return the gates. Raises ConfigError."""
        return feature_gates(self.gates, self.release)

    def load(self) -> KubeSchedulerConfiguration:
        """Read the configuration, with weights and scoring strategy. Raises ConfigError."""
        return self.changed(self._written())

    def changed(self, configuration: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
        """Return what was read with the weights and the scoring strategy. Raises ConfigError."""
        return weighted(scored(configuration, self.scoring, self.features()), self.weights)

    def _written(self) -> KubeSchedulerConfiguration:
        gates = self.features()
        if not self.configuration.strip():
            return default_configuration(gates)
        return load_configuration(self.configuration, gates)

    def weight_of(self, plugin: str) -> int | None:
        """Return a plugin's weight in the first profile that has it. None if nobody knows."""
        try:
            profiles = self.load().profiles
        except ConfigError:
            return None
        return next((w for each in profiles if (w := _weight_in(each, plugin))), None)

    def scoring_now(self) -> SetScoring | None:
        """Return the scoring strategy of the first profile that has one. None if nobody knows."""
        try:
            profiles = self.load().profiles
        except ConfigError:
            return None
        return next((found for each in profiles if (found := scoring_of(each))), None)

    def gate(self, name: str) -> bool | None:
        """Return whether a gate is on, None if the release has none of that name."""
        known = self.release.gates.get(name)
        return None if known is None else self.gates.get(name, known.default)


def changed_rules(rules: Rules, changes: Iterable[Change]) -> Rules:
    """Return the rules with those changes that are about rules, the later one before the earlier.

    Another configuration has its own weights and scoring strategy. What comes of it is checked by
    `load`.
    """
    for change in changes:
        match change:
            case UseConfiguration(text):
                rules = replace(rules, configuration=text, weights={}, scoring=None)
            case SetWeight(plugin, weight):
                rules = replace(rules, weights={**rules.weights, plugin: weight})
            case SetScoring():
                rules = replace(rules, scoring=change)
            case SwitchGate(gate, enabled):
                rules = replace(rules, gates={**rules.gates, gate: enabled})
            case SetSeed(seed):
                rules = replace(rules, seed=seed)
            case SetQueueOrder(order):
                rules = replace(rules, queue_order=order)
            case _:
                pass
    return rules


def undone_rule(change: RuleChange, rules: Rules) -> tuple[RuleChange, ...]:
    """Return what takes a change of the rules back. Raises ConfigError for rules that are bad."""
    match change:
        case UseConfiguration():
            weights = (SetWeight(name, weight) for name, weight in rules.weights.items())
            scoring = () if rules.scoring is None else (rules.scoring,)
            return (UseConfiguration(rules.configuration), *weights, *scoring)
        case SetWeight(plugin, _):
            weight = rules.weight_of(plugin)
            return () if weight is None else (SetWeight(plugin, weight),)
        case SetScoring():
            before = rules.scoring_now()
            return () if before is None else (before,)
        case SwitchGate(gate, _):
            enabled = rules.gate(gate)
            return () if enabled is None else (SwitchGate(gate, enabled),)
        case SetSeed():
            return (SetSeed(rules.seed),)
        case SetQueueOrder():
            return (SetQueueOrder(rules.queue_order),)


# ---------------------------------------------------------------- weights


def weighted(
    configuration: KubeSchedulerConfiguration, weights: Mapping[str, int]
) -> KubeSchedulerConfiguration:
    """Return a configuration with other weights, in every profile that enables the plugin.

    Raises ConfigError for a plugin that no profile enables.
    """
    known = weights_of(configuration)
    problems = [
        Problem(
            ("weight", name),
            say(
                "change.plugin_not_scoring",
                "no profile scores with {name}; enabled are {names}",
                name=name,
                names=series(sorted(known)),
            ),
        )
        for name in weights
        if name not in known
    ]
    if problems:
        raise ConfigError(problems)
    if not weights:
        return configuration
    profiles = tuple(_with_weights(profile, weights) for profile in configuration.profiles)
    return msgspec.structs.replace(configuration, profiles=profiles)


def weights_of(configuration: KubeSchedulerConfiguration) -> dict[str, int]:
    """Return the weights of the plugins that score, each in the first profile that has it."""
    implements = in_tree_registry().implements()
    found: dict[str, int] = {}
    for profile in configuration.profiles:
        for each in _scoring(profile):
            for plugin in each.enabled:
                if ExtensionPoint.SCORE in implements.get(plugin.name, (ExtensionPoint.SCORE,)):
                    found.setdefault(plugin.name, plugin.weight or 1)
    return found


def _scoring(profile: Profile) -> tuple[PluginSet, PluginSet]:
    """Return the sets that say what scores, the one that goes before the other first."""
    return profile.plugins.score, profile.plugins.multi_point


def _weight_in(profile: Profile, name: str) -> int:
    """Return a plugin's weight, 0 if the profile does not enable it."""
    for each in _scoring(profile):
        for plugin in each.enabled:
            if plugin.name == name:
                return plugin.weight or 1
    return 0


def _with_weights(profile: Profile, weights: Mapping[str, int]) -> Profile:
    score, multi_point = (_weighted_set(each, weights) for each in _scoring(profile))
    plugins = msgspec.structs.replace(profile.plugins, score=score, multi_point=multi_point)
    return msgspec.structs.replace(profile, plugins=plugins)


def _weighted_set(plugins: PluginSet, weights: Mapping[str, int]) -> PluginSet:
    enabled = tuple(
        Plugin(name=each.name, weight=weights.get(each.name, each.weight))
        for each in plugins.enabled
    )
    return msgspec.structs.replace(plugins, enabled=enabled)
