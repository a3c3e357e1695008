"""Node selectors evaluated over all nodes at once, one look per distinct label value.

An invalid term selects nothing; only where upstream reports its error must a caller ask
`api.selectors` for it.

Upstream: v1.36 component-helpers/scheduling/corev1/nodeaffinity.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from scheduler_core.api import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm, PodSpec
from scheduler_core.api.selectors import (
    METADATA_NAME,
    field_requirement_matches,
    node_term_errors,
    node_term_is_empty,
    requirement_matches,
)
from scheduler_core.cluster.arrays import ABSENT, BoolArray
from scheduler_core.cluster.nodes import Nodes


@dataclass(frozen=True, slots=True)
class RequiredNodeAffinity:
    """A pod's `nodeSelector` and its required node affinity; a node has to meet both.

    `terms` are the valid terms of the affinity, of which one must hold; None if the pod has no
    required node affinity.
    """

    node_selector: Mapping[str, str]
    terms: tuple[NodeSelectorTerm, ...] | None

    @staticmethod
    def of(spec: PodSpec) -> RequiredNodeAffinity:
        affinity = spec.affinity.node_affinity if spec.affinity else None
        required = (
            affinity.required_during_scheduling_ignored_during_execution if affinity else None
        )
        return RequiredNodeAffinity(
            spec.node_selector, None if required is None else selecting_terms(required)
        )

    def matches(self, nodes: Nodes) -> BoolArray:
        """Return which nodes meet both, bool (n,)."""
        selected = np.ones(nodes.n, np.bool_)
        for key, value in self.node_selector.items():
            selected &= _has_one_of(nodes, key, (value,))
        if self.terms is not None:
            selected &= any_term_matches(self.terms, nodes)
        return selected


def selecting_terms(selector: NodeSelector) -> tuple[NodeSelectorTerm, ...]:
    """Return the terms that can select a node: the valid ones that are not empty."""
    return tuple(
        term
        for term in selector.node_selector_terms
        if not node_term_is_empty(term) and not node_term_errors(term)
    )


def any_term_matches(terms: Iterable[NodeSelectorTerm], nodes: Nodes) -> BoolArray:
    """Return which nodes one of the valid, non-empty terms selects, bool (n,)."""
    selected = np.zeros(nodes.n, np.bool_)
    for term in terms:
        selected |= term_matches(term, nodes)
    return selected


def term_matches(term: NodeSelectorTerm, nodes: Nodes) -> BoolArray:
    """Return which nodes meet all requirements of a valid, non-empty term, bool (n,)."""
    selected = np.ones(nodes.n, np.bool_)
    for requirement in term.match_expressions:
        selected &= _label_matches(requirement, nodes)
    for requirement in term.match_fields:
        selected &= _field_matches(requirement, nodes)
    return selected


def _label_matches(requirement: NodeSelectorRequirement, nodes: Nodes) -> BoolArray:
    key = requirement.key
    match requirement.operator:
        case "In":
            return _has_one_of(nodes, key, requirement.values)
        case "NotIn":
            return ~_has_one_of(nodes, key, requirement.values)
        case "Exists":
            return nodes.label(key).present
        case "DoesNotExist":
            return ~nodes.label(key).present
        case _:
            return nodes.label(key).map_bool(lambda v: requirement_matches(requirement, v))


def _has_one_of(nodes: Nodes, key: str, values: Iterable[str]) -> BoolArray:
    column = nodes.label(key)
    wanted = np.zeros(len(column.values) + 1, np.bool_)
    for value in values:
        number = nodes.cluster.label_id(key, value)
        if number != ABSENT:
            wanted[number] = True
    return wanted[column.ids]


def _field_matches(requirement: NodeSelectorRequirement, nodes: Nodes) -> BoolArray:
    if requirement.key != METADATA_NAME:
        # Upstream reads any other field as empty, on every node alike.
        return np.full(nodes.n, field_requirement_matches(requirement, "any"))
    named: BoolArray = np.isin(
        nodes.rows, [nodes.cluster.row_of.get(name, ABSENT) for name in requirement.values]
    )
    return named if requirement.operator == "In" else ~named
