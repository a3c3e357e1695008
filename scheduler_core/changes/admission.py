"""What the API server does with a pod's label keys when the pod is created.

Upstream: v1.36 pkg/registry/core/pod/strategy.go (applyMatchLabelKeysAndMismatchLabelKeys).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from msgspec.structs import replace

from scheduler_core.api import (
    Affinity,
    LabelSelector,
    LabelSelectorRequirement,
    Pod,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
)

A = TypeVar("A", PodAffinity, PodAntiAffinity)


def admit(pod: Pod) -> Pod:
    """Return a pod as the API server stores it; one with a uid has been stored before."""
    return pod if pod.metadata.uid else merge_label_keys(pod)


def merge_label_keys(pod: Pod) -> Pod:
    """Merge `matchLabelKeys` and `mismatchLabelKeys` into the selectors beside them.

    Each key the pod has a label for becomes `key In [value]` (or `NotIn`), also beside other
    requirements of that key; a term without a selector stays as it is. Upstream repeats a
    requirement that is there already, to no effect; here it is left out.
    """
    if pod.spec.affinity is None and not pod.spec.topology_spread_constraints:
        return pod
    labels = pod.metadata.labels
    constraints = tuple(
        replace(c, label_selector=_merged(c.label_selector, labels, c.match_label_keys, ()))
        for c in pod.spec.topology_spread_constraints
    )
    spec = pod.spec
    if spec.affinity is not None:
        spec = replace(spec, affinity=_affinity(spec.affinity, labels))
    return replace(pod, spec=replace(spec, topology_spread_constraints=constraints))


def _affinity(affinity: Affinity, labels: Mapping[str, str]) -> Affinity:
    return replace(
        affinity,
        pod_affinity=_terms(affinity.pod_affinity, labels),
        pod_anti_affinity=_terms(affinity.pod_anti_affinity, labels),
    )


def _terms(affinity: A | None, labels: Mapping[str, str]) -> A | None:
    if affinity is None:
        return None
    return replace(
        affinity,
        required_during_scheduling_ignored_during_execution=tuple(
            _term(term, labels)
            for term in affinity.required_during_scheduling_ignored_during_execution
        ),
        preferred_during_scheduling_ignored_during_execution=tuple(
            replace(weighted, pod_affinity_term=_term(weighted.pod_affinity_term, labels))
            for weighted in affinity.preferred_during_scheduling_ignored_during_execution
        ),
    )


def _term(term: PodAffinityTerm, labels: Mapping[str, str]) -> PodAffinityTerm:
    selector = _merged(term.label_selector, labels, term.match_label_keys, term.mismatch_label_keys)
    return replace(term, label_selector=selector)


def _merged(
    selector: LabelSelector | None,
    labels: Mapping[str, str],
    match: Sequence[str],
    mismatch: Sequence[str],
) -> LabelSelector | None:
    if selector is None:
        return None
    wanted = [(key, "In") for key in match] + [(key, "NotIn") for key in mismatch]
    merged = [
        LabelSelectorRequirement(key=key, operator=operator, values=(labels[key],))
        for key, operator in wanted
        if key in labels
    ]
    fresh = [each for each in merged if each not in selector.match_expressions]
    return replace(selector, match_expressions=(*selector.match_expressions, *fresh))
