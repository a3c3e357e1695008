"""Which victims would break a PodDisruptionBudget.

Upstream: v1.36 plugins/defaultpreemption/default_preemption.go (filterPodsWithPDBViolation).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from scheduler_core.api import PodDisruptionBudget
from scheduler_core.api.selectors import label_selector_is_empty, label_selector_matches
from scheduler_core.cluster.pods import PodInfo


@dataclass(frozen=True, slots=True)
class Budgets:
    """The budgets of a cluster in the order in which they are looked at.

    `spared` says that an eviction which breaks one leaves those after it as they are.
    """

    items: Sequence[PodDisruptionBudget]
    spared: bool = False


def broken_budgets(pods: Sequence[PodInfo], budgets: Budgets) -> dict[str, tuple[str, ...]]:
    """Return the names of the budgets that evicting the pods in order breaks, by uid of the pod.

    Every eviction uses up one disruption of each budget that covers the pod, so that the first
    ones may still be allowed.
    """
    allowed = [budget.status.disruptions_allowed for budget in budgets.items]
    broken: dict[str, tuple[str, ...]] = {}
    for pod in pods:
        namespace, labels = pod.pod.namespace, pod.template.labels
        for i, budget in enumerate(budgets.items):
            if covers(budget, namespace=namespace, name=pod.pod.name, labels=labels):
                if budgets.spared and allowed[i] <= 0:
                    broken[pod.uid] = (*broken.get(pod.uid, ()), budget.name)
                    break
                allowed[i] -= 1
                if allowed[i] < 0:
                    broken[pod.uid] = (*broken.get(pod.uid, ()), budget.name)
    return broken


def covers(
    budget: PodDisruptionBudget, *, namespace: str, name: str, labels: Mapping[str, str]
) -> bool:
    """Return whether evicting that pod counts against the budget.

    An empty selector covers none here, while the API server's eviction takes it to cover every pod
    of the namespace.
    """
    selector = budget.spec.selector
    if not labels or budget.namespace != namespace or selector is None:
        return False
    if label_selector_is_empty(selector) or not label_selector_matches(selector, labels):
        return False
    return name not in budget.status.disrupted_pods
