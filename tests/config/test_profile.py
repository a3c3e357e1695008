"""Which plugins a profile runs, in which order and with which weights."""

import pytest

from scheduler_core.config import (
    ConfigError,
    ExtensionPoint,
    Plugin,
    PluginSet,
    default_configuration,
    load_configuration,
    located,
    resolve_profile,
    resolve_profiles,
)
from scheduler_core.config.profile import ResolvedProfile
from scheduler_core.config.types import NodeResourcesFitArgs, UnknownArgs
from tests.config.in_tree import HEADER, IN_TREE, ZOO, plugin_set, points, profile
from tests.tables import rows


def shown(resolved: ResolvedProfile) -> dict[str, str]:
    """The points that run something, as `"A B:5"`; a weight of 0 is left out."""
    return {
        point.value: " ".join(f"{r.name}:{r.weight}" if r.weight else r.name for r in refs)
        for point, refs in resolved.points.items()
        if refs
    }


def as_sets(texts: dict[str, str]) -> dict[str, PluginSet]:
    return {name: plugin_set(text) for name, text in texts.items()}


def messages(sets: dict[str, PluginSet]) -> list[list[str]]:
    with pytest.raises(ConfigError) as caught:
        resolve_profile(profile(**sets), ZOO)
    return [[problem.field, problem.message] for problem in caught.value.problems]


def test_the_default_profile() -> None:
    (default,) = default_configuration().profiles
    resolved = resolve_profile(default, IN_TREE)
    assert shown(resolved) == {
        "PreEnqueue": "SchedulingGates DynamicResources DefaultPreemption",
        "QueueSort": "PrioritySort",
        "PreFilter": "NodeAffinity NodePorts NodeResourcesFit VolumeRestrictions NodeVolumeLimits "
        "VolumeBinding VolumeZone PodTopologySpread InterPodAffinity DynamicResources "
        "NodeDeclaredFeatures",
        "Filter": "NodeUnschedulable NodeName TaintToleration NodeAffinity NodePorts "
        "NodeResourcesFit VolumeRestrictions NodeVolumeLimits VolumeBinding VolumeZone "
        "PodTopologySpread InterPodAffinity DynamicResources NodeDeclaredFeatures",
        "PostFilter": "DynamicResources DefaultPreemption",
        "PreScore": "TaintToleration NodeAffinity NodeResourcesFit VolumeBinding "
        "PodTopologySpread InterPodAffinity NodeResourcesBalancedAllocation",
        "Score": "TaintToleration:3 NodeAffinity:2 NodeResourcesFit:1 VolumeBinding:1 "
        "PodTopologySpread:2 InterPodAffinity:2 DynamicResources:2 "
        "NodeResourcesBalancedAllocation:1 ImageLocality:1",
        "Reserve": "VolumeBinding DynamicResources",
        "PreBind": "VolumeBinding DynamicResources",
        "Bind": "DefaultBinder",
    }
    assert set(resolved.points) == set(ExtensionPoint)
    assert resolved.plugin_names == tuple(
        plugin.name for plugin in default.plugins.multi_point.enabled
    )
    assert set(resolved.args) == {config.name for config in default.plugin_config}


EXPANSIONS = rows(__file__, "expansion")


@pytest.mark.parametrize(
    ("sets", "expected"), [each[1:] for each in EXPANSIONS], ids=[each[0] for each in EXPANSIONS]
)
def test_expansion(sets: dict[str, str], expected: dict[str, str]) -> None:
    assert shown(resolve_profile(profile(**as_sets(sets)), ZOO)) == expected


BASE = plugin_set("Sort Bind")


@pytest.mark.parametrize(("sets", "expected"), rows(__file__, "problems"))
def test_problems(sets: dict[str, str], expected: list[list[str]]) -> None:
    assert messages(as_sets(sets)) == expected


def test_a_single_huge_weight_overflows() -> None:
    huge = profile(
        multi_point=BASE, score=PluginSet(enabled=(Plugin(name="Normal", weight=2**62),))
    )
    with pytest.raises(ConfigError, match="could overflow"):
        resolve_profile(huge, ZOO)


def test_a_negative_weight_is_accepted_where_nothing_follows() -> None:
    resolved = resolve_profile(profile(multi_point=BASE, score=plugin_set("Score1 Score2:-1")), ZOO)
    assert shown(resolved)["Score"] == "Score1:1 Score2:-1"


