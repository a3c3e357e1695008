"""`implements` answers as `isinstance` does, for plugins of the tree and for others."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler_core.framework import interface
from scheduler_core.framework.dependence import DeclaringPlugin
from scheduler_core.framework.interface import Plugin, implements
from scheduler_core.framework.per_node import PerNode
from scheduler_core.framework.status import SUCCESS
from scheduler_core.registry import in_tree_registry
from tests.framework.profile import Named
from tests.plugins.harness import World

PROTOCOLS: list[type[Plugin]] = [
    DeclaringPlugin,
    *(each for each in vars(interface).values() if Plugin in getattr(each, "__mro__", ())),
]
"""Every extension point, and what else a plugin may have."""


class Judge(Named):
    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        return SUCCESS

    def score(self, state: Any, pod: Any, nodes: Any) -> Any: ...


class Lenient(Judge):
    score = None  # type: ignore[assignment]


def in_tree() -> list[Plugin]:
    registry, world = in_tree_registry(), World()
    return [registry.make(name, None, world) for name in registry]


@pytest.mark.parametrize("protocol", PROTOCOLS, ids=lambda each: each.__name__)
def test_it_answers_as_isinstance(protocol: type[Plugin]) -> None:
    others: list[Plugin] = [Named("a"), Judge("b"), PerNode(Judge("c")), Lenient("d")]
    for plugin in [*in_tree(), *others]:
        assert implements(plugin, protocol) == isinstance(plugin, protocol), plugin.name
