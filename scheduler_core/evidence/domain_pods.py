"""The pods of a node's topology domain that a term or constraint counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scheduler_core.api import LabelSelector
from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.pods import PodInfo
from scheduler_core.evidence.node_labels import expression_text
from scheduler_core.evidence.requirement import MAX_NAMED, AtNode
from scheduler_core.wording import say, series, some_of


@dataclass(frozen=True, slots=True)
class DomainPods:
    """`n` counted pods, some of them by name, each with its node.

    A pod that a term counts twice makes two.
    """

    n: int
    some: tuple[tuple[str, str], ...]

    def text_in(self, domain: str | None) -> str:
        """Return the names: `shop/a on n1, shop/b on n2 and 3 more`.

        The node is left out where the domain bears its name.
        """
        names = [
            pod if node == domain else say("pod.on_node", "{pod} on {node}", pod=pod, node=node)
            for pod, node in self.some
        ]
        return some_of(names, self.n, MAX_NAMED)


def domain_pods(
    at: AtNode, topology_key: str, weights: IntArray | BoolArray, *, terminating: bool = True
) -> DomainPods:
    """Count the pods in the node's domain by the weights of their templates (n_templates,).

    Without the label there is no domain and so no pod. Without `terminating` pods that are being
    deleted do not count.
    """
    ids = at.nodes.label(topology_key).ids
    own = int(at.node.label(topology_key).ids[0])
    if own < 0:
        return DomainPods(0, ())
    rows = at.nodes.rows[ids == own]
    counted = _Counted(at, weights, terminating)
    per_row = counted.per_row()
    n = int(per_row[rows].sum()) + counted.added()
    some: list[tuple[str, str]] = []
    for row in rows[per_row[rows] > 0].tolist():
        for pod in counted.on_row(row):
            some.append((pod.key, at.nodes.cluster.names[row]))
            if len(some) == MAX_NAMED:
                return DomainPods(n, tuple(some))
    some += [(pod.key, at.node_name) for pod in counted.nominated()]
    return DomainPods(n, tuple(some[:MAX_NAMED]))


class _Counted:
    """Which pods count, by the weights of their templates."""

    def __init__(self, at: AtNode, weights: IntArray | BoolArray, terminating: bool) -> None:
        self._at = at
        self._weights = weights
        self._terminating = terminating

    def per_row(self) -> IntArray:
        """Return the sum of weights of placed pods, int64 (n_rows,)."""
        cluster = self._at.nodes.cluster
        pods = cluster.pods
        row = pods.row[: pods.n_slots]
        known = np.append(self._weights, 0)
        amounts = known[np.minimum(pods.template[: row.size], self._weights.size)]
        counts = row >= 0
        if not self._terminating:
            counts &= ~pods.terminating[: row.size]
        sums = np.bincount(row[counts], weights=amounts[counts], minlength=cluster.n_rows)
        return sums.astype(np.int64)

    def on_row(self, row: int) -> Iterator[PodInfo]:
        gone = {pod.uid for change in self._at.node.changes for pod in change.removed}
        for pod in self._at.nodes.cluster.pods.on_row(row):
            counts = self._terminating or not pod.terminating
            if counts and self._weight(pod) and pod.uid not in gone:
                yield pod

    def nominated(self) -> Iterator[PodInfo]:
        for change in self._at.node.changes:
            yield from (pod for pod in change.added if self._weight(pod))

    def added(self) -> int:
        """Return what the hypothetical pods of the node add; below 0 if some are gone."""
        return sum(
            sum(map(self._weight, change.added)) - sum(map(self._weight, change.removed))
            for change in self._at.node.changes
        )

    def _weight(self, pod: PodInfo) -> int:
        index = pod.template.index
        return int(self._weights[index]) if index < self._weights.size else 0


def selector_text(selector: LabelSelector | None) -> str:
    """Return a label selector as people write it: `app=db, tier in (a, b)`."""
    if selector is None:
        return say("pods.none", "no pods")
    parts = [f"{key}={value}" for key, value in selector.match_labels.items()]
    parts += [
        expression_text(each.key, each.operator, each.values) for each in selector.match_expressions
    ]
    return series(parts) or say("pods.any_labels", "any labels")