def test_plugins_that_run_nowhere_are_created_all_the_same() -> None:
    loaded = load_configuration(
        HEADER
        + """
profiles:
- plugins:
    multiPoint: {disabled: [{name: "*"}], enabled: [{name: PrioritySort}, {name: NodePorts}]}
    preFilter: {disabled: [{name: "*"}]}
    filter: {disabled: [{name: NodePorts}]}
    bind: {enabled: [{name: DefaultBinder}]}
  pluginConfig:
  - {name: NodePorts, args: {a: 1}}
  - {name: Elsewhere, args: {a: 1}}
"""
    )
    resolved = resolve_profiles(loaded, IN_TREE)["default-scheduler"]
    assert shown(resolved) == {"QueueSort": "PrioritySort", "Bind": "DefaultBinder"}
    assert resolved.plugin_names == ("PrioritySort", "NodePorts", "DefaultBinder")
    assert resolved.args == {"NodePorts": UnknownArgs(value={"a": 1})}


def test_every_profile_is_resolved_in_the_order_of_the_file() -> None:
    loaded = load_configuration(
        HEADER
        + """
profiles:
- schedulerName: packer
  plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 10}]}}
- schedulerName: default-scheduler
"""
    )
    resolved = resolve_profiles(loaded, IN_TREE)
    assert list(resolved) == ["packer", "default-scheduler"]
    assert shown(resolved["packer"])["Score"] == (
        "NodeResourcesFit:10 TaintToleration:3 NodeAffinity:2 VolumeBinding:1 PodTopologySpread:2 "
        "InterPodAffinity:2 DynamicResources:2 NodeResourcesBalancedAllocation:1 ImageLocality:1"
    )


def test_problems_of_all_profiles_carry_the_lines_of_the_file() -> None:
    text = (
        HEADER
        + """
profiles:
- schedulerName: a
  plugins:
    multiPoint:
      enabled:
      - name: NodeName
        weight: 2
      - name: Mine
- schedulerName: b
  plugins:
    filter:
      enabled: [{name: ImageLocality}]
    bind:
      disabled: [{name: "*"}]
"""
    )
    with pytest.raises(ConfigError) as caught:
        resolve_profiles(load_configuration(text), IN_TREE)
    found = located(caught.value.problems, text)
    assert [(problem.line, problem.message) for problem in found] == [
        (11, 'Plugin "Mine" does not exist'),
        (15, 'plugin "ImageLocality" does not extend FilterPlugin plugin'),
    ]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (
            """
profiles:
- schedulerName: a
- schedulerName: b
  plugins:
    multiPoint: {disabled: [{name: PrioritySort}], enabled: [{name: MySort}]}
""",
            'different queue sort plugins for profile "b": "MySort", first: "PrioritySort"',
        ),
        (
            """
profiles:
- schedulerName: a
- schedulerName: b
  pluginConfig: [{name: PrioritySort, args: {reverse: true}}]
""",
            'different queue sort plugin args for profile "b"',
        ),
    ],
)
def test_profiles_share_one_queue_sort(body: str, message: str) -> None:
    loaded = load_configuration(HEADER + body)
    with pytest.raises(ConfigError) as caught:
        resolve_profiles(loaded, {**IN_TREE, "MySort": points("QueueSort")})
    assert [problem.message for problem in caught.value.problems] == [message]


IGNORING_EXTENDER = """
extenders:
- managedResources:
  - {name: example.com/gpu, ignoredByScheduler: true}
  - {name: example.com/seen}
profiles:
"""


def test_extenders_replace_the_resources_the_filter_ignores() -> None:
    loaded = load_configuration(
        HEADER
        + IGNORING_EXTENDER
        + "- pluginConfig: [{name: NodeResourcesFit, args: {ignoredResources: [example.com/own]}}]"
    )
    args = resolve_profiles(loaded, IN_TREE)["default-scheduler"].args["NodeResourcesFit"]
    assert args == NodeResourcesFitArgs(ignored_resources=("example.com/gpu",))


def test_extenders_that_ignore_resources_need_the_fit_plugin() -> None:
    loaded = load_configuration(
        HEADER
        + IGNORING_EXTENDER
        + "- plugins: {multiPoint: {disabled: [{name: NodeResourcesFit}]}}"
    )
    with pytest.raises(ConfigError, match="can't find NodeResourcesFitArgs in plugin config"):
        resolve_profiles(loaded, IN_TREE)
