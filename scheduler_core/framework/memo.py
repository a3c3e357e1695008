"""Answers of plugins that hold for every pod of a template, cached from cycle to cycle.

What may be cached a plugin declares (`dependence.py`):

* PreFilter and PreScore that read nothing but the template are called once per template;
* verdicts and raw scores that depend on the node object are found for all nodes at once, and again
  when a node object changes (or, where they depend on those, its images);
* those that depend on resources are found once for each resource state
  (`cluster/resource_states.py`).

`Memo` stands in front of `PluginCalls` and has its methods: without it (one line in `runtime.py`)
every plugin is called in every cycle, and the trace is the same, byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final, Protocol

import numpy as np

from scheduler_core.cluster.arrays import IntArray, grown
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.resource_states import ResourceStates
from scheduler_core.framework.dependence import NodeFacts, dependence_of
from scheduler_core.framework.interface import (
    FilterPlugin,
    Plugin,
    PreFilterPlugin,
    Prepared,
    PreScorePlugin,
    ScorePlugin,
    Scores,
)
from scheduler_core.framework.plugin_calls import (
    NodeCalls,
    PluginCalls,
    call_filter,
    call_score,
)
from scheduler_core.framework.scoring import PluginScore
from scheduler_core.framework.status import Codes, ListedVerdict, Reasons, Status, Verdict

MAX_TEMPLATES: Final = 64
"""So many templates' answers are cached; beyond that those of the oldest template go."""

UNKNOWN_CODE: Final = -1
UNKNOWN_SCORE: Final = int(np.iinfo(np.int64).min)

_OF_OBJECT: Final = (NodeFacts.OBJECT, NodeFacts.OBJECT_AND_IMAGES)

PreparedAnswer = Prepared[object] | Status


class Memo(PluginCalls):
    """Calls the plugins of one profile, or answers in their place."""

    def __init__(self, plugins: Sequence[Plugin], weights: dict[str, int]) -> None:
        super().__init__(plugins, weights)
        self._depends_on = {plugin.name: dependence_of(plugin) for plugin in plugins}
        self._pre_filter = _ByTemplate()
        self._pre_score = _ByTemplate()
        self._templates: dict[int, _Template] = {}
        self._node_revision = -1
        self._image_revision = -1
        self._resource_states: ResourceStates | None = None
        self._all_nodes = np.zeros(0, np.int64)

    def pre_filter(self, plugin: PreFilterPlugin, pod: PodInfo, nodes: Nodes) -> PreparedAnswer:
        cached = self._pre_filter[pod.template.index]
        answer = cached.get(plugin.name)
        if answer is None:
            answer = super().pre_filter(plugin, pod, nodes)
            if self._depends_on[plugin.name].prepared.is_template(pod.pod.spec):
                cached[plugin.name] = answer
        return answer

    def pre_score(
        self, plugin: PreScorePlugin, prepared: object, pod: PodInfo, nodes: Nodes
    ) -> PreparedAnswer:
        cached = self._pre_score[pod.template.index]
        answer = cached.get(plugin.name)
        if answer is None:
            answer = super().pre_score(plugin, prepared, pod, nodes)
            if self._depends_on[plugin.name].prepared.is_template(pod.pod.spec):
                cached[plugin.name] = answer
        return answer

    def about(self, pod: PodInfo, nodes: Nodes) -> NodeCalls:
        """Return what answers for Filter and Score about a pod and any part of `nodes`.

        A template's first pod is evaluated without the cache, for there may never be a second
        one; so are nodes shown without their images.
        """
        self._forget_what_changed(nodes.cluster)
        index = pod.template.index
        template = self._templates.get(index)
        if template is None:
            if len(self._templates) >= MAX_TEMPLATES:
                del self._templates[next(iter(self._templates))]
            self._templates[index] = _Template(self, pod.uid, Nodes(nodes.cluster, self._all_nodes))
            return self
        return self if template.first_uid == pod.uid or nodes.bare else template

    def _forget_what_changed(self, cluster: ClusterColumns) -> None:
        """Start afresh after a change of a node object, or a renumbering of resource states."""
        states = cluster.resource_states
        if self._node_revision != cluster.node_revision or self._resource_states is not states:
            self._node_revision, self._resource_states = cluster.node_revision, states
            self._templates.clear()
            present = [row for row, node in enumerate(cluster.nodes) if node is not None]
            self._all_nodes = np.array(present, np.int64)
        if self._image_revision != cluster.image_revision:
            self._image_revision = cluster.image_revision
            for template in self._templates.values():
                template.forget(NodeFacts.OBJECT_AND_IMAGES)

    def declared(self, plugin: str) -> NodeFacts:
        return self._depends_on[plugin].per_node

    def node_facts(self, plugin: str, pod: PodInfo) -> NodeFacts:
        return self.declared(plugin).of_pod(pod.pod.spec)


