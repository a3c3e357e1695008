"""Clusters that a process holds as objects: a few small ones, or one that is large."""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import pytest

from kviz.snapshots import held
from kviz.snapshots.held import HeldClusters
from scheduler_core.api import Node, ObjectMeta
from scheduler_core.api.cluster_objects import ClusterObjects
from scheduler_core.api.packing import pack


def packed(n_nodes: int) -> Callable[[], bytes]:
    nodes = [Node(metadata=ObjectMeta(name=f"node-{i}")) for i in range(n_nodes)]
    return lambda: pack(ClusterObjects(nodes))


def gone() -> bytes:
    raise AssertionError("it is read again")


def test_a_large_cluster_is_held_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(held, "LARGE_BYTES", 10_000)
    clusters = HeldClusters()
    small, other, large = ((UUID(int=i), "") for i in range(3))
    first = clusters.get(small, packed(1))
    clusters.get(other, packed(2))
    assert clusters.get(small, gone) is first

    found = clusters.get(large, packed(1_000))
    assert clusters.get(large, gone) is found
    with pytest.raises(AssertionError, match="again"):
        clusters.get(small, gone)
