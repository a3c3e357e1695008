"""How much the preferred terms of the pod and of others draw it to each domain.

Upstream: v1.36 plugins/interpodaffinity/scoring.go.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from scheduler_core.cluster.arrays import IntArray
from scheduler_core.cluster.domains import pairs_with_pods, sum_by_domain
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.pods import AffinityTerm, PodTemplate
from scheduler_core.cluster.row_sums import RowSums
from scheduler_core.framework.handle import Handle
from scheduler_core.framework.interface import MAX_NODE_SCORE, Scores
from scheduler_core.plugins.inter_pod_affinity.terms import Incoming, TermTable, valid_terms


@dataclass(frozen=True, eq=False)
class ScoreState:
    """Summed weights per domain, int64 (n_domains,), by topology key."""

    topology_score: Mapping[str, IntArray]

    def described(self, nodes: Nodes) -> Mapping[str, object]:
        return {"topologyScore": pairs_with_pods(nodes, self.topology_score)}


def scoring_terms(template: PodTemplate, hard_weight: int) -> list[AffinityTerm]:
    """Return the terms with which pods of a template draw (weight > 0) or repel others.

    Their required affinity counts with `hard_weight`, unless that is 0.
    """
    near = valid_terms(template.required_affinity) if hard_weight > 0 else ()
    return [
        *(replace(term, weight=hard_weight) for term in near),
        *valid_terms(template.preferred_affinity),
        *_negative(valid_terms(template.preferred_anti_affinity)),
    ]


def _negative(terms: Iterable[AffinityTerm]) -> Iterable[AffinityTerm]:
    return (replace(term, weight=-term.weight) for term in terms)


def prepare(pod: Incoming, handle: Handle, existing: TermTable, sums: RowSums) -> ScoreState | None:
    """Add up weights over all pods; None if no term meets a pod in any domain."""
    meant = existing.about(pod)
    if not meant and not pod.preferred:
        return None
    all_nodes, templates = handle.all_nodes(), handle.cluster.templates
    result: dict[str, IntArray] = {}

    def add(topology_key: str, weight: int, per_row: IntArray) -> None:
        column = all_nodes.label(topology_key)
        counts = sum_by_domain(column.ids, per_row[all_nodes.rows], len(column.values))
        if counts.any():
            known = result.get(topology_key)
            result[topology_key] = weight * counts if known is None else known + weight * counts

    for each in meant:
        per_row = sums.of(("scoring", each.number), each.weights(len(templates)))
        add(each.term.topology_key, each.term.weight, per_row)
    for term in pod.preferred:
        per_row = sums.of(term.selection.key, term.selection.templates(templates))
        add(term.topology_key, term.weight, per_row)
    return ScoreState(result) if result else None


def score(state: ScoreState, nodes: Nodes) -> Scores:
    """Return the summed weights of each node's domains, int64 (n,); may be negative."""
    total = np.zeros(nodes.n, np.int64)
    for key, weights in state.topology_score.items():
        total += np.append(weights, 0)[nodes.label(key).ids]
    return total


def normalize(scores: Scores) -> Scores:
    """Stretch scores (n,) so that the lowest becomes 0 and the highest 100; equal ones become 0."""
    lowest, highest = int(scores.min()), int(scores.max())
    if highest == lowest:
        return np.zeros_like(scores)
    stretched = MAX_NODE_SCORE * ((scores - lowest) / (highest - lowest))
    return stretched.astype(np.int64)