class _ByTemplate(dict[int, dict[str, PreparedAnswer]]):
    """Answers by the number of a pod's template and the name of the plugin, to be added to."""

    def __missing__(self, template: int) -> dict[str, PreparedAnswer]:
        if len(self) >= MAX_TEMPLATES:
            del self[next(iter(self))]
        answers = self[template] = {}
        return answers


class _Template:
    """Answers of Filter and Score plugins about the pods of one template."""

    def __init__(self, memo: Memo, first_uid: str, all_nodes: Nodes) -> None:
        self.first_uid = first_uid
        self._memo = memo
        self._all_nodes = all_nodes
        self._verdicts: dict[str, _CachedVerdicts | None] = {}
        self._scores: dict[str, _CachedScores | None] = {}
        self._normalized: dict[str, PluginScore] = {}
        """The latest scores by node object: they hold for the same column of raw scores."""

    def filter(
        self, plugin: FilterPlugin[object], prepared: object, pod: PodInfo, nodes: Nodes
    ) -> Verdict:
        name = plugin.name
        if name not in self._verdicts:
            self._verdicts[name] = self._new_verdicts(name, pod)
        cached = self._verdicts[name]
        if cached is None:
            return call_filter(plugin, prepared, pod, nodes)
        while (verdict := cached.verdict(nodes)) is None:
            unknown = cached.unknown(nodes)
            if not cached.add(unknown, call_filter(plugin, prepared, pod, unknown)):
                self._verdicts[name] = None
                return call_filter(plugin, prepared, pod, nodes)
        return verdict

    def score(
        self, plugin: ScorePlugin[object], prepared: object, pod: PodInfo, nodes: Nodes
    ) -> PluginScore:
        raw = self._raw_scores(plugin, prepared, pod, nodes)
        known = self._normalized.get(plugin.name)
        if known is not None and known.raw is raw:
            return known
        score = self._memo.normalize(plugin, prepared, pod, nodes, raw)
        if self._memo.node_facts(plugin.name, pod) in _OF_OBJECT:
            self._normalized[plugin.name] = score
        return score

    def _raw_scores(
        self, plugin: ScorePlugin[object], prepared: object, pod: PodInfo, nodes: Nodes
    ) -> Scores:
        name = plugin.name
        if name not in self._scores:
            self._scores[name] = self._new_scores(name, pod)
        cached = self._scores[name]
        if cached is None:
            return call_score(plugin, prepared, pod, nodes)
        while (raw := cached.scores(nodes)) is None:
            unknown = cached.unknown(nodes)
            cached.add(unknown, call_score(plugin, prepared, pod, unknown))
        return raw

    def forget(self, facts: NodeFacts) -> None:
        """Forget the answers of the plugins that depend on something that has changed."""
        for answers in (self._verdicts, self._scores, self._normalized):
            for name in [each for each in answers if self._memo.declared(each) is facts]:
                del answers[name]

    def _new_verdicts(self, plugin: str, pod: PodInfo) -> _CachedVerdicts | None:
        match self._memo.node_facts(plugin, pod):
            case NodeFacts.OBJECT | NodeFacts.OBJECT_AND_IMAGES:
                return _VerdictsByNode(self._all_nodes)
            case NodeFacts.RESOURCES:
                return _VerdictsByResourceState()
            case _:
                return None

    def _new_scores(self, plugin: str, pod: PodInfo) -> _CachedScores | None:
        match self._memo.node_facts(plugin, pod):
            case NodeFacts.OBJECT | NodeFacts.OBJECT_AND_IMAGES:
                return _ScoresByNode(self._all_nodes)
            case NodeFacts.RESOURCES:
                return _ScoresByResourceState()
            case _:
                return None


# ---------------------------------------------------------------- what is cached, and by what


class _CachedVerdicts(Protocol):
    """One Filter plugin's verdicts about one template."""

    def verdict(self, nodes: Nodes) -> Verdict | None:
        """Return the verdict about `nodes`, None while that about some of them is unknown."""

    def unknown(self, nodes: Nodes) -> Nodes:
        """Return the nodes to evaluate so that the verdict about `nodes` is known."""

    def add(self, nodes: Nodes, verdict: Verdict) -> bool:
        """Take over a verdict; False if it does not go with the earlier ones."""


class _CachedScores(Protocol):
    """One Score plugin's raw scores about one template, as `_CachedVerdicts` has verdicts."""

    def scores(self, nodes: Nodes) -> Scores | None: ...
    def unknown(self, nodes: Nodes) -> Nodes: ...
    def add(self, nodes: Nodes, scores: Scores) -> None: ...


