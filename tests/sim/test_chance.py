"""What threads and maps decide in a real scheduler, decided otherwise than kviz pins it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scheduler_core.api import KubeObject, Pod
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.framework.chance import PINNED, Pinned
from scheduler_core.sim import RunOptions
from scheduler_core.sim.run import Run
from tests.builders import make_node, make_pod


@dataclass
class Reversed(Pinned):
    """Does the things it is told to the other way round."""

    arrival: bool = False
    finishing: bool = False
    narrowed: bool = False
    start: int = 0
    last_of_equals: bool = False

    def arrival_order(self, n_pods: int) -> IntArray | None:
        return np.arange(n_pods)[::-1] if self.arrival else None

    def finishing_order(self, n_nodes: int) -> IntArray | None:
        return np.arange(n_nodes)[::-1] if self.finishing else None

    def narrowed_order(self, n_nodes: int) -> IntArray | None:
        return np.arange(n_nodes)[::-1] if self.narrowed else None

    def start_index(self, n_nodes: int) -> int:
        return self.start

    def break_tie(self, node_names: Sequence[str]) -> str:
        return node_names[-1 if self.last_of_equals else 0]


def places(objects: list[KubeObject], chance: Pinned = PINNED) -> dict[str, str]:
    run = Run(objects, RunOptions(chance=chance))
    for _ in run.events():
        pass
    return {pod.name: pod.spec.node_name for pod in run.simulation.server.all(Pod)}


def nodes(n: int) -> list[KubeObject]:
    return [make_node(f"n{i}").cpu(4).obj() for i in range(n)]


def test_the_pod_that_arrives_first_takes_the_only_room() -> None:
    objects = [*nodes(1), make_pod("a").cpu(3).obj(), make_pod("b").cpu(3).obj()]
    assert places(objects) == {"a": "n0", "b": ""}
    assert places(objects, Reversed(arrival=True)) == {"a": "", "b": "n0"}


def test_a_pod_of_higher_priority_goes_first_in_any_order_of_arrival() -> None:
    objects = [*nodes(1), make_pod("a").cpu(3).obj(), make_pod("b").cpu(3).priority(1).obj()]
    assert places(objects) == places(objects, Reversed(arrival=True)) == {"a": "", "b": "n0"}


def test_among_equals_the_node_that_a_worker_was_done_with_first_is_taken() -> None:
    objects = [*nodes(3), make_pod("a").cpu(1).obj()]
    assert places(objects) == {"a": "n0"}
    assert places(objects, Reversed(finishing=True)) == {"a": "n2"}
    assert places(objects, Reversed(start=1)) == {"a": "n1"}
    assert places(objects, Reversed(start=1, finishing=True)) == {"a": "n0"}


def test_a_search_that_stops_early_finds_what_was_done_first() -> None:
    objects = [*nodes(150), make_pod("a").cpu(1).obj()]
    assert places(objects, Reversed(finishing=True)) == {"a": "n149"}


def test_preemption_takes_any_of_the_candidates_that_nothing_parts() -> None:
    taken = [make_pod(f"t{i}").cpu(4).on(f"n{i}").obj() for i in range(2)]
    objects = [*nodes(2), *taken, make_pod("a").cpu(3).priority(9).obj()]
    assert places(objects) == {"a": "n0", "t1": "n1"}
    assert places(objects, Reversed(last_of_equals=True)) == {"a": "n1", "t0": "n0"}


def test_a_run_may_be_loaded_before_it_begins() -> None:
    objects = [*nodes(3), make_pod("a").cpu(1).obj()]
    events = list(Run(objects, RunOptions()).events())
    loaded = Run(objects, RunOptions())
    loaded.load()
    assert list(loaded.events()) == events
