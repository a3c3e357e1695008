"""Merging a file's plugin sets into the default ones."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler_core.config import Plugin, Plugins, PluginSet
from scheduler_core.config.defaults import merge_plugin_set, merge_plugins
from tests.config.in_tree import plugin_set


@pytest.mark.parametrize(
    ("default", "custom", "merged"),
    [
        pytest.param("A B", "", "A B", id="nothing of its own"),
        pytest.param("A B", "C", "A B C", id="append"),
        pytest.param("A B", "C B -B", "A C B -B", id="insert before a default plugin"),
        pytest.param("A B", "C A B -*", "C A B -*", id="insert before all"),
        pytest.param("A B", "B A -*", "B A -*", id="reorder"),
        pytest.param("A B C", "A:2 C:3", "A:2 B C:3", id="override weights"),
        pytest.param("A B C", "B:2 A:1", "A:1 B:2 C", id="overriding keeps the order"),
        pytest.param("A B C", "A B:2 C B:4", "A B:4 C B:2", id="named twice"),
        pytest.param("A:3", "A", "A", id="a weight is given up"),
        pytest.param("A B", "C D -B", "A C D -B", id="disable one"),
        pytest.param("A -B", "C", "A C -B", id="disabled by default"),
        pytest.param("A", "-A", "-A", id="only disabled"),
        pytest.param("A", "-Unknown:7", "A -Unknown", id="disabling what is not there"),
    ],
)
def test_one_set(default: str, custom: str, merged: str) -> None:
    assert merge_plugin_set(plugin_set(default), plugin_set(custom)) == plugin_set(merged)


def test_sets_are_merged_each_for_itself() -> None:
    default = Plugins(multi_point=plugin_set("A B"), score=plugin_set("-B"))
    custom = Plugins(multi_point=plugin_set("C -A"), bind=plugin_set("D"))
    assert merge_plugins(default, custom) == Plugins(
        multi_point=plugin_set("B C -A"),
        score=plugin_set("-B"),
        bind=plugin_set("D"),
    )


NAMES = st.sampled_from(["A", "B", "C", "D", "E"])
SETS = st.builds(
    PluginSet,
    enabled=st.lists(
        st.builds(Plugin, name=NAMES, weight=st.integers(0, 9)), unique_by=lambda each: each.name
    ).map(tuple),
    disabled=st.lists(st.builds(Plugin, name=NAMES | st.just("*")), max_size=3).map(tuple),
)


@given(custom=SETS)
def test_merging_twice_changes_nothing_more(custom: PluginSet) -> None:
    default = plugin_set("A:3 B C")
    once = merge_plugin_set(default, custom)
    assert merge_plugin_set(default, once).enabled == once.enabled


@given(custom=SETS)
def test_a_plugin_is_listed_once_and_all_that_is_asked_for_is_there(custom: PluginSet) -> None:
    merged = [plugin.name for plugin in merge_plugin_set(plugin_set("A:3 B C"), custom).enabled]
    assert len(merged) == len(set(merged))
    assert {plugin.name for plugin in custom.enabled} <= set(merged)
