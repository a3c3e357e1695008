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


@dataclass(frozen=True, slots=True)
class Disruptions:
    """What a budget says to some pods that leave: it allows `n_allowed` of those it covers."""

    budget: str
    pods: tuple[str, ...]
    n_allowed: int

    @property
    def are_allowed(self) -> bool:
        return len(self.pods) <= self.n_allowed


def disruptions(
    leaving: Sequence[Pod], budgets: Iterable[PodDisruptionBudget], pods: Sequence[Pod]
) -> tuple[Disruptions, ...]:
    """Return the budgets that cover pods that leave; `pods` are all there are."""
    found = []
    for each in budgets:
        covering = Budget(each, 0)
        covered = tuple(pod.key for pod in leaving if covering.covers(pod))
        if covered:
            found.append(Disruptions(each.key, covered, _allowed(each, pods)))
    return tuple(found)


def against(found: Iterable[Disruptions]) -> frozenset[str]:
    """Return the pods that leave though a budget does not allow it: those after the allowed."""
    return frozenset(pod for each in found for pod in each.pods[each.n_allowed :])


def _allowed(budget: PodDisruptionBudget, pods: Sequence[Pod]) -> int:
    """Return how many pods a budget lets leave now.

    The disruption controller writes that; of a budget that it has not seen it is worked out.
    """
    status = budget.status
    if status.expected_pods or status.disruptions_allowed:
        return status.disruptions_allowed
    near = [pod for pod in pods if pod.namespace == budget.namespace]
    (known,) = budgets_over([budget], near)
    return max(sum(known.covers(pod) and is_healthy(pod) for pod in near) - known.desired, 0)


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
