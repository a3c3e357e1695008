"""Whether placements are feasible, and what they are worth: many of them at once.

A placement is how many pods of each class are on each node: `counts` int64 (k, C, N), k of them.
Every rule is read in the final context of each pod.
"""

from __future__ import annotations

import numpy as np

from scheduler_core.analysis.model.instance import Instance
from scheduler_core.analysis.model.rules import Apart, Near, Rule, Spread, Wish
from scheduler_core.cluster.arrays import BoolArray, IntArray


def feasible(instance: Instance, counts: IntArray) -> BoolArray:
    """Return which placements satisfy all constraints, bool (k,)."""
    fits: BoolArray = np.logical_not(counts[:, ~instance.eligible].any(axis=1))
    for number in range(len(instance.resources)):
        used = (counts * instance.requests[:, number, None]).sum(axis=1)
        fits &= (used <= instance.free[:, number]).all(axis=1)
    for rule in instance.rules:
        fits &= _satisfied(rule, counts)
    return fits


def values_of(instance: Instance, counts: IntArray) -> IntArray:
    """Return the sum of Viability of each placement, int64 (k,)."""
    total: IntArray = (counts * instance.values).sum(axis=(1, 2))
    for wish in instance.wishes:
        total = total + wish.weight * _granted(wish, counts)
    return total


def _satisfied(rule: Rule, counts: IntArray) -> BoolArray:
    match rule:
        case Apart():
            return _apart(rule, counts)
        case Near():
            return _near(rule, counts)
        case Spread():
            return _spread(rule, counts)


def _everywhere(kept: BoolArray) -> BoolArray:
    """Return which placements keep a rule in all domains, bool (k,); `kept` is bool (k, n)."""
    everywhere: BoolArray = np.logical_and.reduce(kept, axis=1)
    return everywhere


def _apart(rule: Apart, counts: IntArray) -> BoolArray:
    """Both owner and meant: one of them, and nobody else; owners and others that are meant: not."""
    both = rule.domains.sums(counts[:, rule.owners & rule.meant].sum(axis=1))
    owning = rule.domains.sums(counts[:, rule.owners & ~rule.meant].sum(axis=1))
    others = rule.domains.sums(counts[:, rule.meant & ~rule.owners].sum(axis=1))
    return _everywhere(both + (owning > 0) + (others > 0) <= 1)


def _near(rule: Near, counts: IntArray) -> BoolArray:
    meant = counts[:, rule.meant].sum(axis=1)
    labelled = np.any([term.domains.of_node >= 0 for term in rule.terms], axis=0)
    # The first of its kind may be alone, if nobody else that is meant is anywhere.
    first = (meant[:, labelled].sum(axis=1) <= 1) & (rule.n_existing == 0)
    satisfied = np.ones(counts.shape[0], np.bool_)
    for own in np.flatnonzero(rule.owners):
        needed = 2 if rule.meant[own] else 1
        may_be_first = first & bool(rule.meant[own])
        for term in rule.terms:
            here = term.domains.sums(counts[:, own]) > 0
            near = term.domains.sums(meant) >= needed
            kept = ~here | near | (term.existing > 0)
            satisfied &= kept.all(axis=1) | may_be_first
    return satisfied


def _spread(rule: Spread, counts: IntArray) -> BoolArray:
    here = rule.domains.sums(counts[:, rule.owners].sum(axis=1)) > 0
    total = rule.domains.sums(counts[:, rule.counted].sum(axis=1)) + rule.existing
    if rule.from_zero or not rule.present.any():
        lowest = np.zeros((counts.shape[0], 1), np.int64)
    else:
        lowest = total[:, rule.present].min(axis=1, keepdims=True)
    return _everywhere(~here | (total - lowest <= rule.max_skew))


def _granted(wish: Wish, counts: IntArray) -> IntArray:
    """Return how many pods have another one that they wish for, or wish away, int64 (k,)."""
    meant = wish.domains.sums(counts[:, wish.meant].sum(axis=1))
    granted: IntArray = np.zeros(counts.shape[0], np.int64)
    for own in np.flatnonzero(wish.owners):
        here = wish.domains.sums(counts[:, own])
        others = meant - int(wish.meant[own])
        met = (here > 0) & ((others > 0) | (wish.existing > 0))
        granted = granted + int(wish.owners[own]) * (here * met).sum(axis=1)
    return granted
