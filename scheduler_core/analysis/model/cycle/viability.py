"""Viability of the feasible nodes: the classic sum of weights, the scheduler's of scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.domains import sum_by_domain
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.config.types import NodeAffinityArgs
from scheduler_core.evidence.domain_pods import selector_text
from scheduler_core.evidence.node_labels import preferred_node_terms
from scheduler_core.evidence.requirement import AtNode, label_text
from scheduler_core.plugins.inter_pod_affinity.terms import OwnTerm, incoming
from scheduler_core.plugins.node_affinity import NodeAffinity
from scheduler_core.sim.reenactment import ReenactedCycle
from scheduler_core.wording import say

MAX_RATED: Final = 20
"""So many nodes have their terms and scores written out."""


@dataclass(frozen=True, slots=True)
class ClassicTerm:
    """A preferred term: its weight counts, negative for anti-affinity, where it matches."""

    text: str
    weight: int
    matches: bool


@dataclass(frozen=True, slots=True)
class ScoreTerm:
    """A score plugin of the scheduler: `points` are `normalized` times `weight`."""

    plugin: str
    raw: int
    normalized: int
    weight: int
    points: int


@dataclass(frozen=True, slots=True)
class RatedNode:
    """A feasible node by both measures."""

    node: str
    classic: int
    total: int
    chosen: bool
    terms: tuple[ClassicTerm, ...]
    scores: tuple[ScoreTerm, ...]


@dataclass(frozen=True, slots=True)
class Viability:
    """The best of `n_rated` nodes written out, best total first; `totals` are of all.

    `classic_best` are the nodes with the highest classic sum of all, `runner_up` is the highest
    total below the best, None where all are equal.
    """

    n_rated: int
    nodes: tuple[RatedNode, ...]
    best: int
    runner_up: int | None
    classic_best_sum: int
    classic_best: tuple[str, ...]
    totals: dict[str, int]


def viability(cycle: ReenactedCycle, asked: str, chosen: str) -> Viability | None:
    """Rate the feasible nodes; None where the scheduler did not."""
    decision = cycle.decision
    filtering, scoring = decision.filtering, decision.scoring
    if filtering is None or scoring is None or scoring.error:
        return None
    nodes, totals = filtering.feasible, scoring.totals
    sums = classic_sums(cycle, nodes)
    names = nodes.names
    order = np.argsort(-totals, kind="stable").tolist()
    first = [i for i in range(len(names)) if names[i] in (chosen, asked)]
    first.sort(key=lambda i: names[i] != chosen)
    shown = list(dict.fromkeys([*first, *order]))[:MAX_RATED]
    shown.sort(key=lambda i: (-int(totals[i]), names[i] != chosen))
    best = int(totals.max())
    lower = totals[totals < best]
    return Viability(
        n_rated=nodes.n,
        nodes=tuple(
            _rated(cycle, nodes, i, int(sums[i]), int(totals[i]), names[i] == chosen) for i in shown
        ),
        best=best,
        runner_up=int(lower.max()) if lower.size else None,
        classic_best_sum=int(sums.max()),
        classic_best=tuple(names[i] for i in np.flatnonzero(sums == sums.max()).tolist()),
        totals=dict(zip(names, totals.tolist(), strict=True)),
    )


def classic_sums(cycle: ReenactedCycle, nodes: Nodes) -> IntArray:
    """Return the classic Viability of some nodes, int64 (n,)."""
    pod = cycle.decision.pod
    sums = NodeAffinity(NodeAffinityArgs(), cycle.handle).score(None, pod, nodes)
    found: IntArray = np.array(sums, np.int64)
    for term in _pod_terms(cycle):
        found += np.where(_matching(cycle, term, nodes), term.weight, 0)
    return found


def _pod_terms(cycle: ReenactedCycle) -> Sequence[OwnTerm]:
    apart = cycle.handle.features.switches.unlabelled_namespaces_apart
    return incoming(cycle.decision.pod.template, cycle.handle.objects, apart=apart).preferred


def _matching(cycle: ReenactedCycle, term: OwnTerm, nodes: Nodes) -> BoolArray:
    """Return on which nodes some pod of the domain is meant by a term, bool (n,)."""
    everywhere = cycle.nodes
    column = everywhere.label(term.topology_key)
    counts = everywhere.count_pods(term.selection.templates(cycle.handle.cluster.templates))
    there = np.append(sum_by_domain(column.ids, counts, len(column.values)), 0)
    ids = nodes.label(term.topology_key).ids
    return np.array(there[ids] > 0) & (ids >= 0)


def _rated(
    cycle: ReenactedCycle, nodes: Nodes, at: int, classic: int, total: int, chosen: bool
) -> RatedNode:
    view = nodes.slice(at, at + 1)
    found = cycle.evidence.node(nodes.name(at))
    scores = tuple(
        ScoreTerm(each.plugin, each.raw.value, each.normalized.value, each.weight, each.weighted)
        for each in found.scores
    )
    return RatedNode(nodes.name(at), classic, total, chosen, _terms(cycle, view), scores)


def _terms(cycle: ReenactedCycle, view: Nodes) -> tuple[ClassicTerm, ...]:
    at = AtNode(cycle.decision.pod, view, cycle.nodes, cycle.handle.objects)
    plugin = NodeAffinity(NodeAffinityArgs(), cycle.handle)
    found = [
        ClassicTerm(each.term.asks, each.weight, each.term.met)
        for each in preferred_node_terms(plugin, at).terms
    ]
    for term in _pod_terms(cycle):
        where = label_text(term.topology_key, at.label(term.topology_key))
        text = say(
            "model.pod_with_labels",
            "a pod with {labels} in {where}",
            labels=selector_text(term.selection.selector),
            where=where,
        )
        matches = bool(_matching(cycle, term, view)[0])
        found.append(ClassicTerm(text, term.weight, matches))
    return tuple(found)
