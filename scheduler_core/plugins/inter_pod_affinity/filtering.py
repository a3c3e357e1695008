"""Which domains required terms open or close for the pod.

Upstream: v1.36 plugins/interpodaffinity/filtering.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.cluster.arrays import ABSENT, BoolArray, IntArray
from scheduler_core.cluster.domains import pairs_with_pods, sum_by_domain
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import Mask, PodTemplate, TemplateTable
from scheduler_core.cluster.row_sums import RowSums
from scheduler_core.framework.status import Code, Verdict
from scheduler_core.plugins.inter_pod_affinity.terms import Incoming, TermTable, valid_terms

EXISTING_ANTI_AFFINITY: Final = "node(s) didn't satisfy existing pods anti-affinity rules"
AFFINITY: Final = "node(s) didn't match pod affinity rules"
ANTI_AFFINITY: Final = "node(s) didn't match pod anti-affinity rules"

DomainCounts = Mapping[str, IntArray]
"""Matching pods per domain, int64 (n_domains,), by topology key."""


@dataclass(frozen=True, eq=False)
class FilterState:
    """Counts for the three rules. Domains are numbered as the values of their label.

    `existing_anti_affinity`: pods whose required anti-affinity means the incoming pod;
    `affinity`: pods that meet all its required affinity terms; `anti_affinity`: pods that meet
    one of its required anti-affinity terms.
    """

    incoming: Incoming
    existing_anti_affinity: DomainCounts
    affinity: DomainCounts
    anti_affinity: DomainCounts

    def described(self, nodes: Nodes) -> Mapping[str, object]:
        return {
            "existingAntiAffinityCounts": pairs_with_pods(nodes, self.existing_anti_affinity),
            "affinityCounts": pairs_with_pods(nodes, self.affinity),
            "antiAffinityCounts": pairs_with_pods(nodes, self.anti_affinity),
        }

    @property
    def restricts_nothing(self) -> bool:
        return self.incoming.restricts_nothing and not _total(self.existing_anti_affinity)


def count_domains(pod: Incoming, nodes: Nodes, existing: TermTable, sums: RowSums) -> FilterState:
    """Count pods per domain over all `nodes`, for every required term concerned."""
    templates = nodes.cluster.templates
    excluding = _DomainSums(nodes)
    for each in existing.about(pod):
        weights = each.weights(len(templates))
        excluding.add(each.term.topology_key, sums.of(("existing", each.number), weights))
    near = _DomainSums(nodes)
    if pod.required_affinity:
        key = ("all", *(term.selection.key for term in pod.required_affinity))
        per_row = sums.of(key, meets_all(pod, templates))
        for term in pod.required_affinity:
            near.add(term.topology_key, per_row)
    far = _DomainSums(nodes)
    for term in pod.required_anti_affinity:
        per_row = sums.of(term.selection.key, term.selection.templates(templates))
        far.add(term.topology_key, per_row)
    return FilterState(pod, excluding.by_domain(), near.by_domain(), far.by_domain())


def meets_all(pod: Incoming, templates: TemplateTable) -> Mask:
    """Return the templates whose pods meet all required affinity terms, bool (n_templates,)."""
    masks = [term.selection.templates(templates) for term in pod.required_affinity]
    meets: Mask = np.logical_and.reduce(masks)
    return meets


class _DomainSums:
    """Adds up per-row counts for every topology key, and turns them into counts per domain."""

    def __init__(self, nodes: Nodes) -> None:
        self._nodes = nodes
        self._per_node: dict[str, IntArray] = {}

    def add(self, topology_key: str, per_row: IntArray) -> None:
        per_node = per_row[self._nodes.rows]
        known = self._per_node.get(topology_key)
        self._per_node[topology_key] = per_node if known is None else known + per_node

    def by_domain(self) -> DomainCounts:
        result = {}
        for key, per_node in self._per_node.items():
            column = self._nodes.label(key)
            result[key] = sum_by_domain(column.ids, per_node, len(column.values))
        return result


def _total(counts: DomainCounts) -> int:
    return sum(int(each.sum()) for each in counts.values())


def filter_nodes(state: FilterState, nodes: Nodes) -> Verdict:
    """Reject nodes whose domains break a rule; the first of the three rules gives the reason."""
    changes = _Changes(state, nodes)
    near = _meets_affinity(state, nodes, changes)
    kept_apart = _any_in_domain(state.anti_affinity, "anti", nodes, changes)
    excluded = _any_in_domain(state.existing_anti_affinity, "existing", nodes, changes)
    rejections = [
        (~near, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, AFFINITY),
        (near & kept_apart, Code.UNSCHEDULABLE, ANTI_AFFINITY),
        (near & ~kept_apart & excluded, Code.UNSCHEDULABLE, EXISTING_ANTI_AFFINITY),
    ]
    return Verdict.of(nodes.n, [each for each in rejections if each[0].any()])


def _meets_affinity(state: FilterState, nodes: Nodes, changes: _Changes) -> BoolArray:
    """Return where each term has a matching pod in the node's domain, bool (n,).

    A pod that meets its own terms may be the first of its kind, on any node that has all labels.
    """
    labelled = np.ones(nodes.n, np.bool_)
    accompanied = np.ones(nodes.n, np.bool_)
    n_anywhere: IntArray = np.full(nodes.n, _total(state.affinity))
    for key, counts in state.affinity.items():
        ids = nodes.label(key).ids
        labelled &= ids != ABSENT
        added = changes.of("affinity", key)
        accompanied &= _occupied(counts, ids, added)
        n_anywhere += 0 if added is None else added
    if state.incoming.matches_own_affinity:
        accompanied |= n_anywhere == 0
    return labelled & accompanied


def _occupied(counts: IntArray, ids: IntArray, added: IntArray | None) -> BoolArray:
    """Return which nodes have a counted pod in their domain, bool (n,)."""
    if added is None:
        return np.append(counts > 0, False)[ids]
    occupied: BoolArray = np.append(counts, 0)[ids] + added > 0
    return occupied


def _any_in_domain(counts: DomainCounts, rule: str, nodes: Nodes, changes: _Changes) -> BoolArray:
    """Return which nodes have a counted pod in one of their domains, bool (n,)."""
    found = np.zeros(nodes.n, np.bool_)
    for key in {**counts, **dict.fromkeys(changes.keys(rule))}:
        column = nodes.label(key)
        n_pods = counts.get(key, np.zeros(len(column.values), np.int64))
        found |= _occupied(n_pods, column.ids, changes.of(rule, key))
    return found


class _Changes:
    """What the hypothetical pods of each node add to its own domains, by rule and topology key.

    Upstream: updateWithPod, called by AddPod and RemovePod.
    """

    def __init__(self, state: FilterState, nodes: Nodes) -> None:
        self._state = state
        self._templates = nodes.cluster.templates
        self._n = nodes.n
        self._added: dict[tuple[str, str], IntArray] = {}
        self._effects: dict[int, list[tuple[str, str]]] = {}
        for i, change in enumerate(nodes.changes):
            for pods, sign in ((change.added, 1), (change.removed, -1)):
                for pod in pods:
                    self._add(i, nodes, pod.template, sign)

    def of(self, rule: str, topology_key: str) -> IntArray | None:
        """Return the pods added to each node's domain, int64 (n,); fewer than 0: removed.

        None if nothing changes in any node's domain.
        """
        return self._added.get((rule, topology_key))

    def keys(self, rule: str) -> list[str]:
        """Return the topology keys that anything is added for."""
        return [key for name, key in self._added if name == rule]

    def _add(self, i: int, nodes: Nodes, template: PodTemplate, sign: int) -> None:
        effects = self._effects.get(template.index)
        if effects is None:
            effects = self._effects[template.index] = self._effects_of(template)
        for effect in effects:
            if nodes.label(effect[1]).ids[i] == ABSENT:
                continue
            if effect not in self._added:
                self._added[effect] = np.zeros(self._n, np.int64)
            self._added[effect][i] += sign

    def _effects_of(self, template: PodTemplate) -> list[tuple[str, str]]:
        """Return the rule and topology key of every count that a pod of the template is in."""
        pod = self._state.incoming
        effects = [
            ("existing", term.topology_key)
            for term in valid_terms(template.required_anti_affinity)
            if pod.is_meant_by(term)
        ]
        effects.extend(
            ("anti", term.topology_key)
            for term in pod.required_anti_affinity
            if term.selection.templates(self._templates)[template.index]
        )
        if pod.required_affinity and meets_all(pod, self._templates)[template.index]:
            effects.extend(("affinity", term.topology_key) for term in pod.required_affinity)
        return effects
