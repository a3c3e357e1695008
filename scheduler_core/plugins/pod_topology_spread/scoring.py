"""Scores of soft spread constraints: the fewer matching pods in a node's domains, the better.

Upstream: v1.36 plugins/podtopologyspread/scoring.go.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.api import Pod
from scheduler_core.cluster.arrays import ABSENT, BoolArray, IntArray
from scheduler_core.cluster.domains import named_domains, present_domains, sum_by_domain
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.row_sums import RowSums
from scheduler_core.cluster.topology_keys import HOSTNAME
from scheduler_core.framework.interface import MAX_NODE_SCORE, Scores
from scheduler_core.framework.scoring import go_div
from scheduler_core.plugins.pod_topology_spread.constraints import (
    NodeInclusion,
    SpreadConstraint,
    has_all_topology_keys,
)
from scheduler_core.plugins.pod_topology_spread.filtering import matching_pods

NOTHING_SCORED: Final = 2**62
"""The lowest score where no node is scored."""


@dataclass(frozen=True, eq=False)
class ConstraintScore:
    """One soft constraint: pods per domain int64 (n_domains,), and the weight of its topology.

    `counts` is None for the hostname, whose pods are counted node by node.
    """

    constraint: SpreadConstraint
    counts: IntArray | None
    weight: float

    def described(self, nodes: Nodes) -> Mapping[str, object]:
        key = self.constraint.topology_key
        facts = {
            "topologyKey": key,
            "maxSkew": self.constraint.max_skew,
            "topologyNormalizingWeight": round(self.weight, 6),
        }
        if self.counts is None:
            return facts
        ids = nodes.label(key).ids
        present = present_domains(ids, self.counts.size)
        pods = named_domains(nodes, key, self.counts, present)
        return facts | {"topologyValueToPodCounts": pods}


@dataclass(frozen=True, eq=False)
class ScoreState:
    """`require_all_topologies`: nodes that lack a label of some constraint are not scored."""

    constraints: tuple[ConstraintScore, ...]
    require_all_topologies: bool

    def described(self, nodes: Nodes) -> Mapping[str, object]:
        return {
            "constraints": [each.described(nodes) for each in self.constraints],
            "requireAllTopologies": self.require_all_topologies,
        }

    def ignored(self, nodes: Nodes) -> BoolArray:
        """Return the nodes that are not scored, bool (n,)."""
        if not self.require_all_topologies:
            return np.zeros(nodes.n, np.bool_)
        return ~has_all_topology_keys([each.constraint for each in self.constraints], nodes)


def prepare(
    constraints: tuple[SpreadConstraint, ...],
    pod: Pod,
    feasible: Nodes,
    all_nodes: Nodes,
    sums: RowSums,
    *,
    require_all_topologies: bool,
    comparison_operators: bool,
) -> ScoreState:
    """Count pods over all nodes, in the domains that the feasible ones are in."""
    counting = np.ones(all_nodes.n, np.bool_)
    scored = feasible
    if require_all_topologies:
        counting = has_all_topology_keys(constraints, all_nodes)
        scored = feasible.take(has_all_topology_keys(constraints, feasible))
    inclusion = NodeInclusion(pod, all_nodes, comparison_operators=comparison_operators)
    result = []
    for constraint in constraints:
        if constraint.topology_key == HOSTNAME:
            result.append(ConstraintScore(constraint, None, _weight(scored.n)))
            continue
        ids, n_domains = _domain_ids(constraint, scored)
        size = int(present_domains(ids, n_domains).sum())
        ids, n_domains = _domain_ids(constraint, all_nodes)
        ids[~(counting & inclusion.of(constraint))] = ABSENT
        counts = sum_by_domain(ids, matching_pods(constraint, all_nodes, sums), n_domains)
        result.append(ConstraintScore(constraint, counts, _weight(size)))
    return ScoreState(tuple(result), require_all_topologies)


def _domain_ids(constraint: SpreadConstraint, nodes: Nodes) -> tuple[IntArray, int]:
    """Return domain numbers int64 (n,) and how many there are.

    Nodes without the label are one domain, together with those whose label is empty.
    """
    column = nodes.label(constraint.topology_key)
    n_values = len(column.values)
    empty = nodes.cluster.label_id(constraint.topology_key, "")
    unlabelled = n_values if empty == ABSENT else empty
    return np.where(column.ids == ABSENT, unlabelled, column.ids), n_values + 1


def _weight(n_domains: int) -> float:
    """Return the weight of a topology: domains of a large one hold fewer pods each."""
    return math.log(n_domains + 2)


def score(state: ScoreState, nodes: Nodes, sums: RowSums) -> Scores:
    """Return the weighted number of matching pods around each node, int64 (n,)."""
    total = np.zeros(nodes.n, np.float64)
    for each in state.constraints:
        column = nodes.label(each.constraint.topology_key)
        if each.counts is None:
            counts = matching_pods(each.constraint, nodes, sums)
        else:
            counts = each.counts[column.ids]
        credit = counts * each.weight + (each.constraint.max_skew - 1)
        total += np.where(column.present, credit, 0.0)
    total[state.ignored(nodes)] = 0.0
    return _rounded(total)


def _rounded(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Scores:
    """Round half up, as Go's math.Round does with what is not negative."""
    whole = np.trunc(values)
    return (whole + (values - whole >= 0.5)).astype(np.int64)


def normalize(state: ScoreState, nodes: Nodes, scores: Scores) -> Scores:
    """Turn counts, of which less is better, into 0..100; nodes not scored get 0."""
    ignored = state.ignored(nodes)
    scored = scores[~ignored]
    lowest, highest = int(scored.min(initial=NOTHING_SCORED)), int(scored.max(initial=0))
    if highest == 0:
        return np.where(ignored, 0, MAX_NODE_SCORE)
    normalized = go_div(MAX_NODE_SCORE * (highest + lowest - scores), highest)
    return np.where(ignored, 0, normalized)
