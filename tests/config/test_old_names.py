"""Names of earlier releases in a configuration."""

from __future__ import annotations

import pytest

from scheduler_core.config import ConfigError, feature_gates, load_configuration, resolve_profiles
from scheduler_core.config.old_names import OLD_NAMES
from scheduler_core.config.old_settings import OLD_FIELDS, OLD_GATES, OLD_VERSIONS
from scheduler_core.releases import UNNAMED
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


POLICY = """
apiVersion: v1
kind: Policy
predicates:
- name: PodFitsHostPorts
- name: Mine
priorities:
- {name: ImageLocalityPriority, weight: 2}
"""


def problems_of(text: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        load_configuration(text, feature_gates({}))
    return [str(problem) for problem in caught.value.problems]


def test_a_policy_file_is_told_what_became_of_it_and_of_its_names() -> None:
    refused, ports, images = problems_of(POLICY)
    assert "Policies became profiles" in refused
    assert ports == ('line 5: predicates[0].name: "PodFitsHostPorts": NodePorts does this now')
    assert images.endswith(
        'priorities[0].name: "ImageLocalityPriority": ImageLocality does this now'
    )


@pytest.mark.parametrize("name", OLD_FIELDS)
def test_a_field_of_an_earlier_release_is_told_what_to_set_today(name: str) -> None:
    header = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    [problem] = problems_of(f"{header}{name}: 1\n")
    assert problem == f'line 3: {name}: unknown field "{name}". {OLD_FIELDS[name].now}'


@pytest.mark.parametrize("version", OLD_VERSIONS)
def test_an_earlier_version_is_told_which_releases_read_it(version: str) -> None:
    [problem] = problems_of(f"apiVersion: {version}\nkind: KubeSchedulerConfiguration\n")
    assert f"Releases {OLD_VERSIONS[version]} read that" in problem


def test_a_gate_that_is_gone_is_told_what_became_of_it() -> None:
    with pytest.raises(ConfigError) as caught:
        feature_gates({"EvenPodsSpread": True})
    [problem] = caught.value.problems
    assert problem.message.endswith("It is always on now: PodTopologySpread")


def test_no_gate_of_today_has_gone() -> None:
    assert not OLD_GATES.keys() & {*UNNAMED.gates, *UNNAMED.elsewhere}
    assert {plugin for old in OLD_GATES.values() for plugin in old.plugins} <= IN_TREE.keys()


def test_no_plugin_of_today_has_an_old_name() -> None:
    assert not OLD_NAMES.keys() & IN_TREE.keys()
    assert {now for old in OLD_NAMES.values() for now in old.now} <= IN_TREE.keys()
