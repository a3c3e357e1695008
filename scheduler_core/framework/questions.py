"""Puts a cycle's questions to plugins, or answers in their place from what is kept of them."""

from __future__ import annotations

from collections.abc import Sequence

from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.framework.interface import (
    FilterPlugin,
    NormalizeScorePlugin,
    Plugin,
    PreFilterPlugin,
    Prepared,
    PreScorePlugin,
    ScorePlugin,
    Scores,
    TemplateOnlyPlugin,
)
from scheduler_core.framework.kept import KeptAnswers, KeptPreparations, TemplateAnswers
from scheduler_core.framework.plugin_calls import (
    call,
    call_filter,
    call_normalize_score,
    call_score,
)
from scheduler_core.framework.scoring import PluginScore, check_range
from scheduler_core.framework.status import Status, Verdict


class Questions:
    """The plugins of one profile with their promises; `weights` are those of Score plugins."""

    def __init__(self, plugins: Sequence[Plugin], weights: dict[str, int]) -> None:
        self._template_only = {
            plugin.name: plugin for plugin in plugins if isinstance(plugin, TemplateOnlyPlugin)
        }
        self._node_only = {p.name for p in plugins if getattr(p, "node_only", False)}
        self._resources_only = {p.name for p in plugins if getattr(p, "resources_only", False)}
        self._normalizers = {
            plugin.name: plugin for plugin in plugins if isinstance(plugin, NormalizeScorePlugin)
        }
        self._weights = weights
        self._kept = KeptAnswers()
        self._kept_pre_filter = KeptPreparations()
        self._kept_pre_score = KeptPreparations()

    def about(self, pod: PodInfo, nodes: Nodes) -> TemplateAnswers | None:
        """Return what is kept of Filter and Score for the pod, None if nothing should be."""
        return self._kept.about(pod, nodes)

    def pre_filter(
        self, plugin: PreFilterPlugin, pod: PodInfo, nodes: Nodes
    ) -> Prepared[object] | Status:
        kept = self._kept_pre_filter.about(pod)
        outcome = kept.get(plugin.name)
        if outcome is None:
            outcome = call("PreFilter", plugin.name, pod, plugin.pre_filter, pod, nodes)
            if self._rests_on_template(plugin, pod):
                kept[plugin.name] = outcome
        return outcome

    def pre_score(
        self, plugin: PreScorePlugin, prepared: object, pod: PodInfo, nodes: Nodes
    ) -> Prepared[object] | Status:
        kept = self._kept_pre_score.about(pod)
        outcome = kept.get(plugin.name)
        if outcome is None:
            outcome = call("PreScore", plugin.name, pod, plugin.pre_score, prepared, pod, nodes)
            if self._rests_on_template(plugin, pod):
                kept[plugin.name] = outcome
        return outcome

    def _rests_on_template(self, plugin: Plugin, pod: PodInfo) -> bool:
        promising = self._template_only.get(plugin.name)
        return promising is not None and promising.template_only(pod)

    def verdict(
        self,
        plugin: FilterPlugin[object],
        prepared: object,
        pod: PodInfo,
        nodes: Nodes,
        kept: TemplateAnswers | None,
    ) -> Verdict | None:
        """Return a plugin's verdict, None if it is known to reject no node at all."""
        if kept is None:
            return call_filter(plugin, prepared, pod, nodes)

        def ask(some: Nodes) -> Verdict:
            return call_filter(plugin, prepared, pod, some)

        if plugin.name in self._node_only:
            return kept.node_only_verdict(plugin.name, nodes, ask)
        if plugin.name in self._resources_only:
            return kept.resources_only_verdict(plugin.name, nodes, ask)
        return ask(nodes)

    def score(
        self,
        plugin: ScorePlugin[object],
        prepared: object,
        pod: PodInfo,
        nodes: Nodes,
        kept: TemplateAnswers | None,
    ) -> PluginScore:
        """Return a plugin's scores, normalised. Raises ScoreError for one off the scale."""
        name = plugin.name
        raw = self._raw_scores(plugin, prepared, pod, nodes, kept)
        known = kept.normalized.get(name) if kept is not None else None
        if known is not None and known.raw is raw:
            return known
        normalized, normalizer = raw, self._normalizers.get(name)
        if normalizer is not None:
            normalized = call_normalize_score(normalizer, prepared, pod, nodes, raw)
        check_range(name, normalized)
        score = PluginScore(name, self._weights[name], raw, normalized)
        if kept is not None and name in self._node_only:
            kept.normalized[name] = score
        return score

    def _raw_scores(
        self,
        plugin: ScorePlugin[object],
        prepared: object,
        pod: PodInfo,
        nodes: Nodes,
        kept: TemplateAnswers | None,
    ) -> Scores:
        if kept is None:
            return call_score(plugin, prepared, pod, nodes)

        def ask(some: Nodes) -> Scores:
            return call_score(plugin, prepared, pod, some)

        if plugin.name in self._node_only:
            return kept.node_only_score(plugin.name, nodes, ask)
        if plugin.name in self._resources_only:
            return kept.resources_only_score(plugin.name, nodes, ask)
        return ask(nodes)
