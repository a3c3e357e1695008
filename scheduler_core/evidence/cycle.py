"""The evidence of one cycle: about the pod, and about any node.

The cluster must be as it was when the cycle decided; nothing here changes it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np

from scheduler_core.cluster.nodes import Change, Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.config import ExtensionPoint
from scheduler_core.evidence.apart import Apart, wants_apart
from scheduler_core.evidence.free_room import FreeRoom, free_room
from scheduler_core.evidence.node_labels import OS, USUAL_OS, required_values
from scheduler_core.evidence.plugins import (
    node_requirements,
    normalize_rule,
    pod_requirements,
    raw_score,
)
from scheduler_core.evidence.preemption import NodePreemption, Preempting
from scheduler_core.evidence.raw_score import Normalized, RawScore, StatedScore, normalized
from scheduler_core.evidence.requests import RequestParts, request_parts
from scheduler_core.evidence.requirement import AtNode, Requirement
from scheduler_core.evidence.spread import SpreadScore, scored_range
from scheduler_core.framework.individual import (
    Preparation,
    left_out_by,
    prepare_individually,
)
from scheduler_core.framework.interface import FilterPlugin, NodeToStatus, Plugin, implements
from scheduler_core.framework.plugin_calls import call, call_filter
from scheduler_core.framework.resource_names import is_extended_resource_name
from scheduler_core.framework.runtime import CycleState, Framework
from scheduler_core.framework.scoring import PluginScore
from scheduler_core.framework.status import SUCCESS, Code, Status
from scheduler_core.plugins.default_preemption import DefaultPreemption
from scheduler_core.plugins.node_affinity import NodeAffinity
from scheduler_core.plugins.node_resources import Fit
from scheduler_core.wording import SEMICOLON, series

MAX_LOOKED_AT: Final = 100
"""So many nodes are kept once every plugin was asked about them."""


@dataclass(frozen=True, slots=True)
class CycleFacts:
    """What a cycle began with and found out.

    `state` is what its plugins prepared, `statuses` why it rejected each node; `scores` are of the
    `feasible` nodes, empty if none were compared.
    """

    framework: Framework
    pod: PodInfo
    nodes: Nodes
    objects: ObjectStore
    state: CycleState
    statuses: NodeToStatus
    feasible: Nodes | None = None
    scores: Sequence[PluginScore] = ()


@dataclass(frozen=True, slots=True)
class PluginEvidence:
    """What one plugin, evaluated individually, says of the pod or of a node, and why.

    `status` is a success where it has no objection. `with_nominated` are the pods nominated to the
    node that were counted as if they were there.
    """

    plugin: str
    point: str
    status: Status
    requirements: tuple[Requirement, ...]
    with_nominated: tuple[str, ...] = ()

    @property
    def unmet(self) -> tuple[Requirement, ...]:
        return tuple(each for each in self.requirements if not each.met)

    @property
    def sentence(self) -> str:
        """Return what is not met in one sentence, empty if all is."""
        return series((each.sentence for each in self.unmet), SEMICOLON)

    @property
    def headline(self) -> str:
        """Return the first of what is not met, as it may lead."""
        return next((each.headline for each in self.unmet), "")


@dataclass(frozen=True, slots=True)
class ScoreEvidence:
    """One plugin's score of a node: raw, normalised and weighted."""

    plugin: str
    weight: int
    raw: RawScore
    normalized: Normalized

    @property
    def weighted(self) -> int:
        return self.weight * self.normalized.value


@dataclass(frozen=True, slots=True)
class NodeEvidence:
    """All plugins about one node, in the order in which they run, and the node's scores.

    `scores` is empty for a node that was not scored; `preemption` says whether evicting pods would
    help where the cycle found no node.
    """

    node: str
    plugins: tuple[PluginEvidence, ...]
    scores: tuple[ScoreEvidence, ...] = ()
    preemption: NodePreemption | None = None

    @property
    def rejections(self) -> tuple[PluginEvidence, ...]:
        return tuple(each for each in self.plugins if not each.status.is_success)

    @property
    def sentence(self) -> str:
        """Return why the first plugin rejects the node, empty if none does."""
        return next((each.sentence for each in self.rejections), "")

    @property
    def total(self) -> int:
        return sum(score.weighted for score in self.scores)


