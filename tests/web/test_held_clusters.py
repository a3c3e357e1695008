"""Clusters that a process holds as objects: a few small ones, or one that is large."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any
from uuid import UUID

import pytest

from kviz.runs.reading import held_cycles
from kviz.runs.reading.held_cycles import HeldCycles
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
    clusters, let_go = HeldClusters(), []
    clusters.before_large = lambda: let_go.append(True)
    small, other, large = ((UUID(int=i), "") for i in range(3))
    first = clusters.get(small, packed(1))
    clusters.get(other, packed(2))
    assert clusters.get(small, gone) is first
    assert not let_go

    found = clusters.get(large, packed(1_000))
    assert clusters.get(large, gone) is found
    assert let_go == [True]
    with pytest.raises(AssertionError, match="again"):
        clusters.get(small, gone)


class Simulation:
    """What a cycle of a run belongs to; it refers to itself, as the engine's does."""

    def __init__(self) -> None:
        self.itself = self


def test_a_cycle_of_a_large_cluster_leaves_nothing_behind_when_the_next_is_simulated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(held_cycles, "_check_possible", lambda *_: None)
    monkeypatch.setattr(held_cycles, "snapshot_is_large", lambda snapshot: True)
    there: list[int] = []
    made: list[weakref.ref[Simulation]] = []

    def reenact(*_: object) -> Simulation:
        there.append(sum(each() is not None for each in made))
        simulation = Simulation()
        made.append(weakref.ref(simulation))
        return simulation

    monkeypatch.setattr(held_cycles, "_reenact", reenact)
    run: Any = SimpleNamespace(pk=UUID(int=1), snapshot=SimpleNamespace())
    cycles = HeldCycles()
    for number in (1, 2, 1):
        recorded: Any = {"cycle": number}
        assert cycles.ask(run, recorded, lambda _cycle: "answer") == "answer"
    assert there == [0, 0, 0]
