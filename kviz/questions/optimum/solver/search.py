"""Finds the best placement: all placements one by one, a program for HiGHS, or a tree of turns.

The objective is lexicographic: for each priority from the highest down the number of pods placed,
then the sum of Viability.
"""

from __future__ import annotations

import numpy as np

from kviz.questions.optimum.solver.best import Best, Counts
from kviz.questions.optimum.solver.clock import Clock
from kviz.questions.optimum.solver.filling import filled
from kviz.questions.optimum.solver.stages import Stages
from scheduler_core.analysis.model import Instance, Placement, RestingWorld, Viability
from scheduler_core.analysis.model.enumeration import enumerate_all, may_enumerate
from scheduler_core.analysis.model.feasibility import feasible, values_of
from scheduler_core.analysis.model.replayed import SearchStopped
from scheduler_core.analysis.model.replayed import search as search_turns
from scheduler_core.cluster.arrays import IntArray
from scheduler_core.wording import say

MAX_REPLAYED = 50_000
"""Possible placements up to which the order of the queue is replayed for every one."""


class TooLarge(ValueError):
    """The instance is too large for the mode; the text says so."""


def best_placement(
    world: RestingWorld,
    instance: Instance,
    mode: Viability,
    like: Placement,
    clock: Clock,
    fixed: Placement | None = None,
    within: Best | None = None,
) -> Best:
    """Find the best placement in which the pods of `fixed` are where they are.

    `like` is the scheduler's own placement: where the search begins, and what ties resemble. It is
    known that nothing is better than `within`, the best with fewer pods fixed.
    Raises Cancelled, and TooLarge.
    """
    fixed = fixed or {}
    if mode == "replayed":
        return _by_turns(world, instance, like, clock, fixed)
    if may_enumerate(instance):
        return _one_by_one(instance, like, clock, fixed)
    return _by_program(instance, like, clock, fixed, within)


# ---------------------------------------------------------------- one by one


def _one_by_one(instance: Instance, like: Placement, clock: Clock, fixed: Placement) -> Best:
    own = instance.counts_of({**like, **fixed})
    seen = enumerate_all(instance, fixed, own, lambda n: clock.report("placements", n, None))
    counts = Counts(instance.n_possible, seen.n_feasible, seen.n_viable)
    if seen.best is None:
        return nothing(instance, counts, proven=True)
    placed = instance.placed(seen.best)
    placement = instance.placement_of(seen.best, {**like, **fixed})
    return Best(placement, placed, seen.value, True, dict(placed), seen.value, counts)


def _as_it_is(instance: Instance, best: IntArray, own: IntArray) -> IntArray:
    """Return the scheduler's own placement if it is feasible and as good, else the best one."""
    both = np.stack([best, own])
    if not feasible(instance, both)[1] or instance.placed(own) != instance.placed(best):
        return best
    values = values_of(instance, both)
    return own if values[1] >= values[0] else best


def nothing(instance: Instance, counts: Counts, *, proven: bool) -> Best:
    """Return that no placement was found; `proven` if none is feasible: where pods are fixed."""
    none = dict.fromkeys(instance.levels, 0)
    most = none if proven else {level: _n_at(instance, level) for level in instance.levels}
    return Best(None, none, 0, proven, dict(most), 0 if proven else None, counts)


# ---------------------------------------------------------------- turn by turn


def _by_turns(
    world: RestingWorld, instance: Instance, like: Placement, clock: Clock, fixed: Placement
) -> Best:
    if instance.n_possible > MAX_REPLAYED:
        raise TooLarge(
            say(
                "optimum.too_many_placements",
                "{n} placements are possible, and the order of the queue is replayed for {most:,} "
                "at most; take another mode",
                n=f"{instance.n_possible:.1e}",
                most=MAX_REPLAYED,
            )
        )

    def progress(n_steps: int) -> None:
        clock.report("placements", n_steps, None)
        if not clock.left_s:
            raise SearchStopped

    found = search_turns(world, instance, fixed, progress)
    n_feasible = enumerate_all(instance, fixed, instance.counts_of(like)).n_feasible
    counts = Counts(instance.n_possible, n_feasible, found.n_viable if found.complete else None)
    if found.placement is None:
        return nothing(instance, counts, proven=found.complete)
    placed = dict(zip(instance.levels, found.key[:-1], strict=True))
    most = {level: _n_at(instance, level) for level in instance.levels}
    return Best(
        found.placement,
        placed,
        found.value,
        found.complete,
        dict(placed) if found.complete else most,
        found.value if found.complete else None,
        counts,
    )


def _n_at(instance: Instance, level: int) -> int:
    return int(instance.sizes[instance.priority == level].sum())


# ---------------------------------------------------------------- a program


def _by_program(
    instance: Instance, like: Placement, clock: Clock, fixed: Placement, within: Best | None
) -> Best:
    counts = Counts(instance.n_possible)
    fixed_counts = instance.counts_of(fixed)
    if (fixed_counts * ~instance.eligible).any():
        return nothing(instance, counts, proven=True)
    stages = Stages(instance, fixed_counts, clock, _begin(instance, like, fixed), within)
    bounds = {level: stages.most_placed(level) for level in instance.levels}
    bound_value = stages.most_valuable()
    if stages.counts is None:
        return nothing(instance, counts, proven=stages.is_infeasible)
    value = int(values_of(instance, stages.counts[np.newaxis])[0])
    own = instance.counts_of({**like, **fixed})
    chosen = _as_it_is(instance, stages.counts, own)
    if chosen is not own and clock.left_s:
        stages.most_alike(value, own)
        chosen = stages.counts
        value = int(values_of(instance, chosen[np.newaxis])[0])
    placed = instance.placed(chosen)
    # What came after a count that was not proven is bounded for that count only.
    open_at = next(
        (i for i, each in enumerate(instance.levels) if bounds[each] > placed[each]), None
    )
    if open_at is not None:
        for level in instance.levels[open_at + 1 :]:
            bounds[level] = _n_at(instance, level)
    proven = open_at is None and bound_value <= value
    return Best(
        instance.placement_of(chosen, {**like, **fixed}),
        placed,
        value,
        proven,
        bounds,
        bound_value if open_at is None else None,
        counts,
    )


def _begin(instance: Instance, like: Placement, fixed: Placement) -> IntArray | None:
    """Return as much of the scheduler's placement as is feasible, None if not even `fixed` is.

    Where small pods first place more, that is where the search begins.
    """
    own = _as_much_as_is_feasible(instance, like, fixed)
    if own is None:
        return None
    begins = [own, filled(instance, own), filled(instance, instance.counts_of(fixed))]
    return max(begins, key=lambda counts: tuple(instance.placed(counts).values()))


def _as_much_as_is_feasible(
    instance: Instance, like: Placement, fixed: Placement
) -> IntArray | None:
    """Add pods in halves: of a half that is not feasible, again the halves."""
    placement = dict(fixed)
    if not _is_feasible(instance, {**like, **fixed}) and not _is_feasible(instance, fixed):
        return None

    def add(pods: list[str]) -> None:
        more = placement | {pod: like[pod] for pod in pods}
        if _is_feasible(instance, more):
            placement.update(more)
        elif len(pods) > 1:
            add(pods[: len(pods) // 2])
            add(pods[len(pods) // 2 :])

    add([pod for pod in like if pod not in fixed])
    return instance.counts_of(placement)


def _is_feasible(instance: Instance, placement: Placement) -> bool:
    return bool(feasible(instance, instance.counts_of(placement)[np.newaxis])[0])
