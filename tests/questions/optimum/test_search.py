"""The program finds what looking at every placement finds."""

from __future__ import annotations

import numpy as np
import pytest

from kviz.questions.optimum.comparison import compare, pose
from kviz.questions.optimum.solver import search
from kviz.questions.optimum.solver.best import Best
from kviz.questions.optimum.solver.clock import Cancelled, Clock, Step
from kviz.questions.optimum.solver.search import best_placement
from scheduler_core.analysis.model import Instance, RestingWorld, Viability, build
from scheduler_core.analysis.model.check import objections
from scheduler_core.analysis.model.feasibility import feasible
from scheduler_core.sim import RunOptions
from tests.analysis.model.small_clusters import small_cluster
from tests.builders import make_node, make_pod


def clock() -> Clock:
    return Clock(600.0, lambda step: None)


def both_ways(
    monkeypatch: pytest.MonkeyPatch, world: RestingWorld, instance: Instance, mode: Viability
) -> tuple[Best, Best]:
    one_by_one = best_placement(world, instance, mode, {}, clock())
    monkeypatch.setattr(search, "may_enumerate", lambda instance: False)
    by_program = best_placement(world, instance, mode, {}, clock())
    monkeypatch.undo()
    return one_by_one, by_program


@pytest.mark.parametrize("mode", ["classic", "snapshot"])
@pytest.mark.parametrize("seed", range(20, 26))
def test_the_program_and_the_enumeration_agree(
    monkeypatch: pytest.MonkeyPatch, seed: int, mode: Viability
) -> None:
    world = RestingWorld(small_cluster(seed, n_nodes=4, n_pods=5), RunOptions())
    instance = build(world, mode)
    seen, solved = both_ways(monkeypatch, world, instance, mode)
    assert solved.proven
    assert solved.key == seen.key
    assert (solved.bound_placed, solved.bound_value) == (seen.placed, seen.value)
    assert solved.placement is not None
    assert feasible(instance, instance.counts_of(solved.placement)[np.newaxis])[0]
    assert objections(world, solved.placement) == ()


def test_a_search_that_has_no_time_keeps_what_the_scheduler_did(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Bounds are what the search knows by then; nothing is called proven that is not."""
    world = RestingWorld(small_cluster(23, n_nodes=4, n_pods=5), RunOptions())
    instance = build(world, "snapshot")
    seen, _ = both_ways(monkeypatch, world, instance, "snapshot")
    assert seen.placement is not None
    own = dict(list(seen.placement.items())[:1])
    monkeypatch.setattr(search, "may_enumerate", lambda instance: False)
    hurried = best_placement(world, instance, "snapshot", own, Clock(0.0, lambda step: None))
    assert hurried.placement is not None
    assert hurried.key <= seen.key
    assert not hurried.proven or hurried.key == seen.key
    for level, n in seen.placed.items():
        assert hurried.bound_placed[level] >= n


def test_a_search_that_nobody_wants_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(step: Step) -> None:
        raise Cancelled

    world = RestingWorld(small_cluster(23, n_nodes=4, n_pods=5), RunOptions())
    for mode in ("classic", "replayed"):
        instance = build(world, mode)
        with pytest.raises(Cancelled):
            best_placement(world, instance, mode, {}, Clock(60.0, unwanted))


def test_a_search_without_time_places_small_pods_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """The scheduler tries the large pod first; four small ones need no more room."""
    monkeypatch.setattr(search, "may_enumerate", lambda instance: False)
    node = make_node("n1").cpu(4).pods(10).obj()
    small = [make_pod(f"small-{i}").cpu(1).obj() for i in range(4)]
    objects = [node, make_pod("large").cpu(4).obj(), *small]
    posed = pose(objects, RunOptions(details=False), "classic")
    assert list(posed.own) == ["default/large"]
    found = compare(posed, Clock(0.0, lambda step: None)).optimum
    assert found.placed == {0: 4}
