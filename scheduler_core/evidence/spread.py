"""Topology spread constraints: domains, their counts, the skew and who makes it.

Upstream: v1.36 plugins/podtopologyspread.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np

from scheduler_core.cluster.arrays import ABSENT
from scheduler_core.cluster.nodes import Nodes
from scheduler_core.evidence.domain_pods import DomainPods, domain_pods, selector_text
from scheduler_core.evidence.raw_score import RawScore
from scheduler_core.evidence.requirement import (
    MAX_NAMED,
    AtNode,
    Requirement,
    domain_word,
    label_text,
    state_of,
)
from scheduler_core.framework.interface import Scores
from scheduler_core.plugins.pod_topology_spread import PodTopologySpread
from scheduler_core.plugins.pod_topology_spread.filtering import (
    DomainCounts,
    FilterState,
    added_to_domains,
    matching_pods,
)
from scheduler_core.plugins.pod_topology_spread.scoring import (
    NOTHING_SCORED,
    ConstraintScore,
    ScoreState,
)
from scheduler_core.wording import PLUS, say, series

MAX_DOMAINS: Final = 20
"""So many domains are listed with their counts, the emptiest first."""


@dataclass(frozen=True, slots=True)
class DomainCount:
    domain: str
    pods: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadKept(Requirement):
    """A hard spread constraint: `skew = count + self_match - minimum` must not exceed `max_skew`.

    `domain` is the node's, None where it lacks the label. `domains` are the counted ones, the
    emptiest first, `n_domains` how many there are; with fewer than `min_domains` the minimum is 0.
    `pods` are those of the node's domain.
    """

    kind = "topologySpread"
    topology_key: str
    selector: str
    max_skew: int
    min_domains: int
    domain: str | None
    count: int
    self_match: int
    minimum: int
    n_domains: int
    domains: tuple[DomainCount, ...]
    pods: DomainPods

    @property
    def skew(self) -> int:
        return self.count + self.self_match - self.minimum

    @property
    def asks(self) -> str:
        return say(
            "spread.skew_at_most",
            "skew of at most {max_skew} over {topology_key} ({selector})",
            max_skew=self.max_skew,
            topology_key=self.topology_key,
            selector=self.selector,
        )

    @property
    def has(self) -> str:
        if self.domain is None:
            return label_text(self.topology_key, None)
        return say(
            "spread.domain_skew",
            "{topology_key}={domain} with {count} matching: skew {skew}",
            topology_key=self.topology_key,
            domain=self.domain,
            count=self.count,
            skew=self.skew,
        )

    @property
    def sentence(self) -> str:
        if self.domain is None:
            return say(
                "spread.lacks_label",
                "is spread over {topology_key}, the node has no such label",
                topology_key=self.topology_key,
            )
        return say(
            "spread.skewed",
            "spreads over {topology_key} with a skew of at most {max_skew}: {detail}",
            topology_key=self.topology_key,
            max_skew=self.max_skew,
            detail=self.detail,
        )

    @property
    def headline(self) -> str:
        if self.met or self.domain is None:
            return self.sentence
        return say(
            "spread.would_have",
            "allows a skew of {max_skew} over {key}; {domain} would have {count}, {emptiest}",
            max_skew=self.max_skew,
            key=domain_word(self.topology_key),
            domain=self.domain,
            count=self.count + self.self_match,
            emptiest=self._emptiest,
        )

    @property
    def detail(self) -> str:
        if self.domain is None:
            return ""
        own = (
            say("spread.one_more", "1 more")
            if self.self_match
            else say("spread.none_more", "none more, as it does not match itself")
        )
        text = say(
            "spread.would_get",
            "{domain} has {count} matching and would get {own}, {emptiest}: skew {skew}",
            domain=self.domain,
            count=self.count,
            own=own,
            emptiest=self._emptiest,
            skew=self.skew,
        )
        return (
            say(
                "spread.there",
                "{count}; there: {pods}",
                count=text,
                pods=self.pods.text_in(self.domain),
            )
            if not self.met and self.pods.some
            else text
        )

    @property
    def _emptiest(self) -> str:
        if self.n_domains < self.min_domains:
            return say(
                "spread.minimum_zero",
                "the minimum counts as 0, as there are {n_domains} of {min_domains} domains",
                n_domains=self.n_domains,
                min_domains=self.min_domains,
            )
        names = [each.domain for each in self.domains if each.pods == self.minimum]
        if not names:
            return say("spread.minimum", "the minimum is {minimum}", minimum=self.minimum)
        shown = series(names[:MAX_NAMED])
        return say(
            "spread.emptiest",
            "the emptiest ({shown}) has {minimum}",
            shown=shown,
            minimum=self.minimum,
        )


def spread_kept(plugin: PodTopologySpread, state: object, at: AtNode) -> Iterator[SpreadKept]:
    """Yield the pod's hard constraints, in its order."""
    prepared = state_of(FilterState, state)
    added = added_to_domains(
        prepared, at.pod.pod, at.node, comparison_operators=plugin.comparison_operators
    )
    for domains, n_added in zip(prepared.domains, added, strict=True):
        yield _kept(domains, n_added, at)


