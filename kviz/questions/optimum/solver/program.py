"""An instance as a mixed-integer program: one integer per class of equal pods and node.

In addition to the counts `x[c, n]` there are binaries where a rule needs whether a domain has a
pod. Every row is exact: a placement is feasible in the program if and only if it is in the
instance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from kviz.questions.optimum.solver.patterns import Group, Patterns, grouped
from scheduler_core.analysis.model.instance import Instance
from scheduler_core.analysis.model.rules import Apart, Near, Rule, Spread, Wish
from scheduler_core.cluster.arrays import ABSENT, IntArray

Terms = list[tuple[int, float]]
"""Variables with their coefficients."""


@dataclass
class Program:
    """Variables with bounds and costs, and rows `lower <= sum of terms <= upper`.

    `x` int64 (C, N) are the numbers of the counts, -1 for pairs that cannot be.
    """

    x: IntArray
    upper: list[float] = field(default_factory=list)
    lower: list[float] = field(default_factory=list)
    is_integer: list[bool] = field(default_factory=list)
    worth: list[float] = field(default_factory=list)
    rows: list[tuple[float, float, Terms]] = field(default_factory=list)

    @property
    def n_variables(self) -> int:
        return len(self.upper)

    def variable(self, upper: float, *, whole: bool = True, worth: float = 0.0) -> int:
        """Add a variable from 0 up to `upper`; return its number."""
        self.lower.append(0.0)
        self.upper.append(upper)
        self.is_integer.append(whole)
        self.worth.append(worth)
        return self.n_variables - 1

    def at_most(self, terms: Terms, upper: float) -> None:
        if terms:
            self.rows.append((-np.inf, upper, terms))

    def at_least(self, terms: Terms, lower: float) -> None:
        self.rows.append((lower, np.inf, terms))

    def counts_in(self, classes: Iterable[int], nodes: IntArray) -> list[int]:
        """Return the counts of some classes on some nodes, those that cannot be left out."""
        numbers = self.x[np.array(list(classes), np.int64)][:, nodes].ravel()
        found: list[int] = numbers[numbers >= 0].tolist()
        return found

    def most(self, variables: Iterable[int]) -> float:
        """Return what some variables can add up to."""
        return sum(self.upper[each] for each in variables)

    def indicator(self, variables: Iterable[int]) -> int:
        """Add a binary that must be 1 where any of some counts is above 0."""
        there = self.variable(1.0)
        for each in variables:
            self.at_most([(each, 1.0), (there, -self.upper[each])], 0.0)
        return there

    def ceiling(self, worth: npt.NDArray[np.float64], sizes: IntArray) -> int:
        """Return what nobody can exceed, by a look at each class alone; `sizes` int64 (C,)."""
        other = np.ones(self.n_variables, np.bool_)
        total = 0.0
        for own, size in enumerate(sizes.tolist()):
            at = self.x[own][self.x[own] >= 0]
            other[at] = False
            best_first = at[np.argsort(-worth[at], kind="stable")]
            room = np.array(self.upper)[best_first]
            before = np.concatenate([[0.0], np.cumsum(room)[:-1]]) if at.size else room
            taken = np.clip(size - before, 0.0, room)
            total += float((taken * np.maximum(worth[best_first], 0.0)).sum())
        total += float((np.maximum(worth, 0.0) * np.array(self.upper))[other].sum())
        return math.floor(total + 1e-6)

    def values_of(self, counts: IntArray) -> tuple[IntArray, IntArray]:
        """Return the numbers of the counts, and their values in a placement (C, N)."""
        known = self.x >= 0
        return self.x[known], counts[known]

    def counts_of(self, values: IntArray) -> IntArray:
        """Return the placement (C, N) that a solution holds."""
        counts: IntArray = np.where(self.x >= 0, values[self.x], 0)
        return counts


@dataclass
class ProgramOfGroups(Program):
    """A program about groups of equal nodes, in place of single ones; `x` int64 (C, groups).

    `y` holds, for each group, the numbers of the variables that say how many of its nodes have each
    pattern. A count is no higher than these patterns allow.
    """

    groups: tuple[Group, ...] = ()
    n_nodes: int = 0
    y: list[IntArray] = field(default_factory=list)

    def values_of(self, counts: IntArray) -> tuple[IntArray, IntArray]:
        here = np.array([counts[:, group.nodes].sum(axis=1) for group in self.groups]).T
        known = self.x >= 0
        numbers, values = [self.x[known]], [here[known]]
        for group, y in zip(self.groups, self.y, strict=True):
            fits = (group.patterns[:, np.newaxis] >= counts[:, group.nodes].T).all(axis=2)
            numbers.append(y)
            values.append(np.bincount(fits.argmax(axis=0), minlength=y.size))
        return np.concatenate(numbers), np.concatenate(values)

    def counts_of(self, values: IntArray) -> IntArray:
        counts: IntArray = np.zeros((self.x.shape[0], self.n_nodes), np.int64)
        for number, (group, y) in enumerate(zip(self.groups, self.y, strict=True)):
            at = self.x[:, number]
            left = np.where(at >= 0, values[at], 0) - group.fixed * group.nodes.size
            chosen = np.repeat(np.arange(y.size), values[y])
            for node, pattern in zip(group.nodes.tolist(), chosen.tolist(), strict=True):
                taken = np.minimum(group.patterns[pattern] - group.fixed, left)
                left -= taken
                counts[:, node] = group.fixed + taken
        return counts


def program_of(instance: Instance, fixed: IntArray) -> Program:
    """Write an instance down, at least `fixed` (C, N) of each class being on each node."""
    program = Program(np.full((instance.n_classes, len(instance.nodes)), ABSENT, np.int64))
    _add_counts(program, instance, fixed, np.ones(len(instance.nodes), np.int64))
    _add_room(program, instance)
    _add_what_pods_ask(program, instance)
    return program


def program_of_groups(
    instance: Instance,
    fixed: IntArray,
    patterns: Patterns,
    has_time: Callable[[], bool] = lambda: True,
) -> ProgramOfGroups | None:
    """Write the same down about groups of equal nodes; None where patterns are too many.

    `patterns` are those that are known, and get those that are found while it `has_time`.
    """
    found = grouped(instance, fixed, patterns, has_time)
    if found is None:
        return None
    sizes = np.array([group.nodes.size for group in found.groups], np.int64)
    program = ProgramOfGroups(
        np.full((instance.n_classes, sizes.size), ABSENT, np.int64),
        groups=found.groups,
        n_nodes=len(instance.nodes),
    )
    fixed_there = np.array([group.fixed for group in found.groups]).T * sizes
    _add_counts(program, found.instance, fixed_there, sizes)
    for number, group in enumerate(found.groups):
        _add_patterns(program, number, group)
    _add_what_pods_ask(program, found.instance)
    return program


def _add_what_pods_ask(program: Program, instance: Instance) -> None:
    for rule in instance.rules:
        _add_rule(program, rule)
    for wish in instance.wishes:
        _add_wish(program, wish)


def _add_patterns(program: ProgramOfGroups, number: int, group: Group) -> None:
    n_nodes = float(group.nodes.size)
    y = np.array([program.variable(n_nodes) for _ in group.patterns], np.int64)
    program.y.append(y)
    program.rows.append((n_nodes, n_nodes, [(each, 1.0) for each in y.tolist()]))
    for own in np.flatnonzero(program.x[:, number] >= 0).tolist():
        having = np.flatnonzero(group.patterns[:, own])
        terms: Terms = [(int(program.x[own, number]), 1.0)]
        terms += [(int(y[each]), -float(group.patterns[each, own])) for each in having.tolist()]
        program.at_most(terms, 0.0)


def _add_counts(program: Program, instance: Instance, fixed: IntArray, n_nodes: IntArray) -> None:
    """Add the counts; each node of the instance stands for some, `n_nodes` int64 (N,)."""
    for own in range(instance.n_classes):
        most = np.where(instance.eligible[own], instance.sizes[own], 0)
        for number in np.flatnonzero(instance.requests[own]):
            most = np.minimum(most, instance.free[:, number] // instance.requests[own, number])
        most = np.minimum(most * n_nodes, instance.sizes[own])
        for node in np.flatnonzero(most).tolist():
            worth = float(instance.values[own, node])
            program.x[own, node] = program.variable(float(most[node]), worth=worth)
            program.lower[-1] = float(fixed[own, node])
        everywhere = program.counts_in([own], np.arange(len(instance.nodes)))
        program.at_most([(each, 1.0) for each in everywhere], float(instance.sizes[own]))


def _add_room(program: Program, instance: Instance) -> None:
    for node in range(len(instance.nodes)):
        here = program.x[:, node]
        for number in range(len(instance.resources)):
            terms = [
                (int(here[own]), float(instance.requests[own, number]))
                for own in np.flatnonzero(here >= 0)
                if instance.requests[own, number]
            ]
            free = float(instance.free[node, number])
            if sum(program.upper[each] * amount for each, amount in terms) > free:
                # In the largest unit that divides all requests numbers are small, and rows tight.
                unit = math.gcd(*(int(amount) for _, amount in terms))
                program.at_most([(each, amount / unit) for each, amount in terms], free // unit)


# ---------------------------------------------------------------- rules between pods


def _add_rule(program: Program, rule: Rule) -> None:
    match rule:
        case Apart():
            _add_apart(program, rule)
        case Near():
            _add_near(program, rule)
        case Spread():
            _add_spread(program, rule)


def _add_apart(program: Program, rule: Apart) -> None:
    """A pod that is both owner and target excludes all; other owners and targets: each other."""
    for domain in range(rule.domains.n):
        nodes = rule.domains.nodes_of(domain)
        both = program.counts_in(np.flatnonzero(rule.owners & rule.meant), nodes)
        owning = program.counts_in(np.flatnonzero(rule.owners & ~rule.meant), nodes)
        others = program.counts_in(np.flatnonzero(rule.meant & ~rule.owners), nodes)
        terms: Terms = [(each, 1.0) for each in both]
        terms += [(program.indicator(group), 1.0) for group in (owning, others) if group]
        if len(terms) > 1 or program.most(both) > 1:
            program.at_most(terms, 1.0)


def _add_near(program: Program, rule: Near) -> None:
    meant = np.flatnonzero(rule.meant)
    may_be_first = bool((rule.owners & rule.meant).any()) and rule.n_existing == 0
    first = program.variable(1.0) if may_be_first else None
    if first is not None:
        labelled = np.flatnonzero(np.any([t.domains.of_node >= 0 for t in rule.terms], axis=0))
        anywhere = program.counts_in(meant, labelled)
        spare = program.most(anywhere)
        program.at_most([*((each, 1.0) for each in anywhere), (first, spare)], 1.0 + spare)
    for own in np.flatnonzero(rule.owners).tolist():
        needed = 2.0 if rule.meant[own] else 1.0
        for term in rule.terms:
            for domain in np.flatnonzero(term.existing == 0).tolist():
                nodes = term.domains.nodes_of(domain)
                mine = program.counts_in([own], nodes)
                if not mine:
                    continue
                near: Terms = [(each, 1.0) for each in program.counts_in(meant, nodes)]
                near.append((program.indicator(mine), -needed))
                if first is not None and rule.meant[own]:
                    near.append((first, 1.0))
                program.at_least(near, 0.0)


def _add_spread(program: Program, rule: Spread) -> None:
    counted, owners = np.flatnonzero(rule.counted), np.flatnonzero(rule.owners)
    in_domain = [
        program.counts_in(counted, rule.domains.nodes_of(domain))
        for domain in range(rule.domains.n)
    ]
    highest = max(
        (
            program.most(each) + float(there)
            for each, there in zip(in_domain, rule.existing, strict=True)
        ),
        default=0.0,
    )
    lowest = program.variable(0.0 if rule.from_zero else highest, whole=False)
    if not rule.from_zero:
        for domain in np.flatnonzero(rule.present).tolist():
            terms: Terms = [(lowest, 1.0), *((each, -1.0) for each in in_domain[domain])]
            program.at_most(terms, float(rule.existing[domain]))
    for domain in range(rule.domains.n):
        mine = program.counts_in(owners, rule.domains.nodes_of(domain))
        if not mine:
            continue
        above: Terms = [(each, 1.0) for each in in_domain[domain]]
        above.append((lowest, -1.0))
        room = float(rule.max_skew - rule.existing[domain])
        if not _holds_without(rule, domain):
            above.append((program.indicator(mine), highest))
            room += highest
        program.at_most(above, room)


def _holds_without(rule: Spread, domain: int) -> bool:
    """Whether a domain without owners keeps the rule by itself: then nobody need ask for them."""
    if (rule.counted & ~rule.owners).any():
        return False
    at_least = 0
    if not rule.from_zero and rule.present.any():
        at_least = int(rule.existing[rule.present].min())
    return int(rule.existing[domain]) - at_least <= rule.max_skew


# ---------------------------------------------------------------- preferred affinity


def _add_wish(program: Program, wish: Wish) -> None:
    for own in np.flatnonzero(wish.owners).tolist():
        worth = float(wish.weight * wish.owners[own])
        needed = 2.0 if wish.meant[own] else 1.0
        for domain in range(wish.domains.n):
            nodes = wish.domains.nodes_of(domain)
            mine = program.counts_in([own], nodes)
            if wish.existing[domain]:
                for each in mine:
                    program.worth[each] += worth
            elif mine:
                meant = program.counts_in(np.flatnonzero(wish.meant), nodes)
                _add_granted(program, mine, meant, needed, worth)


def _add_granted(
    program: Program, mine: list[int], meant: list[int], needed: float, worth: float
) -> None:
    """Add how many pods have their wish: all of `mine`, if `needed` of `meant` are there."""
    most = program.most(mine)
    granted = program.variable(most, whole=False, worth=worth)
    met = program.variable(1.0)
    if worth > 0:
        program.at_most([(granted, 1.0), *((each, -1.0) for each in mine)], 0.0)
        program.at_most([(granted, 1.0), (met, -most)], 0.0)
        program.at_least([*((each, 1.0) for each in meant), (met, -needed)], 0.0)
    else:
        terms: Terms = [(granted, 1.0), *((each, -1.0) for each in mine), (met, -most)]
        program.at_least(terms, -most)
        spare = program.most(meant)
        program.at_most([*((each, 1.0) for each in meant), (met, -spare)], needed - 1.0)
