"""What is still in reach after each cycle: all of it by binary search is what every cycle says."""

from __future__ import annotations

import pytest

from kviz.questions.optimum.answer import Regret, regret_of
from kviz.questions.optimum.comparison import Posed, compare, pose
from kviz.questions.optimum.solver import search
from kviz.questions.optimum.solver.best import Best
from kviz.questions.optimum.solver.clock import Clock
from kviz.questions.optimum.solver.search import best_placement
from scheduler_core.analysis.model import Viability
from scheduler_core.sim import RunOptions
from tests.analysis.model.small_clusters import small_cluster


def clock(limit_s: float = 600.0) -> Clock:
    return Clock(limit_s, lambda step: None)


def posed_of(seed: int, mode: Viability) -> Posed:
    return pose(small_cluster(seed, n_nodes=4, n_pods=5), RunOptions(details=False), mode)


def one_by_one(posed: Posed) -> dict[int, tuple[int, ...]]:
    """The key of the best after every cycle that placed a pod, each searched for by itself."""
    cycles = {0, *(posed.outcome.cycles[pod] for pod in posed.own)}
    keys = {}
    for cycle in sorted(cycles):
        fixed = {pod: at for pod, at in posed.own.items() if posed.outcome.cycles[pod] <= cycle}
        best = best_placement(posed.world, posed.instance, posed.mode, posed.own, clock(), fixed)
        keys[cycle] = best.key
    return keys


def in_reach(regret: Regret, cycle: int) -> tuple[int, ...]:
    step = [each for each in regret.reach if each.cycle <= cycle][-1]
    assert step.value is not None
    return (*step.placed.values(), step.value)


@pytest.mark.parametrize("by_program", [False, True])
@pytest.mark.parametrize("mode", ["classic", "snapshot"])
@pytest.mark.parametrize("seed", [20, 21, 24])
def test_the_steps_are_what_every_cycle_says(
    monkeypatch: pytest.MonkeyPatch, seed: int, mode: Viability, *, by_program: bool
) -> None:
    posed = posed_of(seed, mode)
    if compare(posed, clock()).not_comparable:
        return
    expected = one_by_one(posed)
    if by_program:
        monkeypatch.setattr(search, "may_enumerate", lambda instance: False)
    optimum = compare(posed, clock()).optimum
    regret = regret_of(posed, optimum, clock())
    assert regret.complete
    assert all(step.exact for step in regret.reach)
    assert {cycle: in_reach(regret, cycle) for cycle in expected} == expected
    lost = [cycle for cycle, key in expected.items() if key < optimum.key]
    assert regret.lost_at_cycle == (lost[0] if lost else None)


def test_without_time_only_the_start_is_known() -> None:
    posed = posed_of(20, "classic")
    optimum = compare(posed, clock()).optimum
    regret = regret_of(posed, optimum, clock(0.0))
    assert not regret.complete
    assert [step.cycle for step in regret.reach] == [0]
    assert regret.lost_at_cycle is None


def test_what_lies_between_two_known_cycles_is_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """Time runs out once both ends are known: the loss is somewhere between them."""
    posed = posed_of(*loses_late())
    optimum = compare(posed, clock()).optimum
    ticking = clock()
    asked: list[Best] = []

    def once(*arguments: object, **more: object) -> Best:
        found: Best = best_placement(*arguments, **more)  # type: ignore[arg-type]
        asked.append(found)
        monkeypatch.setattr(Clock, "left_s", 0.0)
        return found

    monkeypatch.setattr("kviz.questions.optimum.answer.best_placement", once)
    regret = regret_of(posed, optimum, ticking)
    assert len(asked) == 1
    assert not regret.complete
    [start, end] = regret.reach
    assert (start.cycle, start.exact, end.exact, end.since) == (0, True, False, 0)
    assert end.cycle == max(posed.outcome.cycles[pod] for pod in posed.own)


def loses_late() -> tuple[int, Viability]:
    """A cluster whose run loses something, with several cycles that place pods."""
    modes: tuple[Viability, ...] = ("classic", "snapshot")
    for seed in range(20, 60):
        for mode in modes:
            posed = posed_of(seed, mode)
            found = compare(posed, clock())
            regret = regret_of(posed, found.optimum, clock())
            if not found.not_comparable and regret.lost_at_cycle and len(posed.own) > 2:
                return seed, mode
    raise AssertionError("none of these runs loses anything")
