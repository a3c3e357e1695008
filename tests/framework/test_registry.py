from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import ConfigError, ExtensionPoint, default_configuration
from scheduler_core.config.types import NodeResourcesFitArgs, UnknownArgs
from scheduler_core.framework.interface import Plugin, ScorePlugin
from scheduler_core.framework.per_node import NodeView, PerNode
from scheduler_core.framework.status import SUCCESS
from scheduler_core.registry import (
    METHOD_OF_POINT,
    Registry,
    RegistryError,
    in_tree_registry,
    points_of,
)
from scheduler_core.sim import RunOptions, simulate
from tests.builders import make_node
from tests.plugins.harness import World


class Columns:
    name = "Columns"

    def __init__(self, args: Any, handle: Any) -> None:
        self.args, self.handle = args, handle

    def score(self, state: Any, pod: PodInfo, nodes: Nodes) -> Any:
        return np.zeros(nodes.n, np.int64)


class PerNodePlugin:
    name = "PerNodePlugin"

    def __init__(self, args: Any, handle: Any) -> None:
        self.args = args

    def filter_node(self, state: Any, pod: PodInfo, node: NodeView) -> Any:
        return SUCCESS


class Nothing:
    name = "Nothing"


def registry(*plugin_types: type[Any]) -> Registry:
    made = Registry()
    for plugin_type in plugin_types:
        made.register_out_of_tree(plugin_type.name, plugin_type)
    return made


def test_a_name_is_taken_once() -> None:
    made = registry(Columns)
    with pytest.raises(RegistryError, match="a plugin named Columns already exists"):
        made.register("Columns", Columns, lambda args, handle: Columns(args, handle))
    with pytest.raises(RegistryError, match="a plugin named Columns already exists"):
        made.register_out_of_tree("Columns", Columns)
    assert list(made) == ["Columns"]


def test_unregistering() -> None:
    made = registry(Columns, PerNodePlugin)
    made.unregister("Columns")
    assert list(made) == ["PerNodePlugin"]
    with pytest.raises(RegistryError, match="no plugin named Columns exists"):
        made.unregister("Columns")
    made.register_out_of_tree("Columns", Columns)
    assert list(made) == ["PerNodePlugin", "Columns"]


def test_merging() -> None:
    made = in_tree_registry()
    in_tree = list(made)
    made.merge(registry(Columns, PerNodePlugin))
    assert list(made) == [*in_tree, "Columns", "PerNodePlugin"]
    with pytest.raises(RegistryError, match="a plugin named Columns already exists"):
        made.merge(registry(Columns))


def test_a_merge_that_fails_changes_nothing() -> None:
    made = registry(Columns)
    with pytest.raises(RegistryError):
        made.merge(registry(PerNodePlugin, Columns))
    assert list(made) == ["Columns"]


def test_every_default_plugin_is_in_the_tree_and_can_be_made() -> None:
    made, world = in_tree_registry(), World(make_node("a").obj())
    (profile,) = default_configuration().profiles
    args = {config.name: config.args for config in profile.plugin_config}
    for name in profile.plugins.enabled_names():
        plugin = made.make(name, args.get(name), world)
        assert isinstance(plugin, Plugin)
        assert plugin.name == name
        for point in made.implements()[name]:
            assert hasattr(plugin, METHOD_OF_POINT[point])


def test_a_plugin_without_arguments_of_its_type_gets_the_defaults() -> None:
    made, world = in_tree_registry(), World(make_node("a").obj())
    for args in (None, UnknownArgs(value={"x": 1}), NodeResourcesFitArgs()):
        assert made.make("NodeResourcesFit", args, world).name == "NodeResourcesFit"


@pytest.mark.parametrize("plugin_type", [Columns, PerNodePlugin])
def test_arguments_of_others_come_as_they_are_written(plugin_type: type[Any]) -> None:
    made, world = registry(plugin_type), World(make_node("a").obj())
    written: Any = {"label": "rack", "limits": [1, 2]}
    plugin: Any = made.make(plugin_type.name, UnknownArgs(value=written), world)
    assert plugin.args == written
    plugin = made.make(plugin_type.name, None, world)
    assert plugin.args is None


def test_per_node_plugins_are_lifted_and_others_are_not() -> None:
    made, world = registry(Columns, PerNodePlugin), World(make_node("a").obj())
    assert isinstance(made.make("PerNodePlugin", None, world), PerNode)
    columns = made.make("Columns", None, world)
    assert type(columns) is Columns
    assert columns.handle is world
    assert isinstance(columns, ScorePlugin)
    assert made.implements() == {
        "Columns": {ExtensionPoint.SCORE},
        "PerNodePlugin": {ExtensionPoint.FILTER},
    }


def test_points_are_methods() -> None:
    assert points_of(Nothing) == frozenset()
    assert points_of(PerNodePlugin) == {ExtensionPoint.FILTER}
    every = type("Every", (), {method: None for method in METHOD_OF_POINT.values()})
    assert points_of(every) == set(ExtensionPoint)


def test_what_is_no_plugin() -> None:
    with pytest.raises(RegistryError, match="plugin Nothing has the method of no extension point"):
        registry(Nothing)
    with pytest.raises(RegistryError, match="plugin Rows must say so in its attribute name, not C"):
        Registry().register_out_of_tree("Rows", Columns)


def test_a_configuration_that_names_what_is_not_registered() -> None:
    made = in_tree_registry()
    made.unregister("ImageLocality")
    with pytest.raises(ConfigError, match='Plugin "ImageLocality" does not exist'):
        simulate([], RunOptions(registry=made))
