"""Affinity between pods: the terms, their domains, and the pods that match there.

Upstream: v1.36 plugins/interpodaffinity.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from scheduler_core.api import LabelSelector
from scheduler_core.cluster.arrays import BoolArray, IntArray
from scheduler_core.cluster.pods import AffinityTerm
from scheduler_core.evidence.domain_pods import DomainPods, domain_pods, selector_text
from scheduler_core.evidence.raw_score import RawScore
from scheduler_core.evidence.requirement import (
    AtNode,
    Requirement,
    domain_text,
    domain_word,
    label_text,
    state_of,
)
from scheduler_core.plugins.inter_pod_affinity import InterPodAffinity
from scheduler_core.plugins.inter_pod_affinity.filtering import FilterState, meets_all
from scheduler_core.plugins.inter_pod_affinity.terms import ExistingTerm, OwnTerm
from scheduler_core.wording import PLUS, say, series, some_of


@dataclass(frozen=True, slots=True, kw_only=True)
class TermInDomain(Requirement):
    """A required term between pods, in the node's domain: None where the node has no such label.

    `pods` are those of the domain that the term is about.
    """

    term: str
    topology_key: str
    domain: str | None
    pods: DomainPods

    @property
    def first_pod(self) -> str:
        """Return one of the pods by name, and how many there are beyond."""
        return some_of([pod for pod, _ in self.pods.some], self.pods.n, 1)

    @property
    def place(self) -> str:
        """Return the domain by name, empty where the node has none."""
        return "" if self.domain is None else domain_text(self.topology_key, self.domain)

    @property
    def has(self) -> str:
        if self.domain is None:
            return label_text(self.topology_key, None)
        found = (
            self.pods.text_in(self.domain)
            if self.pods.n
            else say("pod_affinity.none_of_them", "none of them")
        )
        return say(
            "pod_affinity.domain_with",
            "{topology_key}={domain} with {found}",
            topology_key=self.topology_key,
            domain=self.domain,
            found=found,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PodsNear(TermInDomain):
    """A required affinity term: the node's domain must have a pod that meets all such terms.

    `n_anywhere` counts these pods in all domains; where it is 0 and the pod meets its own terms
    (`is_first`) it may be the first of its kind.
    """

    kind = "podAffinity"
    n_anywhere: int
    is_first: bool

    @property
    def asks(self) -> str:
        return say(
            "pod_affinity.pod_in_domain",
            "a pod with {term} in the same {topology_key}",
            term=self.term,
            topology_key=self.topology_key,
        )

    @property
    def has(self) -> str:
        if self.domain is not None and self.is_first:
            return say(
                "pod_affinity.domain_first",
                "{topology_key}={domain}, and the pod is the first of its kind",
                topology_key=self.topology_key,
                domain=self.domain,
            )
        return super(PodsNear, self).has

    @property
    def sentence(self) -> str:
        if self.met or self.domain is None:
            return say(
                "pod_affinity.wants",
                "wants {asks}, the node has {has}",
                asks=self.asks,
                has=self.has,
            )
        return say(
            "pod_affinity.wants_detail",
            "wants {asks}, {detail}",
            asks=self.asks,
            detail=self.detail,
        )

    @property
    def headline(self) -> str:
        if self.met or self.domain is None:
            return self.sentence
        key = domain_word(self.topology_key)
        if not self.n_anywhere:
            return say(
                "pod_affinity.none_anywhere",
                "needs a pod with {term} in the same {key}; there is none anywhere",
                term=self.term,
                key=key,
            )
        return say(
            "pod_affinity.none_here",
            "needs a pod with {term} in the same {key}; {domain} has none, others have {n:,}",
            term=self.term,
            key=key,
            domain=self.place,
            n=self.n_anywhere,
        )

    @property
    def detail(self) -> str:
        if self.met or self.domain is None:
            return ""
        if not self.n_anywhere:
            return say(
                "pod_affinity.nowhere",
                "there is none in {domain} nor elsewhere",
                domain=self.domain,
            )
        return say(
            "pod_affinity.elsewhere",
            "there is none in {domain}, but {n} elsewhere",
            domain=self.domain,
            n=self.n_anywhere,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PodsApart(TermInDomain):
    """A required anti-affinity term of the pod: no pod of the node's domain may match it."""

    kind = "podAntiAffinity"

    @property
    def asks(self) -> str:
        return say(
            "pod_affinity.no_pod_in_domain",
            "no pod with {term} in the same {topology_key}",
            term=self.term,
            topology_key=self.topology_key,
        )

    @property
    def sentence(self) -> str:
        if self.met:
            return say(
                "pod_affinity.wants",
                "wants {asks}, the node has {has}",
                asks=self.asks,
                has=self.has,
            )
        return say(
            "pod_affinity.wants_but_there",
            "wants {asks}, in {domain} there is {pods}",
            asks=self.asks,
            domain=self.domain,
            pods=self.pods.text_in(self.domain),
        )

    @property
    def headline(self) -> str:
        if self.met:
            return self.sentence
        return say(
            "pod_affinity.apart_from",
            "has anti-affinity to {term}: {domain} already runs {pod}",
            term=self.term,
            domain=self.place,
            pod=self.first_pod,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptOut(TermInDomain):
    """A required anti-affinity term of pods that are there, which matches the pod."""

    kind = "existingAntiAffinity"

    @property
    def asks(self) -> str:
        return say(
            "pod_affinity.nobody_against",
            "nobody against {term} in the same {topology_key}",
            term=self.term,
            topology_key=self.topology_key,
        )

    @property
    def sentence(self) -> str:
        return say(
            "pod_affinity.kept_out",
            "has labels that {pods} keeps out of {topology_key}={domain} "
            "by anti-affinity against {term}",
            pods=self.pods.text_in(self.domain),
            topology_key=self.topology_key,
            domain=self.domain,
            term=self.term,
        )

    @property
    def headline(self) -> str:
        return say(
            "pod_affinity.kept_out_by",
            "is kept out of {domain} by the anti-affinity of {pod} to {term}",
            domain=self.place,
            pod=self.first_pod,
            term=self.term,
        )


AffinityRequirement = PodsNear | PodsApart | KeptOut


def pod_affinity(
    plugin: InterPodAffinity, state: object, at: AtNode
) -> Iterator[AffinityRequirement]:
    """Yield the pod's required terms, then those of others that reject it."""
    prepared = state_of(FilterState, state)
    own, templates = prepared.incoming, at.nodes.cluster.templates
    if own.required_affinity:
        yield from _near(prepared, meets_all(own, templates), at)
    for term in own.required_anti_affinity:
        pods = domain_pods(at, term.topology_key, term.selection.templates(templates))
        yield PodsApart(
            met=not pods.n,
            term=_own_text(term),
            topology_key=term.topology_key,
            domain=at.label(term.topology_key),
            pods=pods,
        )
    for existing in plugin.existing.anti_affinity.about(own):
        yield from _kept_out(existing, at, len(templates))


def _near(state: FilterState, meeting: BoolArray, at: AtNode) -> Iterator[PodsNear]:
    found = [
        domain_pods(at, term.topology_key, meeting) for term in state.incoming.required_affinity
    ]
    n_anywhere = _n_anywhere(state, meeting, at)
    is_first = n_anywhere == 0 and state.incoming.matches_own_affinity
    for term, pods in zip(state.incoming.required_affinity, found, strict=True):
        domain = at.label(term.topology_key)
        yield PodsNear(
            met=domain is not None and (is_first or pods.n > 0),
            term=_own_text(term),
            topology_key=term.topology_key,
            domain=domain,
            pods=pods,
            n_anywhere=n_anywhere,
            is_first=is_first,
        )


def _n_anywhere(state: FilterState, meeting: BoolArray, at: AtNode) -> int:
    """Count the pods that meet all terms, once per term, on nodes that have its label."""
    total = sum(int(counts.sum()) for counts in state.affinity.values())
    labelled = sum(
        at.label(term.topology_key) is not None for term in state.incoming.required_affinity
    )
    for change in at.node.changes:
        for pods, sign in ((change.added, 1), (change.removed, -1)):
            total += sign * labelled * sum(bool(meeting[pod.template.index]) for pod in pods)
    return total


def _kept_out(existing: ExistingTerm, at: AtNode, n_templates: int) -> Iterator[KeptOut]:
    term = existing.term
    pods = domain_pods(at, term.topology_key, existing.weights(n_templates))
    if pods.n > 0:
        yield KeptOut(
            met=False,
            term=_text(term.selector, _names(term)),
            topology_key=term.topology_key,
            domain=at.label(term.topology_key),
            pods=pods,
        )


def _own_text(term: OwnTerm) -> str:
    selection = term.selection
    if term.read_as_any:
        where: str = say(
            "pod_affinity.read_as_any", "any namespace (as its namespaceSelector is read)"
        )
    elif selection.namespaces is None:
        where = say("pod_affinity.any_namespace", "any namespace")
    else:
        where = series(sorted(selection.namespaces))
    return _text(selection.selector, where)


def _names(term: AffinityTerm) -> str:
    return series(sorted(term.namespaces))


def _text(selector: LabelSelector | None, where: str) -> str:
    return (
        say("pod_affinity.pods_of", "{pods} of {where}", pods=selector_text(selector), where=where)
        if where
        else selector_text(selector)
    )


# ---------------------------------------------------------------- scoring


@dataclass(frozen=True, slots=True)
class TermWeight:
    """A term and what it adds: its weight for every pod it counts in the node's domain.

    `whose`: the pod's own preferred term, or one of pods that are there about this pod.
    """

    whose: Literal["pod", "existing"]
    term: str
    topology_key: str
    domain: str | None
    weight: int
    pods: int

    @property
    def points(self) -> int:
        return self.weight * self.pods


@dataclass(frozen=True, slots=True, kw_only=True)
class PodAffinityScore(RawScore):
    """The weights of preferred terms, the pod's own and those of others about it."""

    kind = "podAffinity"
    formula = say(
        "pod_affinity.score_formula",
        "sum over terms of weight * pods in the node's domain, anti-affinity negative",
    )
    terms: tuple[TermWeight, ...]

    @property
    def value(self) -> int:
        return sum(term.points for term in self.terms)

    @property
    def text(self) -> str:
        parts = (
            say(
                "score.points_of",
                "{points} ({what})",
                points=f"{term.weight}*{term.pods}",
                what=series((term.term, label_text(term.topology_key, term.domain))),
            )
            for term in self.terms
        )
        return say("score.sum", "{sum} = {value}", sum=series(parts, PLUS) or 0, value=self.value)


def pod_affinity_score(plugin: InterPodAffinity, at: AtNode) -> PodAffinityScore:
    own, templates = plugin.terms(at.pod), at.nodes.cluster.templates
    found = [
        _weight(
            "existing",
            _text(each.term.selector, _names(each.term)),
            each.term.topology_key,
            each.term.weight,
            each.weights(len(templates)),
            at,
        )
        for each in plugin.existing.scoring.about(own)
    ]
    found += [
        _weight(
            "pod",
            _own_text(term),
            term.topology_key,
            term.weight,
            term.selection.templates(templates).astype(np.int64),
            at,
        )
        for term in own.preferred
    ]
    return PodAffinityScore(terms=tuple(found))


def _weight(
    whose: Literal["pod", "existing"],
    term: str,
    topology_key: str,
    weight: int,
    weights: IntArray,
    at: AtNode,
) -> TermWeight:
    pods = domain_pods(at, topology_key, weights).n
    return TermWeight(whose, term, topology_key, at.label(topology_key), weight, pods)
