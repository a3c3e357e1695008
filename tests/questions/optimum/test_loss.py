"""What is surely lost where the optimum is not proven: never more than is lost in truth."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from kviz.questions.optimum.answer import Answer, Regret
from kviz.questions.optimum.comparison import Posed, compare
from kviz.questions.optimum.loss import Loss, loss_of
from kviz.questions.optimum.solver.best import Best
from kviz.questions.optimum.solver.clock import Clock
from kviz.questions.optimum.solver.filling import filled
from kviz.questions.optimum.solver.search import best_placement
from kviz.questions.optimum.text import as_document, statements
from scheduler_core.analysis.model import Instance
from scheduler_core.analysis.model.feasibility import feasible
from tests.questions.optimum.test_regret import clock, posed_of


def unproven(found: Best) -> Best:
    """The same placement, found by a search that ran out of time."""
    bounds = {level: n + 3 for level, n in found.placed.items()}
    return replace(found, proven=False, bound_placed=bounds, bound_value=None)


def placed_after(posed: Posed) -> Iterator[tuple[int, tuple[int, ...]]]:
    """How many pods can be placed after every cycle, each searched for by itself."""
    for cycle in sorted({0, *(posed.outcome.cycles[pod] for pod in posed.own)}):
        fixed = {pod: at for pod, at in posed.own.items() if posed.outcome.cycles[pod] <= cycle}
        best = best_placement(posed.world, posed.instance, posed.mode, posed.own, clock(), fixed)
        yield cycle, tuple(best.placed.values())


@pytest.fixture(scope="module")
def loses_pods() -> Posed:
    """A problem whose run places fewer pods than it could, in several cycles."""
    for seed in range(20, 80):
        posed = posed_of(seed, "classic")
        found = compare(posed, clock())
        if found.run.placed != found.optimum.placed and len(posed.own) > 2:
            return posed
    raise AssertionError("none of these runs loses a pod")


def test_the_first_cycle_after_which_pods_are_lost_is_found(loses_pods: Posed) -> None:
    found = unproven(compare(loses_pods, clock()).optimum)
    loss = loss_of(loses_pods, found, clock())
    assert loss is not None
    reach = dict(placed_after(loses_pods))
    goal = tuple(found.placed.values())
    lost = [cycle for cycle, placed in reach.items() if placed < goal]
    kept = [cycle for cycle, placed in reach.items() if placed >= goal]
    assert (loss.cycle, loss.in_reach_until) == (lost[0], kept[-1])
    missing = dict(zip(found.placed, reach[loss.cycle], strict=True))
    assert loss.n_pods == found.placed[loss.priority] - missing[loss.priority] > 0
    assert loss.n_found == found.placed[loss.priority]


def test_nothing_is_said_to_be_lost_that_a_bound_does_not_exclude(
    monkeypatch: pytest.MonkeyPatch, loses_pods: Posed
) -> None:
    found = unproven(compare(loses_pods, clock()).optimum)

    def without_time(*arguments: object, **more: object) -> Best:
        return unproven(best_placement(*arguments, **more))  # type: ignore[arg-type]

    monkeypatch.setattr("kviz.questions.optimum.loss.best_placement", without_time)
    assert loss_of(loses_pods, found, Clock(60.0, lambda step: None)) is None


def test_it_is_said_in_words_and_in_the_document(loses_pods: Posed) -> None:
    comparison = compare(loses_pods, clock())
    level = next(iter(comparison.optimum.placed))
    comparison = replace(comparison, optimum=unproven(comparison.optimum), not_comparable=())
    said = Answer(comparison, Regret(complete=False), Loss(4, 3, level, 2, 7))
    sentence = list(statements(said))[-1]
    assert sentence.startswith("Until cycle 3 the 7 pods")
    assert sentence.endswith("after cycle 4 at least 2 of them were not.")
    found = as_document(said)["loss"]
    assert found == {"cycle": 4, "in_reach_until": 3, "priority": level, "pods": 2, "of": 7}
    late = Answer(comparison, Regret(complete=False), Loss(9, 0, level, 1, 7))
    *_, sentence, doubt = statements(late)
    assert sentence.startswith("After cycle 9 at least 1 of the 7 pods")
    assert sentence.endswith("that can be placed was out of reach.")
    assert doubt == "Whether an earlier cycle lost them is not known: time ran out."


def nobody(instance: Instance) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    return np.zeros((instance.n_classes, len(instance.nodes)), np.int64)


@pytest.mark.parametrize("seed", range(20, 32))
def test_filling_leaves_out_nobody_who_fits(seed: int) -> None:
    instance = posed_of(seed, "snapshot").instance
    counts = filled(instance, nobody(instance))
    assert feasible(instance, counts[np.newaxis])[0] or not counts.any()
    assert (counts.sum(axis=1) <= instance.sizes).all()
    for own, node in np.argwhere(instance.eligible).tolist():
        if counts[own].sum() < instance.sizes[own]:
            more = counts.copy()
            more[own, node] += 1
            assert not feasible(instance, more[np.newaxis])[0]
