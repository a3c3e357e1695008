"""On which nodes volumes can be used and made: affinity, topology and capacity as rows.

Upstream: v1.36 component-helpers/storage/volume (CheckNodeAffinity), pkg/apis/core/v1/helper
(MatchTopologySelectorTerms), plugins/volumebinding/binder.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec
import numpy as np
from msgspec.structs import replace

from scheduler_core.api import (
    CSINode,
    CSIStorageCapacity,
    LabelSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    TopologySelectorTerm,
    VolumeNodeAffinity,
)
from scheduler_core.api.quantity import value
from scheduler_core.api.selectors import label_selector_error
from scheduler_core.cluster.arrays import ABSENT, BoolArray, IntArray
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.node_rows import NodeRows
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.cluster.objects import ObjectStore
from scheduler_core.framework.node_selection import any_term_matches, selecting_terms, term_matches

MIGRATED_PLUGINS: Final = "storage.alpha.kubernetes.io/migrated-plugins"

_encode = msgspec.msgpack.Encoder(order="deterministic").encode


class VolumeTopology:
    """Evaluates where over all rows of the cluster, each distinct question once."""

    def __init__(self, cluster: ClusterColumns, objects: ObjectStore) -> None:
        self._cluster = cluster
        self._objects = objects
        self._rows = NodeRows(cluster)
        self._migrated_at = (-1, -1)
        self._migrated: dict[str, BoolArray] = {}
        self._capacity_revision = -1
        self._capacities: dict[str, list[CSIStorageCapacity]] = {}

    @property
    def n_rows(self) -> int:
        return self._cluster.n_rows

    def within(self, affinity: VolumeNodeAffinity | None) -> IntArray | None:
        """Return the rows that a volume's node affinity selects; None if it selects all.

        Only labels count: upstream does not tell the selector the name of the node.
        """
        if affinity is None or affinity.required is None:
            return None
        required = affinity.required

        def selected(nodes: Nodes) -> BoolArray:
            terms = [replace(term, match_fields=()) for term in selecting_terms(required)]
            return any_term_matches(terms, nodes)

        return self._rows.chosen(("affinity", _encode(required)), selected)

    def allowed(self, terms: Sequence[TopologySelectorTerm]) -> IntArray | None:
        """Return the rows in one of a class's allowed topologies; None if all are."""
        if not terms:
            return None

        def selected(nodes: Nodes) -> BoolArray:
            return any_term_matches(filter(None, map(_as_node_term, terms)), nodes)

        return self._rows.chosen(("allowed", _encode(tuple(terms))), selected)

    def migrated(self, plugin: str) -> BoolArray:
        """Return the rows whose CSINode says an in-tree plugin is migrated, bool (n_rows,)."""
        now = self._objects.revision(CSINode), self._cluster.n_rows
        if self._migrated_at != now:
            self._migrated_at = now
            self._migrated = {}
            for csi_node in self._objects.all(CSINode):
                row = self._cluster.row_of.get(csi_node.name)
                plugins = csi_node.metadata.annotations.get(MIGRATED_PLUGINS, "")
                if row is not None and plugins:
                    for name in plugins.split(","):
                        self._migrated.setdefault(name, self.nowhere())[row] = True
        return self._migrated.get(plugin, self.nowhere())

    def capacities(self, storage_class: str, size_bytes: int) -> IntArray:
        """Return per row the capacity in bytes of the first pool with room, int64 (n_rows,).

        -1 where no pool of the class that the node has access to has that much room.
        """
        found = np.full(self.n_rows, -1)
        for capacity in reversed(self._of_class(storage_class)):
            limit = volume_limit(capacity)
            if limit is not None and limit >= size_bytes and capacity.node_topology is not None:
                found[self._having(capacity.node_topology)] = value(capacity.capacity or "0")
        return found

    def _of_class(self, storage_class: str) -> list[CSIStorageCapacity]:
        revision = self._objects.revision(CSIStorageCapacity)
        if self._capacity_revision != revision:
            self._capacity_revision = revision
            self._capacities = {}
            for capacity in self._objects.all(CSIStorageCapacity):
                self._capacities.setdefault(capacity.storage_class_name, []).append(capacity)
        return self._capacities.get(storage_class, [])

    def _having(self, selector: LabelSelector) -> IntArray:
        """Return the rows whose labels a selector matches; a malformed one matches none."""
        if label_selector_error(selector):
            return np.zeros(0, np.int64)
        wanted = [_requirement(key, (text,)) for key, text in selector.match_labels.items()]
        wanted += [
            NodeSelectorRequirement(key=each.key, operator=each.operator, values=each.values)
            for each in selector.match_expressions
        ]
        term = NodeSelectorTerm(match_expressions=tuple(wanted))
        return self._rows.chosen(
            ("labels", _encode(selector)), lambda nodes: term_matches(term, nodes)
        )

    def is_not(self, node_name: str) -> BoolArray:
        """Return all rows but that of one node, bool (n_rows,)."""
        row = self._cluster.row_of.get(node_name, ABSENT)
        others: BoolArray = np.arange(self.n_rows) != row
        return others

    def everywhere(self) -> BoolArray:
        return np.ones(self.n_rows, np.bool_)

    def nowhere(self) -> BoolArray:
        return np.zeros(self.n_rows, np.bool_)

    def mask(self, rows: IntArray | None) -> BoolArray:
        """Return rows (None: all) as bool (n_rows,)."""
        return self.everywhere() if rows is None else self._rows.mask([rows])


def volume_limit(capacity: CSIStorageCapacity) -> int | None:
    """Return how large a volume a pool can make, in bytes; None if it does not say."""
    text = capacity.maximum_volume_size or capacity.capacity
    return value(text) if text else None


def _as_node_term(term: TopologySelectorTerm) -> NodeSelectorTerm | None:
    """Return the term as one over node labels; None for one that selects nothing."""
    wanted = term.match_label_expressions
    if not wanted or not all(each.values for each in wanted):
        return None
    return NodeSelectorTerm(
        match_expressions=tuple(_requirement(each.key, each.values) for each in wanted)
    )


def _requirement(key: str, values: tuple[str, ...]) -> NodeSelectorRequirement:
    return NodeSelectorRequirement(key=key, operator="In", values=values)
