"""How many volumes of each CSI driver the nodes can have, as columns.

Upstream: v1.36 plugins/nodevolumelimits/csi.go (getVolumeLimits, checkCSIDriverOnNode).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from scheduler_core.api import CSINode
from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.columns import ClusterColumns
from scheduler_core.cluster.objects import ObjectStore

UNLIMITED: Final = 2**62


class VolumeLimits:
    """Limits and installed drivers by row, read again when a CSINode or the nodes change."""

    def __init__(self, cluster: ClusterColumns, objects: ObjectStore) -> None:
        self._cluster = cluster
        self._objects = objects
        self._read_at = (-1, -1)
        self._limits: dict[str, IntArray] = {}
        self._installed: dict[str, BoolArray] = {}
        self._has_csi_node: BoolArray = np.zeros(0, np.bool_)

    def refresh(self) -> None:
        now = self._objects.revision(CSINode), self._cluster.n_rows
        if now != self._read_at:
            self._read_at = now
            self._read(self._cluster.n_rows)

    def _read(self, n_rows: int) -> None:
        self._limits, self._installed = {}, {}
        self._has_csi_node = np.zeros(n_rows, np.bool_)
        for csi_node in self._objects.all(CSINode):
            row = self._cluster.row_of.get(csi_node.name)
            if row is None:
                continue
            self._has_csi_node[row] = True
            for driver in csi_node.spec.drivers:
                installed = self._installed.setdefault(driver.name, np.zeros(n_rows, np.bool_))
                installed[row] = True
                if driver.allocatable is not None and driver.allocatable.count is not None:
                    limits = self._limits.setdefault(driver.name, np.full(n_rows, UNLIMITED))
                    limits[row] = driver.allocatable.count

    @property
    def has_csi_node(self) -> BoolArray:
        """Which rows have a CSINode, bool (n_rows,)."""
        return self._has_csi_node

    def limit(self, driver: str) -> IntArray | None:
        """Return the limits of a driver, int64 (n_rows,); None if no node limits it."""
        return self._limits.get(driver)

    @property
    def limited(self) -> BoolArray:
        """Which rows limit any driver at all, bool (n_rows,)."""
        limited = np.zeros(self._has_csi_node.size, np.bool_)
        for limits in self._limits.values():
            limited |= limits < UNLIMITED
        return limited

    def installed(self, driver: str) -> BoolArray:
        """Return which rows have a driver, bool (n_rows,)."""
        known = self._installed.get(driver)
        return np.zeros(self._has_csi_node.size, np.bool_) if known is None else known