def _kept(domains: DomainCounts, n_added: int, at: AtNode) -> SpreadKept:
    constraint = domains.constraint
    key = constraint.topology_key
    own = int(at.node.label(key).ids[0])
    count = int(domains.counts[own]) + n_added if own != ABSENT else 0
    minimum = domains.minimum_if(own, count) if n_added else domains.global_minimum
    met = own != ABSENT and count + domains.self_match - minimum <= constraint.max_skew
    templates = constraint.selection.templates(at.nodes.cluster.templates)
    return SpreadKept(
        met=met,
        topology_key=key,
        selector=selector_text(constraint.selection.selector),
        max_skew=constraint.max_skew,
        min_domains=constraint.min_domains,
        domain=at.label(key),
        count=count,
        self_match=domains.self_match,
        minimum=minimum,
        n_domains=int(domains.present.sum()),
        domains=_emptiest_first(domains, at),
        pods=domain_pods(at, key, templates, terminating=False),
    )


def _emptiest_first(domains: DomainCounts, at: AtNode) -> tuple[DomainCount, ...]:
    values = at.nodes.label(domains.constraint.topology_key).values
    present = np.flatnonzero(domains.present)
    order = present[np.argsort(domains.counts[present], kind="stable")][:MAX_DOMAINS]
    return tuple(DomainCount(values[i], int(domains.counts[i])) for i in order.tolist())


# ---------------------------------------------------------------- scoring


@dataclass(frozen=True, slots=True)
class SpreadCredit:
    """What a soft constraint adds: `pods * weight + max_skew - 1`; nothing without the label.

    `weight` is `ln(number of domains + 2)`.
    """

    topology_key: str
    selector: str
    domain: str | None
    pods: int
    weight: float
    max_skew: int

    @property
    def points(self) -> float:
        return 0.0 if self.domain is None else self.pods * self.weight + (self.max_skew - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SpreadScore(RawScore):
    """Soft spread constraints: the weighted number of matching pods around the node.

    `ignored`: the node lacks the label of a constraint and is not scored.
    """

    kind = "topologySpread"
    formula = say(
        "spread.score_formula",
        "round(sum over constraints of pods in the domain * ln(domains + 2) + maxSkew - 1)",
    )
    constraints: tuple[SpreadCredit, ...]
    ignored: bool

    @property
    def value(self) -> int:
        total = 0.0
        for each in self.constraints:
            total += each.points
        total = 0.0 if self.ignored else total
        whole = int(total)
        return whole + (total - whole >= 0.5)

    @property
    def text(self) -> str:
        if self.ignored:
            return say("score.zero_without_label", "0, as the node lacks the label of a constraint")
        parts = (
            f"{each.pods}*{each.weight:.3f} + {each.max_skew} - 1 ({each.domain})"
            if each.domain is not None
            else say("fit_score.zero_without", "0 (no {resource})", resource=each.topology_key)
            for each in self.constraints
        )
        total = say("spread.round", "round({sum})", sum=series(parts, PLUS))
        return say("score.sum", "{sum} = {value}", sum=total, value=self.value)


def spread_score(plugin: PodTopologySpread, state: object, at: AtNode) -> SpreadScore:
    prepared = state_of(ScoreState, state)
    return SpreadScore(
        constraints=tuple(_credit(plugin, each, at) for each in prepared.constraints),
        ignored=bool(prepared.ignored(at.node)[0]),
    )


def scored_range(state: object, feasible: Nodes, raw: Scores) -> tuple[int, int]:
    """Return the lowest and highest raw score (n,) of the feasible nodes that are scored."""
    scored = raw[~state_of(ScoreState, state).ignored(feasible)]
    return int(scored.min(initial=NOTHING_SCORED)), int(scored.max(initial=0))


def _credit(plugin: PodTopologySpread, each: ConstraintScore, at: AtNode) -> SpreadCredit:
    constraint = each.constraint
    own = int(at.node.label(constraint.topology_key).ids[0])
    pods = 0
    if own != ABSENT:
        pods = int(
            matching_pods(constraint, at.node, plugin.row_sums())[0]
            if each.counts is None
            else each.counts[own]
        )
    return SpreadCredit(
        topology_key=constraint.topology_key,
        selector=selector_text(constraint.selection.selector),
        domain=at.label(constraint.topology_key),
        pods=pods,
        weight=each.weight,
        max_skew=constraint.max_skew,
    )
