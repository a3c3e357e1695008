"""Names of earlier releases in a configuration."""

from __future__ import annotations

import pytest

from scheduler_core.config import ConfigError, feature_gates, load_configuration, resolve_profiles
from scheduler_core.config.old_names import OLD_NAMES
from tests.config.in_tree import IN_TREE

GONE = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    score: {enabled: [{name: SelectorSpread}]}
    multiPoint: {enabled: [{name: NodeLabel}, {name: LeastRequestedPriority}]}
"""


def test_a_configuration_is_told_what_does_a_plugins_work_today() -> None:
    configuration = load_configuration(GONE, feature_gates({}))
    with pytest.raises(ConfigError) as caught:
        resolve_profiles(configuration, IN_TREE)
    spread, label, least = [problem.message for problem in caught.value.problems]
    assert spread == (
        'ScorePlugin "SelectorSpread" does not exist: PodTopologySpread does this now. '
        "Its system defaults spread the pods of services and owners."
    )
    assert label.startswith('Plugin "NodeLabel" does not exist: It is gone; ')
    assert least.endswith(
        "NodeResourcesFit does this now. It is the scoring strategy LeastAllocated there."
    )


def test_a_policy_file_is_told_what_became_of_it() -> None:
    with pytest.raises(ConfigError, match="Policies became profiles"):
        load_configuration("apiVersion: v1\nkind: Policy\n", feature_gates({}))


def test_no_plugin_of_today_has_an_old_name() -> None:
    assert not OLD_NAMES.keys() & IN_TREE.keys()
    assert {now for old in OLD_NAMES.values() for now in old.now} <= IN_TREE.keys()
