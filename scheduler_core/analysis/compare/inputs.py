"""The inputs of two runs that their traces have: rules, plugins, nodes and pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from scheduler_core.analysis.compare.difference import NO_SUCH_NODE, natural
from scheduler_core.analysis.compare.lines import RunLines
from scheduler_core.releases import stored_release
from scheduler_core.trace.events import NodeAdded, NodeUpdated, PodAdded, RunStarted
from scheduler_core.trace.names import Names

DRAWS: Final = frozenset(("seed", "tieBreak"))
"""Rules by which one of several tied nodes is taken."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A rule or a plugin's weight that is another one; `a` or `b` is empty where it is not set."""

    name: str
    a: str
    b: str


@dataclass(frozen=True, slots=True)
class Changed:
    """A node or pod that both runs have, with the names of what is different about it."""

    name: str
    what: tuple[str, ...]


@dataclass(frozen=True)
class Objects:
    """Objects before the first cycle."""

    only_a: list[str] = field(default_factory=list)
    only_b: list[str] = field(default_factory=list)
    changed: list[Changed] = field(default_factory=list)


@dataclass(frozen=True)
class Inputs:
    """What is different about what went in. A trace does not hold all of a pod's spec."""

    settings: list[Setting]
    nodes: Objects
    pods: Objects

    @property
    def differ(self) -> bool:
        return bool(self.settings) or self._objects_differ

    @property
    def only_draws_differ(self) -> bool:
        """Whether the traces differ only in the seed or the rule for ties."""
        names = {each.name for each in self.settings}
        return bool(names) and names <= DRAWS and not self._objects_differ

    @property
    def _objects_differ(self) -> bool:
        return any(kind.only_a or kind.only_b or kind.changed for kind in (self.nodes, self.pods))


def inputs(a: RunLines, b: RunLines) -> Inputs:
    """Return what two runs started from, held against each other."""
    names_a, names_b = a.end.names, b.end.names
    same_numbers = names_a.resources == names_b.resources and names_a.agrees_on_nodes(names_b)

    def nodes() -> Iterator[Changed]:
        for name, one in a.nodes.items():
            other = b.nodes.get(name)
            if other and not (same_numbers and one == other):
                yield _changed(name, _node_facts(one, names_a), _node_facts(other, names_b))

    def pods() -> Iterator[Changed]:
        for name, one in a.pods.items():
            other = b.pods.get(name)
            if other and not (same_numbers and one == other):
                yield _changed(name, _pod_facts(one, names_a), _pod_facts(other, names_b))

    return Inputs(
        list(_settings(a.run, b.run)),
        _objects(a.nodes, b.nodes, nodes()),
        _objects(a.pods, b.pods, pods()),
    )


def _node_facts(node: NodeAdded | NodeUpdated, names: Names) -> dict[str, object]:
    return {
        "zone": node.zone,
        "labels": node.labels,
        "taints": node.taints,
        "unschedulable": node.unschedulable,
        "allocatable": names.amounts(node.allocatable),
    }


def _pod_facts(pod: PodAdded, names: Names) -> dict[str, object]:
    return {
        "node": names.node(pod.node) if names.knows_node(pod.node) else NO_SUCH_NODE,
        "priority": pod.priority,
        "requests": names.amounts(pod.requests),
        "schedulerName": pod.scheduler_name,
    }


def _changed(name: str, a: Mapping[str, object], b: Mapping[str, object]) -> Changed:
    return Changed(name, tuple(what for what, value in a.items() if b[what] != value))


def _objects(
    a: Mapping[str, object], b: Mapping[str, object], compared: Iterable[Changed]
) -> Objects:
    changed = (each for each in compared if each.what)
    return Objects(
        sorted(a.keys() - b.keys(), key=natural),
        sorted(b.keys() - a.keys(), key=natural),
        sorted(changed, key=lambda each: natural(each.name)),
    )


# ---------------------------------------------------------------- rules


def _settings(a: RunStarted | None, b: RunStarted | None) -> Iterator[Setting]:
    rules_a, rules_b = _rules(a), _rules(b)
    for name in dict.fromkeys([*rules_a, *rules_b]):
        value_a, value_b = rules_a.get(name, ""), rules_b.get(name, "")
        if value_a != value_b:
            yield Setting(name, value_a, value_b)


def _rules(run: RunStarted | None) -> dict[str, str]:
    """Return by name what decides besides the cluster.

    A seed is only one where lots are drawn: an extender's scores are not in the trace's start.
    """
    if run is None:
        return {}
    known = stored_release(run.release)
    release = known.name if known is not None and run.release else run.release
    rules = {"release": release, "tieBreak": run.tie_break, "queueOrder": run.queue_order}
    if run.tie_break == "draw":
        rules["seed"] = str(run.seed)
    rules |= {f"gate {gate.name}": str(gate.enabled).lower() for gate in run.gates}
    for profile in run.profiles:
        for point in profile.points:
            weights = point.weights or (0,) * len(point.plugins)
            for plugin, weight in zip(point.plugins, weights, strict=True):
                name = f"{profile.scheduler_name} {point.point}/{run.plugins[plugin]}"
                rules[name] = f"weight {weight}" if weight else "enabled"
    return rules