class _VerdictsByNode:
    """Verdicts that hold until a node object changes; found for all nodes at once."""

    def __init__(self, all_nodes: Nodes) -> None:
        self._all_nodes = all_nodes
        self._everywhere: Verdict | None = None
        """Over all rows of the cluster."""
        self._rejects = False

    def verdict(self, nodes: Nodes) -> Verdict | None:
        known = self._everywhere
        if known is None:
            return None
        if not self._rejects:
            return _passed(nodes.n)
        return replace(known, code=known.code[nodes.rows], reasons=known.reasons[nodes.rows])

    def unknown(self, nodes: Nodes) -> Nodes:
        return self._all_nodes

    def add(self, nodes: Nodes, verdict: Verdict) -> bool:
        n_rows = nodes.cluster.n_rows
        code, reasons = np.zeros(n_rows, np.int8), np.zeros(n_rows, np.uint64)
        code[nodes.rows], reasons[nodes.rows] = verdict.code, verdict.reasons
        self._everywhere = replace(verdict, code=code, reasons=reasons)
        self._rejects = bool(np.count_nonzero(code))
        return True


class _ScoresByNode:
    """Raw scores that hold until a node object changes; found for all nodes at once."""

    def __init__(self, all_nodes: Nodes) -> None:
        self._all_nodes = all_nodes
        self._everywhere: Scores | None = None
        """Over all rows of the cluster."""
        self._only_value: int | None = None
        """The score of every node, if they all have the same."""

    def scores(self, nodes: Nodes) -> Scores | None:
        """If they are the same everywhere, the column is the same object for as many nodes."""
        if self._everywhere is None:
            return None
        if self._only_value is not None:
            return _same_everywhere(self._only_value, nodes.n)
        return self._everywhere[nodes.rows]

    def unknown(self, nodes: Nodes) -> Nodes:
        return self._all_nodes

    def add(self, nodes: Nodes, scores: Scores) -> None:
        self._everywhere = np.zeros(nodes.cluster.n_rows, np.int64)
        self._everywhere[nodes.rows] = scores
        if scores.size and (scores == scores[0]).all():
            self._only_value = int(scores[0])


class _VerdictsByResourceState:
    """Verdicts by resource state: nodes in one state get the same."""

    def __init__(self) -> None:
        self._code: Codes = np.zeros(0, np.int8)
        self._reasons: Reasons = np.zeros(0, np.uint64)
        self._texts: tuple[str, ...] | None = None

    def verdict(self, nodes: Nodes) -> Verdict | None:
        states = self._states(nodes)
        code = self._code[states]
        if not np.count_nonzero(code):
            return _passed(nodes.n)
        if np.minimum.reduce(code) == UNKNOWN_CODE:
            return None
        return Verdict(code, self._reasons[states], self._texts or ())

    def unknown(self, nodes: Nodes) -> Nodes:
        states = self._states(nodes)
        return nodes.take(_one_of_each(states, np.flatnonzero(self._code[states] == UNKNOWN_CODE)))

    def add(self, nodes: Nodes, verdict: Verdict) -> bool:
        if np.count_nonzero(verdict.code):
            # Reasons are bits that stand for texts; beside other texts they would mean others.
            if isinstance(verdict, ListedVerdict) or self._texts not in (None, verdict.texts):
                return False
            self._texts = verdict.texts
        states = self._states(nodes)
        self._code[states], self._reasons[states] = verdict.code, verdict.reasons
        return True

    def _states(self, nodes: Nodes) -> IntArray:
        """Return the nodes' states, int64 (n,), with room for those that are new."""
        states = nodes.resource_states
        n_states = len(nodes.cluster.resource_states)
        self._code = grown(self._code, n_states, UNKNOWN_CODE)
        self._reasons = grown(self._reasons, n_states)
        return states


class _ScoresByResourceState:
    """Raw scores by resource state: nodes in one state get the same."""

    def __init__(self) -> None:
        self._scores: Scores = np.zeros(0, np.int64)

    def scores(self, nodes: Nodes) -> Scores | None:
        states = nodes.resource_states
        self._scores = grown(self._scores, len(nodes.cluster.resource_states), UNKNOWN_SCORE)
        scores = self._scores[states]
        return None if np.minimum.reduce(scores, initial=0) == UNKNOWN_SCORE else scores

    def unknown(self, nodes: Nodes) -> Nodes:
        states = nodes.resource_states
        at = np.flatnonzero(self._scores[states] == UNKNOWN_SCORE)
        return nodes.take(_one_of_each(states, at))

    def add(self, nodes: Nodes, scores: Scores) -> None:
        self._scores[nodes.resource_states] = scores


def _one_of_each(states: IntArray, at: IntArray) -> IntArray:
    """Return, of the positions `at`, the first of each state, int64."""
    _, first = np.unique(states[at], return_index=True)
    return at[first]


@lru_cache(maxsize=256)
def _passed(n: int) -> Verdict:
    """Return the verdict that rejects none of `n` nodes; nobody may change it."""
    verdict = Verdict.passed(n)
    verdict.code.flags.writeable = verdict.reasons.flags.writeable = False
    return verdict


@lru_cache(maxsize=256)
def _same_everywhere(value: int, n: int) -> Scores:
    """Return a column int64 (n,) of one value: each time the same one, which nobody may change."""
    column = np.full(n, value, np.int64)
    column.flags.writeable = False
    return column
