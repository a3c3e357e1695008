"""A profile of plugins made for a test, over a cluster made for a test."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from scheduler_core.api import KubeObject
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import ExtensionPoint
from scheduler_core.framework.interface import Plugin, Prepared
from scheduler_core.framework.runtime import Framework
from scheduler_core.framework.status import Code, Status, Verdict
from scheduler_core.registry import METHOD_OF_POINT
from tests.builders import make_node, make_pod
from tests.plugins.harness import World


class Nominated(dict[str, list[PodInfo]]):
    """Nominated pods by node; implements `framework.handle.PodNominator`."""

    def nominated_by_node(self) -> Mapping[str, Sequence[PodInfo]]:
        return self


def framework(
    *plugins: Plugin,
    weights: Mapping[str, int] | None = None,
    nominated: Mapping[str, list[PodInfo]] | None = None,
) -> Framework:
    """Attach the plugins, in this order, to every extension point they implement."""
    points = {
        point: [
            (plugin, (weights or {}).get(plugin.name, 1))
            for plugin in plugins
            if hasattr(plugin, METHOD_OF_POINT[point])
        ]
        for point in ExtensionPoint
    }
    return Framework("default-scheduler", points, Nominated(nominated or {}), None)


def three_nodes(*more: KubeObject) -> World:
    return World(make_node("a").obj(), make_node("b").obj(), make_node("c").obj(), *more)


def some_pod(
    world: World,
    name: str = "incoming",
    *,
    requests: Mapping[str, str] | None = None,
    priority: int | None = None,
) -> PodInfo:
    return world.info(make_pod(name).requests(requests or {}).priority(priority).obj())


class Named:
    """A plugin by the name it is given."""

    def __init__(self, name: str) -> None:
        self.name = name


class Turnstile(Named):
    """Rejects the nodes it is told, and keeps which nodes it was asked about."""

    def __init__(
        self,
        name: str,
        rejects: Iterable[str] = (),
        code: Code = Code.UNSCHEDULABLE,
        reason: str = "",
    ) -> None:
        super().__init__(name)
        self.rejects = set(rejects)
        self.code = code
        self.reason = reason or f"{name} says no"
        self.asked: list[list[str]] = []

    def filter(self, state: str | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        self.asked.append(nodes.names)
        where = np.array([name in self.rejects for name in nodes.names], np.bool_)
        return Verdict.reject(where, self.code, self.reason)


class Answering(Named):
    """A PreFilter that answers what it is told, beside a Filter that keeps its state."""

    def __init__(self, name: str, answer: Prepared[Any] | Status) -> None:
        super().__init__(name)
        self.answer = answer
        self.n_asked = 0
        self.states: list[object] = []

    def pre_filter(self, pod: PodInfo, nodes: Nodes) -> Prepared[Any] | Status:
        self.n_asked += 1
        return self.answer

    def filter(self, state: str | None, pod: PodInfo, nodes: Nodes) -> Verdict:
        self.states.append(state)
        return Verdict.passed(nodes.n)


def no(text: str, code: Code = Code.UNSCHEDULABLE) -> Status:
    return Status(code, (text,))
