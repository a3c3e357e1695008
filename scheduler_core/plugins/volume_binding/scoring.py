"""Scores by how full the volumes would make the storage they come from.

Only with the gate StorageCapacityScoring. Upstream: v1.36 plugins/volumebinding/scorer.go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from scheduler_core.api import PersistentVolumeClaim
from scheduler_core.api.claims import STORAGE
from scheduler_core.api.quantity import value
from scheduler_core.cluster.arrays import ABSENT, BoolArray, IntArray
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.config.types import MAX_CUSTOM_SCORE, UtilizationShapePoint
from scheduler_core.framework.interface import MAX_NODE_SCORE, Scores
from scheduler_core.framework.scoring import BrokenLinearFunction, go_div
from scheduler_core.plugins.volume_binding.binder import PodVolumes

MAX_UTILIZATION: Final = 100

Storage = tuple[BoolArray, IntArray, IntArray]
"""Where a storage class is asked, bytes requested and available there, (n,) each."""

_ByClass = dict[str, Storage]


def shape_function(shape: Sequence[UtilizationShapePoint]) -> BrokenLinearFunction:
    scale = MAX_NODE_SCORE // MAX_CUSTOM_SCORE
    return BrokenLinearFunction.of((point.utilization, point.score * scale) for point in shape)


def score(volumes: PodVolumes, nodes: Nodes, shape: BrokenLinearFunction) -> Scores:
    """Return the mean over storage classes of `shape(utilization)`, int64 (n,); 0 without any.

    Volumes to bind go before volumes to make: a node with any of the former counts only those.
    """
    total, n_classes = np.zeros(nodes.n, np.int64), np.zeros(nodes.n, np.int64)
    for _, (at, requested, available) in storage_asked(volumes, nodes):
        total += np.where(at, _class_score(requested, available, shape), 0)
        n_classes += at
    mean = total / np.maximum(n_classes, 1)
    rounded: Scores = np.floor(mean + 0.5).astype(np.int64)
    return rounded


def storage_asked(volumes: PodVolumes, nodes: Nodes) -> list[tuple[str, Storage]]:
    """Return what counts of each storage class, by its name."""
    static, provisioned = _static(volumes, nodes), _dynamic(volumes, nodes)
    binds = np.zeros(nodes.n, np.bool_)
    for asked, _, _ in static.values():
        binds |= asked
    return [
        (name, (asked & counts, requested, available))
        for kind, counts in ((static, binds), (provisioned, ~binds))
        for name, (asked, requested, available) in kind.items()
    ]


def _class_score(requested: IntArray, available: IntArray, shape: BrokenLinearFunction) -> IntArray:
    full = (available == 0) | (requested > available)
    utilization = go_div(requested * MAX_UTILIZATION, np.maximum(available, 1))
    return shape(np.where(full, MAX_UTILIZATION, utilization))


def _static(volumes: PodVolumes, nodes: Nodes) -> _ByClass:
    """Add up the volumes to bind on each node."""
    storage: _ByClass = {}
    for match in volumes.matches:
        chosen = match.chosen[nodes.rows]
        requested = _requested_bytes(match.claim)
        for i in np.unique(chosen[chosen != ABSENT]).tolist():
            spec, at = match.volumes[i].spec, chosen == i
            available = value(spec.capacity.get(STORAGE, "0"))
            before = storage.get(spec.storage_class_name, _nothing(nodes.n))
            storage[spec.storage_class_name] = (
                before[0] | at,
                before[1] + at * requested,
                before[2] + at * available,
            )
    return storage


def _dynamic(volumes: PodVolumes, nodes: Nodes) -> _ByClass:
    """Add up the volumes to make on each node; they share the capacity of the pool."""
    storage: _ByClass = {}
    for each in volumes.provisions:
        capacity_bytes = each.capacity_bytes[nodes.rows]
        at = each.where[nodes.rows] & (capacity_bytes >= 0)
        name = each.claim.spec.storage_class_name or ""
        before = storage.get(name, _nothing(nodes.n))
        storage[name] = (
            before[0] | at,
            before[1] + at * _requested_bytes(each.claim),
            np.where(at, capacity_bytes, before[2]),
        )
    return storage


def _requested_bytes(claim: PersistentVolumeClaim) -> int:
    return value(claim.spec.resources.requests.get(STORAGE, "0"))


def _nothing(n: int) -> Storage:
    return np.zeros(n, np.bool_), np.zeros(n, np.int64), np.zeros(n, np.int64)
