"""How many matching pods each domain has, and which nodes a further pod would skew too much.

Upstream: v1.36 plugins/podtopologyspread/filtering.go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from scheduler_core.api import Pod
from scheduler_core.cluster.arrays import ABSENT, BoolArray, IntArray
from scheduler_core.cluster.domains import named_domains, present_domains, sum_by_domain
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.cluster.row_sums import RowSums
from scheduler_core.framework.status import Code, Verdict
from scheduler_core.plugins.pod_topology_spread.constraints import (
    NodeInclusion,
    SpreadConstraint,
    has_all_topology_keys,
)

CONSTRAINTS_NOT_MATCH: Final = "node(s) didn't match pod topology spread constraints"
NODE_LABEL_NOT_MATCH: Final = f"{CONSTRAINTS_NOT_MATCH} (missing required label)"
NO_MINIMUM: Final = 2**31 - 1
"""The global minimum where no domain counts, as upstream initialises it."""


@dataclass(frozen=True, eq=False)
class DomainCounts:
    """One constraint's domains, numbered as the values of its label.

    `counts` int64 (n_domains,) are matching pods; `present` bool (n_domains,) tells which
    domains take part; `self_match` is 1 if the pod itself matches the selector.
    """

    constraint: SpreadConstraint
    counts: IntArray
    present: BoolArray
    self_match: int

    @cached_property
    def _smallest(self) -> tuple[int, int, int]:
        """The domain of the lowest count, that count, and the lowest of the other domains."""
        domains = np.flatnonzero(self.present)
        if not domains.size:
            return ABSENT, NO_MINIMUM, NO_MINIMUM
        counts = self.counts[domains]
        at = int(counts.argmin())
        lowest = int(counts[at])
        beside = int(np.partition(counts, 1)[1]) if counts.size > 1 else NO_MINIMUM
        return int(domains[at]), lowest, beside

    @property
    def too_few_domains(self) -> bool:
        return int(self.present.sum()) < self.constraint.min_domains

    @property
    def global_minimum(self) -> int:
        return 0 if self.too_few_domains else self._smallest[1]

    def minimum_if(self, domain: int, count: int) -> int:
        """Return the global minimum if `domain` alone had another count."""
        if self.too_few_domains:
            return 0
        emptiest, lowest, beside = self._smallest
        return min(count, beside if domain == emptiest else lowest)

    @cached_property
    def skewed(self) -> BoolArray:
        """Whether a node of each domain is too skewed, bool (n_domains + 1,); last: no domain."""
        skew = self.counts + (self.self_match - self.global_minimum)
        return np.append(skew > self.constraint.max_skew, False)

    def described(self, nodes: Nodes) -> Mapping[str, object]:
        key = self.constraint.topology_key
        return {
            "topologyKey": key,
            "maxSkew": self.constraint.max_skew,
            "minDomains": self.constraint.min_domains,
            "selfMatchNum": self.self_match,
            "minMatchNum": self.global_minimum,
            "tpValueToMatchNum": named_domains(nodes, key, self.counts, self.present),
        }

    def is_skewed_if(self, domain: int, added: int) -> bool:
        """Whether a node of the domain is too skewed once the domain has `added` more pods."""
        count = int(self.counts[domain]) + added
        skew = count + self.self_match - self.minimum_if(domain, count)
        return skew > self.constraint.max_skew


@dataclass(frozen=True, eq=False)
class FilterState:
    """Counts of every hard constraint of the pod, in the pod's order."""

    domains: tuple[DomainCounts, ...]

    @property
    def constraints(self) -> list[SpreadConstraint]:
        return [each.constraint for each in self.domains]

    def described(self, nodes: Nodes) -> Mapping[str, object]:
        return {"constraints": [each.described(nodes) for each in self.domains]}


