"""Which rows of the cluster a selector over node labels picks, cached while the nodes stay."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

import numpy as np

from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.nodes import Nodes


class NodeRows:
    """Rows by key; forgotten as soon as a node is added, changed or removed."""

    def __init__(self, cluster: ClusterColumns) -> None:
        self._cluster = cluster
        self._revision = -1
        self._rows: dict[Hashable, IntArray] = {}

    def chosen(self, key: Hashable, select: Callable[[Nodes], BoolArray]) -> IntArray:
        """Return the rows of the nodes that `select` picks, ascending, int64.

        The same key must always come with the same function.
        """
        if self._revision != self._cluster.node_revision:
            self._revision = self._cluster.node_revision
            self._rows.clear()
        known = self._rows.get(key)
        if known is None:
            everywhere = Nodes(self._cluster, np.arange(self._cluster.n_rows))
            known = self._rows[key] = np.flatnonzero(select(everywhere))
        return known

    def mask(self, rows: Iterable[IntArray]) -> BoolArray:
        """Return the union of some rows as bool (n_rows,)."""
        mask = np.zeros(self._cluster.n_rows, np.bool_)
        for each in rows:
            mask[each] = True
        return mask
