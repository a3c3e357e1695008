"""What protects and ranks the pods of a cluster: disruption budgets and priority classes.

Both are shown as uploaded: nothing in a simulated cluster updates a budget's status. Rows are
plain values, so that pages and REST show the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple
from uuid import UUID

from kviz.snapshots import selectors
from kviz.snapshots.models import Snapshot
from scheduler_core.api import LabelSelector, Pod, PodDisruptionBudget, PriorityClass
from scheduler_core.api.priority import PREEMPT_LOWER_PRIORITY, SYSTEM_PRIORITY_CLASSES
from scheduler_core.preemption.budgets import covers
from scheduler_core.trace.tables import TERMINAL_PHASES

LISTED: Final = 1_000
"""So many pods of one row are listed; the others are counted."""
LISTED_OF_ALL: Final = 100_000
"""The same of all budgets together: thousands of them may cover all pods."""


@dataclass(frozen=True)
class CoveredPod:
    """A pod, and the node it is on; empty for one without."""

    pod: str
    node: str


@dataclass(frozen=True)
class BudgetRow:
    """A PodDisruptionBudget and the pods whose eviction preemption counts against it.

    `min_available` and `max_unavailable` are as written, empty where not given; the numbers of
    pods are those of its status. Of the `n_pods` that it covers `pods` are the first: those on
    nodes come first, then by name.
    """

    namespace: str
    name: str
    selector: str
    min_available: str
    max_unavailable: str
    disruptions_allowed: int
    current_healthy: int
    desired_healthy: int
    expected_pods: int
    n_pods: int
    pods: tuple[CoveredPod, ...]


@dataclass(frozen=True)
class ClassRow:
    """A PriorityClass and the pods that name it, pods that are done left out.

    Of the `n_pods` that do `pods` are the first by name.

    `built_in` is one that every cluster has, whether or not it is in the upload. `is_known` is
    False for a name that pods use and that nothing in the upload defines; its `value` is None.
    """

    name: str
    value: int | None
    global_default: bool
    preemption_policy: str
    description: str
    built_in: bool
    is_known: bool
    n_pods: int
    pods: tuple[str, ...]


@dataclass(frozen=True)
class Policies:
    """Budgets by namespace and name; classes by falling value, unknown ones last."""

    budgets: tuple[BudgetRow, ...]
    classes: tuple[ClassRow, ...]


class _Pod(NamedTuple):
    """What of a pod concerns policies."""

    namespace: str
    name: str
    labels: Mapping[str, str]
    node: str
    priority_class: str

    @classmethod
    def of(cls, pod: Pod) -> _Pod:
        spec = pod.spec
        return cls(
            pod.namespace, pod.name, pod.metadata.labels, spec.node_name, spec.priority_class_name
        )


def policies_of(snapshot: Snapshot) -> Policies:
    """The policies of a snapshot, cached as its summary is."""
    return _policies_of(snapshot.pk, snapshot.sha256)


@lru_cache(maxsize=8)
def _policies_of(snapshot_id: UUID, sha256: str) -> Policies:
    """A stored sample may be replaced by a newer one, which has another `sha256`."""
    snapshot = Snapshot(pk=snapshot_id, sha256=sha256)
    return collect(selectors.snapshot_objects_each(snapshot=snapshot))


def collect(objects: Iterable[object]) -> Policies:
    """Find the policies among a cluster's objects, and the pods they concern."""
    pods: list[_Pod] = []
    budgets: list[PodDisruptionBudget] = []
    classes: list[PriorityClass] = []
    for item in objects:
        if isinstance(item, Pod) and item.status.phase not in TERMINAL_PHASES:
            pods.append(_Pod.of(item))
        elif isinstance(item, PodDisruptionBudget):
            budgets.append(item)
        elif isinstance(item, PriorityClass):
            classes.append(item)
    by_namespace: dict[str, list[_Pod]] = {}
    for pod in pods:
        by_namespace.setdefault(pod.namespace, []).append(pod)
    rows: list[BudgetRow] = []
    left = LISTED_OF_ALL
    for budget in sorted(budgets, key=lambda each: (each.namespace, each.name)):
        rows.append(_budget_row(budget, by_namespace.get(budget.namespace, ()), min(LISTED, left)))
        left -= len(rows[-1].pods)
    return Policies(
        budgets=tuple(rows),
        classes=_class_rows(classes, pods),
    )


def _budget_row(budget: PodDisruptionBudget, pods: Iterable[_Pod], listed: int) -> BudgetRow:
    covered = [
        pod
        for pod in pods
        if covers(budget, namespace=pod.namespace, name=pod.name, labels=pod.labels)
    ]
    covered.sort(key=lambda pod: (not pod.node, pod.name))
    spec, status = budget.spec, budget.status
    return BudgetRow(
        namespace=budget.namespace,
        name=budget.name,
        selector=selector_text(spec.selector),
        min_available="" if spec.min_available is None else str(spec.min_available),
        max_unavailable="" if spec.max_unavailable is None else str(spec.max_unavailable),
        disruptions_allowed=status.disruptions_allowed,
        current_healthy=status.current_healthy,
        desired_healthy=status.desired_healthy,
        expected_pods=status.expected_pods,
        n_pods=len(covered),
        pods=tuple(CoveredPod(f"{pod.namespace}/{pod.name}", pod.node) for pod in covered[:listed]),
    )


def _class_rows(classes: Iterable[PriorityClass], pods: Iterable[_Pod]) -> tuple[ClassRow, ...]:
    users: dict[str, list[str]] = {}
    for pod in pods:
        if pod.priority_class:
            users.setdefault(pod.priority_class, []).append(f"{pod.namespace}/{pod.name}")
    built_in = {known.name: known for known in SYSTEM_PRIORITY_CLASSES}
    known = built_in | {item.name: item for item in classes}
    rows = [_class_row(item, users, built_in) for item in known.values()]
    rows.sort(key=lambda row: (-(row.value or 0), row.name))
    unknown = (_unknown_class_row(name, users) for name in sorted(users.keys() - known.keys()))
    return (*rows, *unknown)


def _class_row(
    item: PriorityClass, users: Mapping[str, list[str]], built_in: Mapping[str, PriorityClass]
) -> ClassRow:
    return ClassRow(
        name=item.name,
        value=item.value,
        global_default=item.global_default,
        preemption_policy=item.preemption_policy or PREEMPT_LOWER_PRIORITY,
        description=item.description,
        built_in=item.name in built_in,
        is_known=True,
        n_pods=len(users.get(item.name, ())),
        pods=tuple(sorted(users.get(item.name, ()))[:LISTED]),
    )


def _unknown_class_row(name: str, users: Mapping[str, list[str]]) -> ClassRow:
    return ClassRow(
        name=name,
        value=None,
        global_default=False,
        preemption_policy="",
        description="",
        built_in=False,
        is_known=False,
        n_pods=len(users[name]),
        pods=tuple(sorted(users[name])[:LISTED]),
    )


def selector_text(selector: LabelSelector | None) -> str:
    """A selector as kubectl writes it (`app=web,tier in (a, b)`); empty if it has no term."""
    if selector is None:
        return ""
    terms = [f"{key}={value}" for key, value in sorted(selector.match_labels.items())]
    for each in selector.match_expressions:
        values = ", ".join(each.values)
        terms.append(
            {
                "In": f"{each.key} in ({values})",
                "NotIn": f"{each.key} notin ({values})",
                "Exists": each.key,
                "DoesNotExist": f"!{each.key}",
            }.get(each.operator, f"{each.key} {each.operator} {values}")
        )
    return ",".join(terms)
