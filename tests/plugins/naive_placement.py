"""Spreading and inter-pod affinity written down node by node, to compare the columns with.

Slow on purpose: every question goes through all nodes and all pods, as upstream's code does.
Upstream: v1.36 plugins/podtopologyspread and plugins/interpodaffinity.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from scheduler_core.api import Node, Pod, PodAffinityTerm, TopologySpreadConstraint
from scheduler_core.api.selectors import (
    find_untolerated_taint,
    label_selector_matches,
    required_node_affinity_matches,
)
from tests.plugins.placement import HOST

Placement = Mapping[str, tuple[Node, list[Pod]]]
"""Every node with the pods on it, by name."""


def is_included(constraint: TopologySpreadConstraint, pod: Pod, node: Node) -> bool:
    if constraint.node_affinity_policy != "Ignore" and not required_node_affinity_matches(
        pod.spec, node.metadata.labels, node.name
    ):
        return False
    taint = find_untolerated_taint(
        node.spec.taints, pod.spec.tolerations, ("NoSchedule", "NoExecute")
    )
    return constraint.node_taints_policy != "Honor" or taint is None


def n_matching(constraint: TopologySpreadConstraint, pod: Pod, pods: Iterable[Pod]) -> int:
    selector = constraint.label_selector
    if selector is not None and not selector.match_labels and not selector.match_expressions:
        return 0
    return sum(
        other.namespace == pod.namespace
        and other.metadata.deletion_timestamp is None
        and label_selector_matches(selector, other.metadata.labels)
        for other in pods
    )


def spread_rejects(pod: Pod, placement: Placement) -> dict[str, bool]:
    """Return the rejected nodes; True where a label is missing."""
    constraints = [
        each
        for each in pod.spec.topology_spread_constraints
        if each.when_unsatisfiable == "DoNotSchedule"
    ]
    keys = {each.topology_key for each in constraints}
    counts: list[Counter[str]] = []
    for constraint in constraints:
        found: Counter[str] = Counter()
        for node, pods in placement.values():
            labels = node.metadata.labels
            if keys <= labels.keys() and is_included(constraint, pod, node):
                found[labels[constraint.topology_key]] += n_matching(constraint, pod, pods)
        counts.append(found)
    rejected = {}
    for name, (node, _) in placement.items():
        for constraint, found in zip(constraints, counts, strict=True):
            domain = node.metadata.labels.get(constraint.topology_key)
            if domain is None:
                rejected[name] = True
                break
            lowest = min(found.values(), default=2**31 - 1)
            if len(found) < (constraint.min_domains or 1):
                lowest = 0
            own = label_selector_matches(constraint.label_selector, pod.metadata.labels)
            if found[domain] + own - lowest > constraint.max_skew:
                rejected[name] = False
                break
    return rejected


def spread_scores(pod: Pod, placement: Placement, feasible: list[str]) -> dict[str, int]:
    """Return the raw scores of the feasible nodes; nodes that lack a label score 0."""
    constraints = [
        each
        for each in pod.spec.topology_spread_constraints
        if each.when_unsatisfiable == "ScheduleAnyway"
    ]
    keys = {each.topology_key for each in constraints}
    scored = [name for name in feasible if keys <= placement[name][0].metadata.labels.keys()]
    totals = dict.fromkeys(feasible, 0.0)
    for constraint in constraints:
        key = constraint.topology_key
        domains = {placement[name][0].metadata.labels[key] for name in scored}
        size = len(scored) if key == HOST else len(domains)
        for name in scored:
            domain = placement[name][0].metadata.labels[key]
            count = sum(
                n_matching(constraint, pod, pods)
                for node, pods in placement.values()
                if (key == HOST and node.name == name)
                or (
                    key != HOST
                    and keys <= node.metadata.labels.keys()
                    and node.metadata.labels[key] == domain
                    and is_included(constraint, pod, node)
                )
            )
            totals[name] += count * math.log(size + 2) + (constraint.max_skew - 1)
    return {name: math.floor(total + 0.5) for name, total in totals.items()}


# ---------------------------------------------------------------- inter-pod affinity


def means(
    term: PodAffinityTerm, owner: Pod, other: Pod, namespaces: Mapping[str, Mapping[str, str]]
) -> bool:
    """Whether a term of `owner` is about `other`; namespaces are given with their labels."""
    named = set(term.namespaces)
    if not named and term.namespace_selector is None:
        named = {owner.namespace}
    selected = label_selector_matches(term.namespace_selector, namespaces.get(other.namespace, {}))
    return (other.namespace in named or selected) and label_selector_matches(
        term.label_selector, other.metadata.labels
    )


def _terms(pod: Pod, kind: str, strength: str) -> Sequence[Any]:
    affinity = pod.spec.affinity and getattr(pod.spec.affinity, kind)
    return getattr(affinity, f"{strength}_during_scheduling_ignored_during_execution", ())


def affinity_rejects(
    pod: Pod, placement: Placement, namespaces: Mapping[str, Mapping[str, str]]
) -> dict[str, str]:
    """Return which rule rejects each rejected node: affinity, anti or existing."""
    near, far = (
        _terms(pod, "pod_affinity", "required"),
        _terms(pod, "pod_anti_affinity", "required"),
    )
    wanted: Counter[tuple[str, str]] = Counter()
    unwanted: Counter[tuple[str, str | None]] = Counter()
    excluding: Counter[tuple[str, str]] = Counter()
    for node, pods in placement.values():
        labels = node.metadata.labels
        for other in pods:
            meets_all = bool(near) and all(means(term, pod, other, namespaces) for term in near)
            close = [term for term in near if meets_all]
            apart = [term for term in far if means(term, pod, other, namespaces)]
            hating = [
                term
                for term in _terms(other, "pod_anti_affinity", "required")
                if means(term, other, pod, namespaces)
            ]
            for terms, counts in ((close, wanted), (apart, unwanted), (hating, excluding)):
                for term in terms:
                    if term.topology_key in labels:
                        counts[term.topology_key, labels[term.topology_key]] += 1
    first = not wanted and all(means(term, pod, pod, namespaces) for term in near)
    rejected = {}
    for name, (node, _) in placement.items():
        labels = node.metadata.labels
        pairs = [(term.topology_key, labels.get(term.topology_key)) for term in near]
        if not all(value is not None and (first or wanted[key, value] > 0) for key, value in pairs):
            rejected[name] = "affinity"
        elif any(unwanted[term.topology_key, labels.get(term.topology_key)] for term in far):
            rejected[name] = "anti-affinity"
        elif any(excluding[pair] for pair in labels.items()):
            rejected[name] = "existing"
    return rejected


def affinity_scores(
    pod: Pod, placement: Placement, namespaces: Mapping[str, Mapping[str, str]], hard_weight: int
) -> dict[str, int]:
    weights: Counter[tuple[str, str]] = Counter()
    for node, pods in placement.values():
        labels = node.metadata.labels
        for other in pods:
            drawn = [
                (sign * each.weight, each.pod_affinity_term)
                for kind, sign in (("pod_affinity", 1), ("pod_anti_affinity", -1))
                for owner, target in ((pod, other), (other, pod))
                for each in _terms(owner, kind, "preferred")
                if means(each.pod_affinity_term, owner, target, namespaces)
            ]
            drawn += [
                (hard_weight, term)
                for term in _terms(other, "pod_affinity", "required")
                if means(term, other, pod, namespaces)
            ]
            for weight, term in drawn:
                if term.topology_key in labels:
                    weights[term.topology_key, labels[term.topology_key]] += weight
    return {
        name: sum(weights[pair] for pair in node.metadata.labels.items())
        for name, (node, _) in placement.items()
    }
