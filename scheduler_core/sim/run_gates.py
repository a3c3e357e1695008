"""The feature gates of a run: those requested at its start, and those of its scenario."""

from __future__ import annotations

from collections.abc import Mapping

from scheduler_core.config.features import FeatureGates, feature_gates
from scheduler_core.config.problems import ConfigError
from scheduler_core.releases import UNNAMED
from scheduler_core.releases.table import Release
from scheduler_core.sim.scenario import Scenario, ScenarioError


def gates_of_run(
    asked: Mapping[str, bool], scenario: Scenario, release: Release = UNNAMED
) -> FeatureGates:
    """Return the gates of a run; what is `asked` for goes before the scenario's `featureGates`.

    The run's configuration must be loaded with them. Raises ConfigError for what is requested,
    and ScenarioError if only the scenario is at fault.
    """
    try:
        return feature_gates({**scenario.feature_gates, **asked}, release)
    except ConfigError as error:
        problems = error.problems
    by_scenario = set(scenario.feature_gates) - set(asked)
    of_asked = [each for each in problems if each.path[-1] not in by_scenario]
    if asked and of_asked:
        raise ConfigError(of_asked)
    raise ScenarioError(problems)