def pre_enqueue_evidence(
    framework: Framework, pod: PodInfo, objects: ObjectStore
) -> tuple[PluginEvidence, ...]:
    """Return the plugins that keep a pod out of the active queue, and why."""
    found = []
    for plugin in framework.pre_enqueue_plugins:
        status = call("PreEnqueue", plugin.name, pod, plugin.pre_enqueue, pod).by(plugin.name)
        if not status.is_success:
            why = pod_requirements(plugin, pod, objects, status)
            found.append(PluginEvidence(plugin.name, "PreEnqueue", status, why))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Meant:
    """Extended resources that a pod requests, and the nodes that offer all of them."""

    resources: tuple[str, ...]
    nodes: tuple[str, ...]


class CycleEvidence:
    """Answers for one cycle, as often as asked; what is the same for all nodes is cached."""

    def __init__(self, facts: CycleFacts) -> None:
        self._facts = facts
        self._at = {name: i for i, name in enumerate(facts.nodes.names)}
        self._looked_at: dict[str, NodeEvidence] = {}

    @property
    def node_names(self) -> Sequence[str]:
        return list(self._at)

    @cached_property
    def meant(self) -> Meant | None:
        """The nodes that offer every extended resource the pod requests.

        None if it requests none, or if no node does: then no node is marked out for the pod.
        """
        nodes, asked = self._facts.nodes, self._facts.pod.template.requests.asked
        resources = [name for name in asked if asked[name] and is_extended_resource_name(name)]
        offering = np.ones(nodes.n, np.bool_)
        for name in resources:
            offering &= nodes.allocatable(name) > 0
        names = tuple(nodes.take(offering).names)
        return Meant(tuple(resources), names) if resources and names else None

    def runs_other_os(self, node: str) -> bool:
        """Return whether a node runs another system than a pod that selects none is built for."""
        labels = self._facts.nodes.node(self._at[node]).metadata.labels
        wanted = required_values(self._facts.pod.pod.spec, (OS,)) or {USUAL_OS}
        return labels.get(OS, USUAL_OS) not in wanted

    @cached_property
    def wanted(self) -> tuple[str, ...]:
        """The nodes that the pod's own node affinity selects; empty if it selects all or none."""
        facts = self._facts
        choosing = (each for each in self._filtering if each.name == NodeAffinity.name)
        plugin = next(choosing, None)
        if plugin is None:
            return ()
        state = self._prepared.state.pre_filter.get(plugin.name)
        verdict = call_filter(plugin, state, facts.pod, facts.nodes)
        names = facts.nodes.take(verdict.code == Code.SUCCESS).names
        return tuple(names) if len(names) < facts.nodes.n else ()

    @cached_property
    def large_enough(self) -> tuple[str, ...]:
        """The nodes that would have room for the pod if nothing else were there."""
        nodes = self._facts.nodes
        enough = np.ones(nodes.n, np.bool_)
        for name, amount in self._facts.pod.template.requests.asked.items():
            if amount:
                enough &= nodes.allocatable(name) >= amount
        return tuple(nodes.take(enough).names)

    @cached_property
    def apart(self) -> Apart | None:
        """What the pod and its volumes want of a node that none can have; None if nothing."""
        filtering = [each.name for each in self._filtering]
        return wants_apart(self._facts.pod, self._facts.objects, filtering)

    @cached_property
    def requests(self) -> tuple[RequestParts, ...]:
        """How the pod's requests come about."""
        pod_level = self._facts.nodes.cluster.templates.counted.pod_level
        return request_parts(self._facts.pod, pod_level=pod_level)

    @cached_property
    def pod(self) -> tuple[PluginEvidence, ...]:
        """The plugins that reject the pod before any node is looked at."""
        facts, plugins = self._facts, self._plugins(ExtensionPoint.PRE_FILTER)
        return tuple(
            PluginEvidence(
                status.plugin,
                "PreFilter",
                status,
                pod_requirements(plugins[status.plugin], facts.pod, facts.objects, status),
            )
            for status in self._prepared.rejections or self._nothing_left
        )

    @property
    def _nothing_left(self) -> Iterator[Status]:
        """Yield what the plugins say that leave no node to look at, together or alone."""
        narrowed, nodes = self._prepared.narrowed, set(self._facts.nodes.names)
        if nodes.intersection(*narrowed.values()):
            return
        alone = [plugin for plugin, names in narrowed.items() if nodes.isdisjoint(names)]
        for plugin in alone or narrowed:
            yield left_out_by(plugin)

    def node(self, name: str) -> NodeEvidence:
        """Evaluate every plugin on one node. Raises LookupError if there is none of that name."""
        found = self._looked_at.get(name)
        if found is None:
            if len(self._looked_at) >= MAX_LOOKED_AT:
                self._looked_at.clear()
            found = self._looked_at[name] = self._look_at(name)
        return found

    def _look_at(self, name: str) -> NodeEvidence:
        at = self._at.get(name)
        if at is None:
            raise LookupError(f"the cycle saw no node {name}")
        view = self._facts.nodes.take(np.array([at], np.int64))
        return NodeEvidence(
            name,
            tuple(self._about(plugin, view) for plugin in self._filtering),
            tuple(self._scores(name, view)),
            self._preemption(name, view),
        )

    @cached_property
    def free_room(self) -> FreeRoom | None:
        """What is free on the nodes that lack only room; None if there are none."""
        facts, fit = self._facts, self._plugins(ExtensionPoint.FILTER).get(Fit.name)
        if not isinstance(fit, Fit):
            return None
        return free_room(facts.framework, self._prepared, fit, facts.pod, facts.nodes)

    # ------------------------------------------------------------ filtering

    @cached_property
    def _prepared(self) -> Preparation:
        return prepare_individually(self._facts.framework, self._facts.pod, self._facts.nodes)

    @cached_property
    def _filtering(self) -> list[FilterPlugin[object]]:
        skipped = self._prepared.state.skip_filter
        found = self._plugins(ExtensionPoint.FILTER).values()
        return [
            plugin
            for plugin in found
            if implements(plugin, FilterPlugin) and plugin.name not in skipped
        ]

    def _plugins(self, point: ExtensionPoint) -> Mapping[str, Plugin]:
        return {plugin.name: plugin for plugin, _ in self._facts.framework.points.get(point, ())}

    def _about(self, plugin: FilterPlugin[object], view: Nodes) -> PluginEvidence:
        """Evaluate a plugin with nominated pods, if there are any, and else without.

        Should it reject the node only without them (an affinity they meet), that counts.
        """
        state = self._prepared.state.pre_filter.get(plugin.name)
        worlds = [view]
        changes = self._facts.framework.nominated_changes(self._facts.pod, view)
        if changes:
            worlds.insert(0, view.what_if(changes))
        statuses = [
            call_filter(plugin, state, self._facts.pod, world).status(0).by(plugin.name)
            for world in worlds
        ]
        at = next((i for i, status in enumerate(statuses) if not status.is_success), 0)
        return self._in_world(plugin, state, worlds[at], statuses[at])

    def _in_world(
        self, plugin: FilterPlugin[object], state: object, world: Nodes, status: Status
    ) -> PluginEvidence:
        facts = self._facts
        at = AtNode(facts.pod, world, facts.nodes, facts.objects)
        if status.code is Code.SUCCESS:
            status = SUCCESS
        return PluginEvidence(
            plugin.name,
            "Filter",
            status,
            node_requirements(plugin, state, at, status),
            tuple(pod.key for change in world.changes for pod in change.added),
        )

    # ------------------------------------------------------------ preemption

    @cached_property
    def _preempting(self) -> Preempting | None:
        """How the pod would preempt; None if a node is feasible, or if no plugin preempts."""
        facts, plugins = self._facts, self._plugins(ExtensionPoint.POST_FILTER).values()
        plugin = next((each for each in plugins if isinstance(each, DefaultPreemption)), None)
        if plugin is None or (facts.feasible is not None and facts.feasible.n):
            return None
        refilter = facts.framework.refilter(facts.state, facts.pod)
        return Preempting(plugin, facts.pod, facts.statuses, refilter)

    @property
    def ineligible_to_preempt(self) -> str:
        """Return why the pod may not preempt, empty if it may or if a node is feasible."""
        return self._preempting.ineligible if self._preempting is not None else ""

    def _preemption(self, name: str, view: Nodes) -> NodePreemption | None:
        if self._preempting is None:
            return None
        found, change = self._preempting.on(view)
        if change is None:
            return found
        why = series(
            (each.sentence for each in self._in_change(view, change) if each.unmet), SEMICOLON
        )
        return replace(found, reason=why or found.reason)

    def _in_change(self, view: Nodes, change: Change) -> Iterator[PluginEvidence]:
        """Evaluate every plugin on a node as if its pods were others, nominated ones included."""
        facts, world = self._facts, view.with_changes([change])
        nominated = facts.framework.nominated_changes(facts.pod, world)
        world = world.what_if(nominated) if nominated else world
        for plugin in self._filtering:
            state = self._prepared.state.pre_filter.get(plugin.name)
            status = call_filter(plugin, state, facts.pod, world).status(0).by(plugin.name)
            yield self._in_world(plugin, state, world, status)

    # ------------------------------------------------------------ scoring

    @cached_property
    def _feasible(self) -> Mapping[str, int]:
        feasible = self._facts.feasible
        return {} if feasible is None else {name: i for i, name in enumerate(feasible.names)}

    def _scores(self, name: str, view: Nodes) -> Iterator[ScoreEvidence]:
        facts, at = self._facts, self._feasible.get(name)
        if at is None:
            return
        here = AtNode(facts.pod, view, facts.nodes, facts.objects)
        plugins = self._plugins(ExtensionPoint.SCORE)
        for score in facts.scores:
            plugin = plugins.get(score.plugin)
            if plugin is not None:
                yield self._score(plugin, score, at, here)
            else:  # an extender's
                yield _stated(score, int(score.raw[at]))

    def _score(self, plugin: Plugin, score: PluginScore, at: int, here: AtNode) -> ScoreEvidence:
        facts, raw = self._facts, int(score.raw[at])
        state = facts.framework.prepared_for_score(facts.state, plugin)
        found = raw_score(plugin, state, here, raw)
        return ScoreEvidence(
            score.plugin, score.weight, found, self._normalized(plugin, state, score, found)
        )

    def _normalized(
        self, plugin: Plugin, state: object, score: PluginScore, found: RawScore
    ) -> Normalized:
        rule, feasible = normalize_rule(plugin), self._facts.feasible
        if rule == "spread" and feasible is not None:
            low, high = scored_range(state, feasible, score.raw)
        else:
            low, high = int(score.raw.min()), int(score.raw.max())
        ignored = isinstance(found, SpreadScore) and found.ignored
        return normalized(rule, found.value, low, high, ignored=ignored)


def _stated(score: PluginScore, raw: int) -> ScoreEvidence:
    """Return a score that no plugin of the profile gave, as it came."""
    found = StatedScore(raw=raw)
    return ScoreEvidence(score.plugin, score.weight, found, normalized("none", raw, raw, raw))
