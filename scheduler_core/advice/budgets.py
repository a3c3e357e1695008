"""PodDisruptionBudgets: how many pods each wants healthy, and how many it has.

The disruption controller knows an owner's scale. Here it is the number of pods that the budget
covers, and a pod on a node counts as healthy: there are no kubelets to say otherwise.

Upstream: v1.36 pkg/controller/disruption/disruption.go (getExpectedPodCount).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from scheduler_core.api import Pod, PodDisruptionBudget
from scheduler_core.api.selectors import label_selector_matches
from scheduler_core.changes.owners import is_terminating
from scheduler_core.trace.tables import TERMINAL_PHASES


@dataclass(frozen=True, slots=True)
class Budget:
    """A budget and how many of its pods have to be healthy, as things are now."""

    budget: PodDisruptionBudget
    desired: int

    @property
    def key(self) -> str:
        return self.budget.key

    def covers(self, pod: Pod) -> bool:
        """Return whether the pod counts; an empty selector covers all of the namespace."""
        selector = self.budget.spec.selector
        if selector is None or pod.namespace != self.budget.namespace:
            return False
        return label_selector_matches(selector, pod.metadata.labels)


def budgets_over(budgets: Iterable[PodDisruptionBudget], pods: Sequence[Pod]) -> list[Budget]:
    """Return the budgets with what they want of these pods; finished ones do not count."""
    there = [pod for pod in pods if pod.status.phase not in TERMINAL_PHASES]
    found = []
    for each in budgets:
        covering = Budget(each, 0)
        found.append(Budget(each, _desired(each, sum(map(covering.covers, there)))))
    return found


def is_healthy(pod: Pod) -> bool:
    """Return whether the pod counts as healthy: on a node, not finished, not on its way out."""
    is_over = pod.status.phase in TERMINAL_PHASES or is_terminating(pod)
    return bool(pod.spec.node_name) and not is_over


def _desired(budget: PodDisruptionBudget, n_expected: int) -> int:
    spec = budget.spec
    if spec.max_unavailable is not None:
        return max(n_expected - _scaled(spec.max_unavailable, n_expected), 0)
    return 0 if spec.min_available is None else _scaled(spec.min_available, n_expected)


def _scaled(value: int | str, n_expected: int) -> int:
    """Return a number, or a percentage rounded up."""
    if isinstance(value, int):
        return value
    text = value.removesuffix("%")
    return -(-int(text) * n_expected // 100) if value.endswith("%") and text.isdecimal() else 0
