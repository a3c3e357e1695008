"""What plugins see: any nodes of the cluster, as they are or as they might be.

A `Nodes` view holds `n` nodes; every column it hands out is aligned with them. `what_if` makes
a view of *independent hypothetical worlds*: in the world of node i only that node differs, by
pods added to it or taken off. Two-pass filtering with nominated pods and the dry runs of
preemption are filters over such views.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from scheduler_core.api import Node, Taint
from scheduler_core.cluster.arrays import BoolArray, Coded, IntArray
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.pods import HostPort, PodInfo, PodTemplate
from scheduler_core.cluster.resource_states import ResourceStates


@dataclass(frozen=True, slots=True)
class ImageColumn:
    """One image across nodes: `present` bool (n,), its size, and how many nodes have it.

    The last, int64 (n,), is what each node says that has the image; see `cluster/images.py`.
    """

    present: BoolArray
    size_bytes: int
    n_nodes: IntArray


@dataclass(slots=True)
class Change:
    """How one node's pods differ from the cluster's in a hypothetical world; never changed."""

    added: tuple[PodInfo, ...] = ()
    removed: tuple[PodInfo, ...] = ()
    _led: tuple[ResourceStates | None, int, int] = field(
        default=(None, 0, 0), init=False, repr=False, compare=False
    )

    def leads(self, states: ResourceStates, before: int) -> int:
        """Return the resource state that a node gets into; the last answer is remembered."""
        if not self.added and not self.removed:
            return before
        known, known_before, after = self._led
        if known is not states or known_before != before:
            after = states.with_change(before, self.added, self.removed)
            self._led = states, before, after
        return after


NO_CHANGE = Change()


@dataclass(frozen=True, slots=True)
class _ChangedPods:
    """All pods that a hypothetical view adds (`sign` 1) or takes off (-1), one entry each.

    `at` is the position of the node, `template` the pod's, both int64 (n_changed,).
    """

    at: IntArray
    template: IntArray
    sign: IntArray
    terminating: BoolArray


class Nodes:
    """A view of `n` nodes. `rows` int64 (n,) are their stable rows in the cluster's columns."""

    def __init__(
        self,
        cluster: ClusterColumns,
        rows: IntArray,
        changes: Sequence[Change] = (),
        *,
        bare: bool = False,
    ) -> None:
        self.cluster = cluster
        self.rows = rows
        self.n = rows.size
        self.changes = changes
        """One per node, or empty when no node is hypothetical."""
        self._resource_states: IntArray | None = None
        self.bare = bare
        """Node objects only, as upstream rebuilds them from an extender's reply: the view shows
        no pods and no images, whatever the cluster has."""

    def __len__(self) -> int:
        return self.n

    def take(self, which: IntArray | BoolArray) -> Nodes:
        """Return the nodes at those positions (int64) or where true (bool), changes and all."""
        rows = self.rows[which]
        if not self.changes:
            return Nodes(self.cluster, rows, bare=self.bare)
        picked = np.arange(self.n)[which]
        return Nodes(self.cluster, rows, [self.changes[i] for i in picked])

    def slice(self, start: int, end: int) -> Nodes:
        """Return the nodes from one position to before another, changes and all."""
        changes = self.changes[start:end]
        return Nodes(self.cluster, self.rows[start:end], changes, bare=self.bare)

    def with_changes(self, changes: Sequence[Change]) -> Nodes:
        """Return the same nodes in hypothetical worlds, one change for each."""
        return Nodes(self.cluster, self.rows, changes)

    def what_if(self, changes: Mapping[int, Change]) -> Nodes:
        """Return the same nodes with the pods of some, given by position, changed.

        A node that had changes gets the new ones instead.
        """
        base = self.changes or [NO_CHANGE] * self.n
        return Nodes(self.cluster, self.rows, [changes.get(i, base[i]) for i in range(self.n)])

    # ------------------------------------------------------------ the node objects

    def node(self, i: int) -> Node:
        node = self.cluster.nodes[int(self.rows[i])]
        if node is None:
            raise LookupError(f"no node in row {self.rows[i]}")
        return node

    def name(self, i: int) -> str:
        return self.cluster.names[int(self.rows[i])]

    @property
    def names(self) -> list[str]:
        names = self.cluster.names
        return [names[row] for row in self.rows.tolist()]

    def pods(self, i: int) -> list[PodInfo]:
        """Return the pods on node i, in the scheduler's order, changes applied."""
        if self.bare:
            return []
        on_node = self.cluster.pods.on_row(int(self.rows[i]))
        if not self.changes:
            return list(on_node)
        change = self.changes[i]
        gone = {pod.uid for pod in change.removed}
        return [pod for pod in on_node if pod.uid not in gone] + list(change.added)

    def freed_ports(self, i: int) -> Set[HostPort]:
        """Return the ports of node i that count as free though a pod of the cluster has them."""
        return self.cluster.freed_ports.get(int(self.rows[i]), frozenset())

    # ------------------------------------------------------------ columns of the nodes

    @property
    def unschedulable(self) -> BoolArray:
        return self.cluster.unschedulable[self.rows]

    @property
    def taints(self) -> Coded[tuple[Taint, ...]]:
        """Return the taint lists of the nodes; few are distinct."""
        return Coded(self.cluster.taint_ids[self.rows], self.cluster.taint_lists.values)

    @property
    def declared_features(self) -> Coded[frozenset[str]]:
        return Coded(self.cluster.feature_ids[self.rows], self.cluster.feature_sets.values)

    def label(self, key: str) -> Coded[str]:
        """Return the values of one label; -1 where a node lacks it."""
        ids, values = self.cluster.label(key)
        return Coded(ids[self.rows], values)

    def image(self, name: str) -> ImageColumn:
        """Return where an image (normalized name) is, over all nodes counted in `n_nodes`."""
        present, size_bytes, n_nodes = self.cluster.image(name)
        here = present[self.rows] & (not self.bare)
        return ImageColumn(here, size_bytes, n_nodes[self.rows])

    def allocatable(self, resource: str) -> IntArray:
        """Return int64 (n,): cpu in milli, others in units or bytes; 0 where a node has none."""
        return self.cluster.allocatable_of(resource)[self.rows]

    @property
    def allowed_pods(self) -> IntArray:
        return self.cluster.allowed_pods[self.rows]

    # ------------------------------------------------------------ columns that pods change

    @property
    def resource_states(self) -> IntArray:
        """Return the numbers of the nodes' resource states, int64 (n,).

        Nodes with one number have the same resources, and as much of them is taken.
        """
        if self._resource_states is None:
            states = self.cluster.resource_state[self.rows]
            if self.changes:
                known = self.cluster.resource_states
                pairs = zip(self.changes, states.tolist(), strict=True)
                states = np.array([change.leads(known, before) for change, before in pairs])
            self._resource_states = states
        return self._resource_states

    def requested(self, resource: str) -> IntArray:
        """Return what the pods on each node request of a resource, int64 (n,)."""
        column = self.cluster.requested_of(resource)[self.rows]
        if not self.changes and not self.bare:
            return column
        return self._with_changes(
            column,
            ("requested", resource),
            lambda template: template.requests.placed.get(resource, 0),
        )

    @cached_property
    def nonzero_cpu_milli(self) -> IntArray:
        """Return requested cpu with a default for containers that name none, int64 (n,)."""
        return self._with_changes(
            self.cluster.nonzero_cpu_milli[self.rows],
            "nonzero_cpu_milli",
            lambda template: template.requests.nonzero_cpu_milli,
        )

    @cached_property
    def nonzero_memory_bytes(self) -> IntArray:
        """Return requested memory with a default for containers that name none, int64 (n,)."""
        return self._with_changes(
            self.cluster.nonzero_memory_bytes[self.rows],
            "nonzero_memory_bytes",
            lambda template: template.requests.nonzero_memory_bytes,
        )

    @cached_property
    def n_pods(self) -> IntArray:
        return self._with_changes(self.cluster.n_pods[self.rows], "n_pods", lambda _: 1)

    def count_pods(self, templates: BoolArray, *, terminating: bool = True) -> IntArray:
        """Count the pods on each node whose template is chosen, int64 (n,).

        `templates` is bool (n_templates,), see `TemplateTable.matching`; with `terminating`
        false, pods being deleted do not count.
        """
        if self.bare:
            return np.zeros(self.n, np.int64)
        counts = self.cluster.count_pods(templates, terminating=terminating)[self.rows]
        if not self.changes:
            return counts
        changed = self._changed_pods
        chosen = np.append(templates, False)[np.minimum(changed.template, templates.size)]
        if not terminating:
            chosen &= ~changed.terminating
        np.add.at(counts, changed.at, chosen * changed.sign)
        return counts

    def _with_changes(
        self, column: IntArray, key: Hashable, measure: Callable[[PodTemplate], int]
    ) -> IntArray:
        """Add what changed pods weigh to a column (n,) taken from the cluster."""
        if self.bare:
            return np.zeros(self.n, np.int64)
        if self.changes:
            changed = self._changed_pods
            amounts = self.cluster.templates.amounts(key, measure)[changed.template]
            np.add.at(column, changed.at, amounts * changed.sign)
        return column

    @cached_property
    def _changed_pods(self) -> _ChangedPods:
        flat = [
            (i, pod.template.index, sign, pod.terminating)
            for i, change in enumerate(self.changes)
            for sign, pods in ((1, change.added), (-1, change.removed))
            for pod in pods
        ]
        table = np.array(flat, np.int64).reshape(-1, 4)
        return _ChangedPods(table[:, 0], table[:, 1], table[:, 2], table[:, 3].astype(np.bool_))