def count_domains(
    constraints: tuple[SpreadConstraint, ...],
    pod: Pod,
    nodes: Nodes,
    sums: RowSums,
    *,
    comparison_operators: bool,
) -> FilterState:
    """Count matching pods per domain over all `nodes` that take part.

    A node takes part in a constraint if it has the labels of all constraints and the
    constraint's inclusion policies let it.
    """
    labelled = has_all_topology_keys(constraints, nodes)
    inclusion = NodeInclusion(pod, nodes, comparison_operators=comparison_operators)
    domains = []
    for constraint in constraints:
        column = nodes.label(constraint.topology_key)
        ids = np.where(labelled & inclusion.of(constraint), column.ids, ABSENT)
        n_domains = len(column.values)
        domains.append(
            DomainCounts(
                constraint,
                sum_by_domain(ids, matching_pods(constraint, nodes, sums), n_domains),
                present_domains(ids, n_domains),
                int(constraint.matches(pod.metadata.labels)),
            )
        )
    return FilterState(tuple(domains))


def matching_pods(constraint: SpreadConstraint, nodes: Nodes, sums: RowSums) -> IntArray:
    """Return how many pods of each node the constraint counts, int64 (n,)."""
    if constraint.selects_everything:
        return np.zeros(nodes.n, np.int64)
    templates = constraint.selection.templates(nodes.cluster.templates)
    if nodes.changes or nodes.bare:
        return nodes.count_pods(templates, terminating=False)
    return sums.of(constraint.selection.key, templates)[nodes.rows]


def filter_nodes(
    state: FilterState, pod: Pod, nodes: Nodes, *, comparison_operators: bool
) -> Verdict:
    """Reject nodes without the label of a constraint, and nodes of domains that are too full.

    The first constraint a node fails decides the reason.
    """
    added = _Added(state, pod, nodes, comparison_operators) if nodes.changes else None
    missing = np.zeros(nodes.n, np.bool_)
    skewed = np.zeros(nodes.n, np.bool_)
    for i, domains in enumerate(state.domains):
        ids = nodes.label(domains.constraint.topology_key).ids
        too_full = domains.skewed[ids]
        if added is not None:
            for at, n_added in added.to(i):
                too_full[at] = domains.is_skewed_if(int(ids[at]), n_added)
        missing |= (ids == ABSENT) & ~skewed
        skewed |= too_full & ~missing
    rejections = [
        (missing, Code.UNSCHEDULABLE_AND_UNRESOLVABLE, NODE_LABEL_NOT_MATCH),
        (skewed, Code.UNSCHEDULABLE, CONSTRAINTS_NOT_MATCH),
    ]
    return Verdict.of(nodes.n, [each for each in rejections if each[0].any()])


def added_to_domains(
    state: FilterState, pod: Pod, node: Nodes, *, comparison_operators: bool
) -> list[int]:
    """Return what the hypothetical pods of a single node add to its domain, per constraint."""
    added = _Added(state, pod, node, comparison_operators)
    return [sum(n for _, n in added.to(i)) for i in range(len(state.domains))]


class _Added:
    """What the hypothetical pods of each node add to its own domain (upstream: AddPod, RemovePod).

    Unlike the counts of PreFilter these include pods being deleted and, for an empty selector,
    every pod of the namespace: upstream's two ways of counting differ there.
    """

    def __init__(
        self, state: FilterState, pod: Pod, nodes: Nodes, comparison_operators: bool
    ) -> None:
        self._domains = state.domains
        self._nodes = nodes
        self._at = [i for i, change in enumerate(nodes.changes) if change.added or change.removed]
        changed = nodes.take(np.array(self._at, np.int64))
        self._labelled = has_all_topology_keys(state.constraints, changed)
        self._inclusion = NodeInclusion(pod, changed, comparison_operators=comparison_operators)

    def to(self, i: int) -> list[tuple[int, int]]:
        """Return (position of the node, pods added) for constraint `i`, where any are."""
        constraint = self._domains[i].constraint
        counts = self._labelled & self._inclusion.of(constraint)
        templates = constraint.selection.templates(self._nodes.cluster.templates)

        def matching(pods: tuple[PodInfo, ...]) -> int:
            return sum(bool(templates[pod.template.index]) for pod in pods)

        result = []
        for at, counted in zip(self._at, counts.tolist(), strict=True):
            change = self._nodes.changes[at]
            n_added = matching(change.added) - matching(change.removed) if counted else 0
            if n_added:
                result.append((at, n_added))
        return result
