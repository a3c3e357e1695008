"""Nodes that nothing tells apart, in groups, and what fits on one of them together: patterns.

Which of ten equal nodes a pod is on makes no difference, and a solver that is shown ten nodes tries
all of them. A group of equal nodes is shown as the numbers of its nodes that hold each pattern.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from scheduler_core.analysis.model.instance import Instance
from scheduler_core.analysis.model.rules import Apart, Domains, Near, Rule, Spread
from scheduler_core.cluster.arrays import ABSENT, IntArray

MAX_STEPS: Final = 300_000
"""So many partial patterns are looked at; a cluster with more is solved node by node."""

STEPS_PER_LOOK: Final = 5_000
"""After so many steps the clock is looked at."""

MAX_PATTERNS: Final = 60_000
"""So many patterns all groups may have together."""


@dataclass(frozen=True, eq=False)
class Group:
    """Equal nodes, int64 (n,), and the maximal patterns of one of them, int64 (n_patterns, C).

    Every node holds `fixed` int64 (C,) at least. A pattern is maximal if no other pod would fit.
    """

    nodes: IntArray
    fixed: IntArray
    patterns: IntArray


@dataclass(frozen=True, eq=False)
class Grouped:
    """Groups of nodes, and the instance with one node in place of each group."""

    groups: tuple[Group, ...]
    instance: Instance


Patterns = dict[tuple[bytes, ...], IntArray]
"""The patterns of a node, by what decides them."""


def grouped(
    instance: Instance, fixed: IntArray, patterns: Patterns, has_time: Callable[[], bool]
) -> Grouped | None:
    """Group the nodes, `fixed` (C, N) of each class staying; None if there are too many patterns.

    Rules about a single node (host ports, anti-affinity by host name) are part of the patterns.
    Those that are known already are in `patterns`, and what is found is added, while it `has_time`.
    """
    found: dict[tuple[bytes, ...], list[int]] = {}
    left = [MAX_STEPS]
    instance = replace(instance, free=_room_that_counts(instance))
    for node in range(len(instance.nodes)):
        alone = _alone(instance, fixed, node)
        if alone not in patterns:
            here = _patterns_of(instance, fixed, node, left, has_time)
            if here is None:
                return None
            patterns[alone] = here
        # Room that makes no difference to what fits does not tell nodes apart.
        key = (patterns[alone].tobytes(), *_context(instance, fixed, node))
        found.setdefault(key, []).append(node)
    groups = tuple(
        Group(
            np.array(nodes, np.int64),
            fixed[:, nodes[0]],
            patterns[_alone(instance, fixed, nodes[0])],
        )
        for nodes in found.values()
    )
    n_patterns = sum(len(each.patterns) for each in groups)
    if n_patterns > MAX_PATTERNS or any(not len(each.patterns) for each in groups):
        return None
    return Grouped(groups, _by_group(instance, [int(each.nodes[0]) for each in groups]))


def counting(instance: Instance) -> Instance:
    """Return an instance in which a pod is worth the same on every node: more of them are equal."""
    most = np.where(instance.eligible, instance.values, 0).max(axis=1, keepdims=True, initial=0)
    values = np.broadcast_to(most, instance.values.shape).copy()
    return replace(instance, values=values, wishes=())


# ---------------------------------------------------------------- which nodes are equal


def _room_that_counts(instance: Instance) -> IntArray:
    """Return what nodes have left, int64 (N, R), without what pods cannot use for lack of another.

    Where every pod asks for 2Gi per cpu at the most, a node with 8 cpu needs no more than 16Gi.
    """
    room = instance.free.copy()
    for number in range(len(instance.resources)):
        asking = instance.requests[instance.requests[:, number] > 0]
        for other in range(len(instance.resources)):
            if other != number and asking.size and (asking[:, other] > 0).all():
                share = (asking[:, number] / asking[:, other]).max()
                # A little more than that does no harm.
                most = np.maximum(instance.free[:, other], 0) * share * (1.0 + 1e-9) + 1.0
                room[:, number] = np.minimum(room[:, number], most.astype(np.int64))
    return room


def _alone(instance: Instance, fixed: IntArray, node: int) -> tuple[bytes, ...]:
    """Return what decides which pods fit on a node together."""
    apart = [_is_alone(rule, node) for rule in instance.rules]
    return (
        instance.eligible[:, node].tobytes(),
        instance.free[node].tobytes(),
        fixed[:, node].tobytes(),
        bytes(apart),
    )


def _context(instance: Instance, fixed: IntArray, node: int) -> tuple[bytes, ...]:
    """Return what pods there are worth, and the domains of the node that it shares with others."""
    domains = [
        ABSENT if _is_alone(rule, node) else int(each.of_node[node])
        for rule in instance.rules
        for each in _domains_of(rule)
    ]
    domains += [int(wish.domains.of_node[node]) for wish in instance.wishes]
    return (
        instance.values[:, node].tobytes(),
        fixed[:, node].tobytes(),
        np.array(domains, np.int64).tobytes(),
    )


def _domains_of(rule: Rule) -> Sequence[Domains]:
    match rule:
        case Near():
            return [term.domains for term in rule.terms]
        case Apart() | Spread():
            return [rule.domains]


def _is_alone(rule: Rule, node: int) -> bool:
    """Whether a rule keeps pods apart on this very node, and has no other in the domain."""
    if not isinstance(rule, Apart) or rule.domains.of_node[node] == ABSENT:
        return False
    return int((rule.domains.of_node == rule.domains.of_node[node]).sum()) == 1


def _by_group(instance: Instance, first: list[int]) -> Instance:
    """Return the instance on the first node of each group, without what patterns see to."""

    def of(domains: Domains) -> Domains:
        return Domains(domains.of_node[first], domains.n)

    def rule_of(rule: Rule) -> Rule:
        match rule:
            case Near():
                terms = tuple(replace(term, domains=of(term.domains)) for term in rule.terms)
                return replace(rule, terms=terms)
            case Spread():
                return replace(rule, domains=of(rule.domains))
            case Apart():
                shared = [
                    ABSENT if _is_alone(rule, node) else int(rule.domains.of_node[node])
                    for node in first
                ]
                return replace(rule, domains=Domains(np.array(shared, np.int64), rule.domains.n))

    return replace(
        instance,
        nodes=tuple(instance.nodes[node] for node in first),
        eligible=instance.eligible[:, first],
        free=instance.free[first],
        values=instance.values[:, first],
        rules=tuple(rule_of(rule) for rule in instance.rules),
        wishes=tuple(replace(wish, domains=of(wish.domains)) for wish in instance.wishes),
    )


# ---------------------------------------------------------------- what fits together


def _patterns_of(
    instance: Instance,
    fixed: IntArray,
    node: int,
    left: list[int],
    has_time: Callable[[], bool],
) -> IntArray | None:
    """Return all maximal patterns of a node; None when no time, or no step in `left`, is left."""
    packing = _Packing(instance, fixed, node)
    found: list[list[int]] = []
    for pattern in packing.walk():
        left[0] -= 1
        if left[0] < 0 or (left[0] % STEPS_PER_LOOK == 0 and not has_time()):
            return None
        if pattern is not None:
            found.append(pattern)
    return np.array(found, np.int64).reshape(-1, instance.n_classes)


class _Packing:
    """One node, filled with one class after another, the largest pods first."""

    def __init__(self, instance: Instance, fixed: IntArray, node: int) -> None:
        can_be = instance.eligible[:, node] | (fixed[:, node] > 0)
        free = instance.free[node]
        share = (instance.requests / np.maximum(free, 1)).max(axis=1)
        self._order = [own for own in np.argsort(-share, kind="stable").tolist() if can_be[own]]
        self._requests: list[list[int]] = instance.requests.tolist()
        self._free: list[int] = free.tolist()
        self._least: list[int] = fixed[:, node].tolist()
        self._most: list[int] = instance.sizes.tolist()
        self._apart = [
            rule for rule in instance.rules if isinstance(rule, Apart) and _is_alone(rule, node)
        ]

    def walk(self) -> Iterator[list[int] | None]:
        """Yield a maximal pattern, or None for a step that came to none."""
        return self._fill(0, self._free, [0] * len(self._most))

    def _fill(self, at: int, free: list[int], pattern: list[int]) -> Iterator[list[int] | None]:
        if at == len(self._order):
            yield pattern.copy() if self._is_maximal(free, pattern) else None
            return
        own = self._order[at]
        for n in range(self._room(own, free), self._least[own] - 1, -1):
            pattern[own] = n
            if self._may_be(own, pattern):
                rest = [a - n * b for a, b in zip(free, self._requests[own], strict=True)]
                yield from self._fill(at + 1, rest, pattern)
        pattern[own] = 0

    def _room(self, own: int, free: list[int]) -> int:
        fits = [a // b for a, b in zip(free, self._requests[own], strict=True) if b]
        return min([self._most[own], *fits])

    def _is_maximal(self, free: list[int], pattern: list[int]) -> bool:
        for own in self._order:
            if pattern[own] < self._most[own] and self._room(own, free) > 0:
                pattern[own] += 1
                more = self._may_be(own, pattern)
                pattern[own] -= 1
                if more:
                    return False
        return True

    def _may_be(self, own: int, pattern: list[int]) -> bool:
        """Whether a class that was added breaks no rule about this node."""
        return not pattern[own] or all(_keeps_apart(rule, own, pattern) for rule in self._apart)


def _keeps_apart(rule: Apart, own: int, pattern: list[int]) -> bool:
    if not (rule.owners[own] or rule.meant[own]):
        return True
    there = [each for each, n in enumerate(pattern) if n]
    n_meant = sum(pattern[each] for each in there if rule.meant[each])
    return all(n_meant <= int(rule.meant[each]) for each in there if rule.owners[each])
