"""The cluster in columns: one row per node, one slot per placed pod, dictionary-encoded.

A node name keeps its row for good, also while its node object is gone. `generation` of a row grows
with every change to the node or its pods, so that work done for a row can be cached until then.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field

import numpy as np

from scheduler_core.api import Node, Taint
from scheduler_core.cluster.arrays import ABSENT, BoolArray, IntArray, Vocabulary, add_at, grown
from scheduler_core.cluster.images import Images
from scheduler_core.cluster.pod_columns import PodColumns
from scheduler_core.cluster.pods import HostPort, PodInfo, TemplateTable
from scheduler_core.cluster.requests import COUNT_ALL, Counted, integer_resources
from scheduler_core.cluster.resource_states import ResourceStates

PODS = "pods"
MIN_STATES = 4096
"""Up to so many resource states nobody looks whether they are still in use."""


@dataclass
class _LabelColumn:
    ids: IntArray
    values: Vocabulary[str] = field(default_factory=Vocabulary)

    def fork(self) -> _LabelColumn:
        return _LabelColumn(self.ids.copy(), self.values.fork())


class ClusterColumns:
    """All nodes and placed pods. Arrays have spare rows; read them through `Nodes` views."""

    def __init__(self, counted: Counted = COUNT_ALL) -> None:
        self.templates = TemplateTable(counted)
        self.pods = PodColumns()
        self.names: list[str] = []
        self.nodes: list[Node | None] = []
        self.row_of: dict[str, int] = {}
        self.stray_claims: Counter[str] = Counter()
        """How often pods on nodes that do not exist have come to use a claim (`namespace/name`),
        and gone, since nodes last came or went."""
        self.generation: IntArray = np.zeros(16, np.int64)
        self._changed_at: IntArray = np.zeros(16, np.int64)
        """As `generation`, but only of what changed itself."""
        self.unschedulable: BoolArray = np.zeros(16, np.bool_)
        self.taint_ids: IntArray = np.zeros(16, np.int64)
        self.taint_lists: Vocabulary[tuple[Taint, ...]] = Vocabulary()
        self.feature_ids: IntArray = np.zeros(16, np.int64)
        self.feature_sets: Vocabulary[frozenset[str]] = Vocabulary()
        self.allowed_pods: IntArray = np.zeros(16, np.int64)
        self.n_pods: IntArray = np.zeros(16, np.int64)
        self.nonzero_cpu_milli: IntArray = np.zeros(16, np.int64)
        self.nonzero_memory_bytes: IntArray = np.zeros(16, np.int64)
        self.resource_state: IntArray = np.zeros(16, np.int64)
        """Numbers in `resource_states`, over all rows."""
        self.resource_states = ResourceStates()
        """Another object after each renumbering: what is cached by number holds for this one."""
        self._allocatable: dict[str, IntArray] = {}
        self._requested: dict[str, IntArray] = {}
        self._labels: dict[str, _LabelColumn] = {}
        self._images = Images()
        self.freed_ports: dict[int, set[HostPort]] = {}
        """Host ports by row that count as free, even if a pod there still has them.

        Upstream keeps the used ports of a node as a set: when one of two pods that share a port
        goes, the port is free. Only pods that the scheduler did not place can share one.
        """
        self._clock = 0
        self.node_revision = 0
        """Grows with every change to a node object."""
        self.image_revision = 0
        """Grows when a node says otherwise on how many nodes its images are, with no change of
        its own: on a real dump, at the first pod of nearly every node."""

    @property
    def n_rows(self) -> int:
        return len(self.names)

    def fork(self) -> ClusterColumns:
        """Return an independent copy: no change of one shows in the other.

        What is numbered keeps its numbers, and what columns are built on first use are there.
        """
        fork = copy(self)
        for name, column in vars(self).items():
            if isinstance(column, np.ndarray):
                setattr(fork, name, column.copy())
        fork.templates, fork.pods = self.templates.fork(), self.pods.fork()
        fork.names, fork.nodes, fork.row_of = self.names[:], self.nodes[:], self.row_of.copy()
        fork.stray_claims = self.stray_claims.copy()
        fork.taint_lists, fork.feature_sets = self.taint_lists.fork(), self.feature_sets.fork()
        fork.resource_states = self.resource_states.fork()
        fork._allocatable = {name: column.copy() for name, column in self._allocatable.items()}
        fork._requested = {name: column.copy() for name, column in self._requested.items()}
        fork._labels = {key: column.fork() for key, column in self._labels.items()}
        fork._images = self._images.fork()
        fork.freed_ports = {row: set(ports) for row, ports in self.freed_ports.items()}
        return fork

    def take_back(self, other: ClusterColumns) -> None:
        """Build what a copy that has gone on by itself has had to build.

        Nothing here has changed since that was taken.
        """
        self.templates.take_over(other.templates)
        for key in other._labels:
            self.label(key)

    # ------------------------------------------------------------ nodes

    def set_node(self, node: Node) -> int:
        """Add a node or take over its new state; return its row."""
        row = self._row(node.name)
        previous = self.nodes[row]
        self.nodes[row] = node
        self.node_revision += 1
        self.unschedulable[row] = node.spec.unschedulable
        self.taint_ids[row] = self.taint_lists.id(node.spec.taints)
        self.feature_ids[row] = self.feature_sets.id(frozenset(node.status.declared_features))
        allocatable = integer_resources(node.status.allocatable)
        self._set_state(row, self.resource_states.of_node(self._state(row), allocatable))
        self.allowed_pods[row] = allocatable.pop(PODS, 0)
        for name in [*allocatable, *self._allocatable]:
            self._resource(self._allocatable, name)[row] = allocatable.get(name, 0)
        for key, column in self._labels.items():
            value = node.metadata.labels.get(key)
            column.ids[row] = ABSENT if value is None else column.values.id(value)
        self._images.set_node(row, previous, node)
        self._touch(row)
        return row

    def remove_node(self, name: str) -> None:
        """Forget a node object; its row lives on while pods are recorded on it."""
        row = self.row_of[name]
        self._images.set_node(row, self.nodes[row], None)
        self.nodes[row] = None
        self.node_revision += 1
        self._touch(row)

    def touch_all(self) -> None:
        """Count all nodes as changed: what they offer has another meaning now."""
        self.node_revision += 1
        self._clock += 1
        self.generation[: self.n_rows] = self._clock

    def has_node(self, name: str) -> bool:
        """Return whether there is a node object of that name; its row may outlive it."""
        row = self.row_of.get(name)
        return row is not None and self.nodes[row] is not None

    def _row(self, name: str) -> int:
        row = self.row_of.get(name)
        if row is None:
            row = self.row_of[name] = len(self.names)
            self.names.append(name)
            self.nodes.append(None)
            self._grow(row + 1)
        return row

    def _grow(self, size: int) -> None:
        if self.generation.size >= size:
            return
        self.generation = grown(self.generation, size)
        self._changed_at = grown(self._changed_at, size)
        self.unschedulable = grown(self.unschedulable, size)
        self.taint_ids = grown(self.taint_ids, size)
        self.feature_ids = grown(self.feature_ids, size)
        self.allowed_pods = grown(self.allowed_pods, size)
        self.n_pods = grown(self.n_pods, size)
        self.nonzero_cpu_milli = grown(self.nonzero_cpu_milli, size)
        self.nonzero_memory_bytes = grown(self.nonzero_memory_bytes, size)
        self.resource_state = grown(self.resource_state, size)
        for columns in (self._allocatable, self._requested):
            for name, column in columns.items():
                columns[name] = grown(column, size)
        for label in self._labels.values():
            label.ids = grown(label.ids, size, ABSENT)

    def _touch(self, row: int) -> None:
        self._clock += 1
        self.generation[row] = self._changed_at[row] = self._clock
        if self._images.is_brought_up_to_date(row):
            self.image_revision += 1

    def _state(self, row: int) -> int:
        return int(self.resource_state[row])

    def _set_state(self, row: int, state: int) -> None:
        """Note a row's resource state; forget states nobody is in when most are such."""
        self.resource_state[row] = state
        if len(self.resource_states) > max(MIN_STATES, 4 * self.n_rows):
            of_rows = self.resource_state[: self.n_rows]
            used, numbers = np.unique(np.append(of_rows, 0), return_inverse=True)
            self.resource_states = self.resource_states.only(used.tolist())
            self.resource_state[: self.n_rows] = numbers[:-1]

    def _resource(self, columns: dict[str, IntArray], name: str) -> IntArray:
        column = columns.get(name)
        if column is None:
            column = columns[name] = np.zeros(self.generation.size, np.int64)
        return column

    def allocatable_of(self, resource: str) -> IntArray:
        """Return a column over all rows, int64; zeros for a resource nobody has."""
        return self._resource(self._allocatable, resource)

    def requested_of(self, resource: str) -> IntArray:
        return self._resource(self._requested, resource)

    @property
    def resources(self) -> list[str]:
        """Return the resources that nodes offer, in order of appearance."""
        return list(self._allocatable)

    def label(self, key: str) -> tuple[IntArray, Sequence[str]]:
        """Return value numbers over all rows (-1: absent) and the values, built on first use."""
        column = self._labels.get(key)
        if column is None:
            column = _LabelColumn(np.full(self.generation.size, ABSENT, np.int64))
            for row, node in enumerate(self.nodes):
                if node is not None and key in node.metadata.labels:
                    column.ids[row] = column.values.id(node.metadata.labels[key])
            self._labels[key] = column
        return column.ids, column.values.values

    def label_id(self, key: str, value: str) -> int:
        """Return the number of a label value, -1 if no node has had it."""
        self.label(key)
        return self._labels[key].values.find(value)

    def has_image(self, name: str) -> bool:
        """Return whether any node has an image."""
        return name in self._images

    def image(self, name: str) -> tuple[BoolArray, int, IntArray]:
        """Return where an image is, its size in bytes, and on how many nodes each row says it is.

        See `Images.column`.
        """
        return self._images.column(name, self._changed_at)

    def take_snapshot(self) -> None:
        """Note that a cycle begins, which sees every row as it is now."""
        self._images.snapshot(self._clock)

    # ------------------------------------------------------------ pods

    def count_pods(self, templates: BoolArray, *, terminating: bool = True) -> IntArray:
        """Count placed pods of the chosen templates (bool (n_templates,)) per row (n_rows,)."""
        return self.pods.count_by_row(templates, self.n_rows, terminating=terminating)

    def add_pod(self, pod: PodInfo, node_name: str) -> None:
        """Record a pod on a node; the node object may still be unknown."""
        row = self._row(node_name)
        self.pods.add(pod, row)
        self._take_ports(pod, row)
        self._account(pod, row, 1)

    def replace_pod(self, pod: PodInfo, node_name: str) -> None:
        """Take over a new state of a pod that changes nothing of what it takes of its node."""
        row = self.row_of[node_name]
        self.pods.replace(pod, row)
        self._take_ports(pod, row)
        self._touch(row)

    def _take_ports(self, pod: PodInfo, row: int) -> None:
        if row in self.freed_ports:
            self.freed_ports[row].difference_update(pod.template.host_ports)
            if not self.freed_ports[row]:
                del self.freed_ports[row]

    def remove_pod(self, pod: PodInfo, node_name: str) -> None:
        row = self.row_of[node_name]
        recorded = self.pods.remove(pod, row)
        if recorded.template.host_ports:
            self.freed_ports.setdefault(row, set()).update(recorded.template.host_ports)
        self._account(recorded, row, -1)

    def _account(self, pod: PodInfo, row: int, sign: int) -> None:
        requests = pod.template.requests
        for name, amount in requests.placed.items():
            add_at(self._resource(self._requested, name), row, sign * amount)
        add_at(self.nonzero_cpu_milli, row, sign * requests.nonzero_cpu_milli)
        add_at(self.nonzero_memory_bytes, row, sign * requests.nonzero_memory_bytes)
        self.n_pods[row] += sign
        self._set_state(row, self.resource_states.after(self._state(row), pod.template, sign))
        self._touch(row)
